-- Prints the bytes of each command, and of the packet with which its result begins.

local function dump(title, bytes)
    local shown = bytes:sub(1, 64)
    local hex = shown:gsub(".", function(byte) return ("%02x "):format(byte:byte()) end)
    local text = shown:gsub("[^%w%p ]", ".")
    print(("%s, %d bytes: %s|%s|"):format(title, #bytes, hex, text))
end

function read_query(packet)
    dump("command", packet)
    proxy.queries:append(1, packet, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    dump("result", inj.resultset.raw)
end
