-- Prints what each statement made the server do: the counters of the session that it changed.

-- Numbers of the commands that this script sends.
local BEFORE, QUERY, AFTER = 1, 2, 3

local STATUS = string.char(proxy.COM_QUERY) .. "SHOW SESSION STATUS LIKE 'Handler%'"

local before

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return nil
    end
    proxy.queries:append(BEFORE, STATUS, { resultset_is_needed = true })
    proxy.queries:append(QUERY, packet)
    proxy.queries:append(AFTER, STATUS, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

local function counters(result)
    local all = {}
    if result.fields then
        for row in result.rows do
            all[row[1]] = tonumber(row[2])
        end
    end
    return all
end

function read_query_result(inj)
    if inj.id == QUERY then
        print(inj.query:sub(2))
        return nil
    elseif inj.id == BEFORE then
        before = counters(inj.resultset)
        return proxy.PROXY_IGNORE_RESULT
    end
    local lines = {}
    for name, value in pairs(counters(inj.resultset)) do
        if value ~= before[name] then
            lines[#lines + 1] = ("  %s +%d"):format(name, value - (before[name] or 0))
        end
    end
    table.sort(lines)
    print(table.concat(lines, "\n"))
    return proxy.PROXY_IGNORE_RESULT
end
