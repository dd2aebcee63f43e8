-- Answers `BOTH statement` with the rows of two executions of the statement: two results become one.

-- Numbers of the commands that this script sends.
local FIRST, SECOND = 1, 2

local columns, rows

function read_query(packet)
    local query = packet:byte() == proxy.COM_QUERY and packet:sub(2):match("^%s*[Bb][Oo][Tt][Hh]%s+(.+)$")
    if not query then
        return nil
    end
    columns, rows = nil, {}
    for _, id in ipairs { FIRST, SECOND } do
        proxy.queries:append(id, string.char(proxy.COM_QUERY) .. query, { resultset_is_needed = true })
    end
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    local result = inj.resultset
    if not result.fields then
        -- An error, or a statement without rows: it is the answer.
        proxy.queries:reset()
        return nil
    end
    columns = columns or { { name = "part", type = proxy.MYSQL_TYPE_STRING } }
    if inj.id == FIRST then
        for i = 1, #result.fields do
            columns[i + 1] = { name = result.fields[i].name, type = result.fields[i].type }
        end
    end
    for row in result.rows do
        rows[#rows + 1] = { inj.id == FIRST and "first" or "second", unpack(row, 1, #columns - 1) }
    end
    if inj.id == FIRST then
        return proxy.PROXY_IGNORE_RESULT
    end
    proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = columns, rows = rows } }
    return proxy.PROXY_SEND_RESULT
end
