-- Sends a statement of its own before and after each SELECT. The client sees only the result of its own statement.

-- Numbers of the commands that this script sends.
local BEFORE, QUERY, AFTER = 1, 2, 3

local CLOCK = string.char(proxy.COM_QUERY) .. "SELECT NOW(6)"

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY or not packet:sub(2):lower():find("^%s*select%s") then
        return nil
    end
    -- What this script reads and the client must not see has to be kept.
    proxy.queries:append(BEFORE, CLOCK, { resultset_is_needed = true })
    proxy.queries:append(QUERY, packet)
    proxy.queries:append(AFTER, CLOCK, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    if inj.id == QUERY then
        return nil
    end
    for row in inj.resultset.rows do
        print((inj.id == BEFORE and "before: " or "after: ") .. row[1])
    end
    return proxy.PROXY_IGNORE_RESULT
end
