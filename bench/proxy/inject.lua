-- Sends every command as an injected one, keeps its result, and looks at it.
local KEPT = { resultset_is_needed = true }

function read_query(packet)
    proxy.queries:append(1, packet, KEPT)
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(result)
    local _ = result.resultset.query_status
end
