-- As q0q1.lua. Besides, the second query compares with a time that only changes with the year, but asks for it by NOW(), whose
-- results are not cached: the time is written into it.

local QUERY = string.char(proxy.COM_QUERY)
local KEPT = { resultset_is_needed = true }
local FLUSH, BEGIN, DATED = 1, 2, 3
local NOW = "DATE_FORMAT%(NOW%(%) %- INTERVAL 1 YEAR, '%%Y0101000000'%)"

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then return end
    if packet:find("^%s*RESET%s+/%* Q0 %*/%s+QUERY%s+CACHE%s*$", 2) then
        proxy.queries:append(FLUSH, QUERY .. "FLUSH /* instead of Q0 */ QUERY CACHE")
        proxy.queries:append(BEGIN, QUERY .. "START /* for Q1 */ TRANSACTION", KEPT)
        return proxy.PROXY_SEND_QUERY
    end
    if packet:find("^%s*SELECT%s+/%* Q2 %*/", 2) then
        local last_year = tonumber(os.date("%Y")) - 1
        local dated, found = packet:gsub(NOW, "'" .. last_year .. "0101000000'")
        if found == 1 then
            proxy.queries:append(DATED, dated)
            return proxy.PROXY_SEND_QUERY
        end
    end
end

function read_query_result(result)
    if result.id == BEGIN then
        return proxy.PROXY_IGNORE_RESULT
    end
end
