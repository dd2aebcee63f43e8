-- Answers HELLO without asking the server, and prints columns and rows of all other results.

local function hello()
    local client = proxy.connection.client
    proxy.response = {
        type = proxy.MYSQLD_PACKET_OK,
        resultset = {
            fields = {
                { name = "greeting", type = proxy.MYSQL_TYPE_STRING },
                { name = "number", type = proxy.MYSQL_TYPE_LONG },
            },
            rows = { { "hello " .. client.username, 1 }, { "welcome", nil } },
        },
    }
    return proxy.PROXY_SEND_RESULT
end

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return nil
    elseif packet:sub(2):upper():find("^%s*HELLO%s*;?%s*$") then
        return hello()
    end
    proxy.queries:append(1, packet, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    local result = inj.resultset
    if not result.fields then
        print(("affected rows %s, insert id %s"):format(tostring(result.affected_rows), tostring(result.insert_id)))
        return nil
    end
    for i = 1, #result.fields do
        print(("column %d: %s, type %d"):format(i, result.fields[i].name, result.fields[i].type))
    end
    for row in result.rows do
        local cells = {}
        for i = 1, #result.fields do
            cells[i] = tostring(row[i])
        end
        print("row: " .. table.concat(cells, ", "))
    end
end
