-- Sends another statement than the client's: words of a shell, and a keyword that is often mistyped.

local SHELL = { ls = "SHOW TABLES", who = "SHOW PROCESSLIST", date = "SELECT NOW()", whoami = "SELECT CURRENT_USER()" }

local function rewritten(query)
    local word = query:match("^%s*(%a+)%s*;?%s*$")
    if word and SHELL[word:lower()] then
        return SHELL[word:lower()]
    end
    local rest = query:match("^%s*[Ss][Ll][Ee]?[Cc][Tt](%s.*)$")
    return rest and "SELECT" .. rest
end

function read_query(packet)
    local query = packet:byte() == proxy.COM_QUERY and rewritten(packet:sub(2))
    if not query then
        return nil
    end
    proxy.queries:append(1, string.char(proxy.COM_QUERY) .. query)
    return proxy.PROXY_SEND_QUERY
end
