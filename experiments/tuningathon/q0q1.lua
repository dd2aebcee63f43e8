-- As q0.lua. Besides, a transaction is begun before the first query that could be cached: with autocommit off, the server does
-- not look into the query cache for the first statement of a transaction (bug 42197 of MySQL, in MariaDB too). The client asked
-- for no transaction and must not see the answer.

local QUERY = string.char(proxy.COM_QUERY)
local KEPT = { resultset_is_needed = true }
local FLUSH, BEGIN = 1, 2

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then return end
    if packet:find("^%s*RESET%s+/%* Q0 %*/%s+QUERY%s+CACHE%s*$", 2) then
        proxy.queries:append(FLUSH, QUERY .. "FLUSH /* instead of Q0 */ QUERY CACHE")
        proxy.queries:append(BEGIN, QUERY .. "START /* for Q1 */ TRANSACTION", KEPT)
        return proxy.PROXY_SEND_QUERY
    end
end

function read_query_result(result)
    if result.id == BEGIN then
        return proxy.PROXY_IGNORE_RESULT
    end
end
