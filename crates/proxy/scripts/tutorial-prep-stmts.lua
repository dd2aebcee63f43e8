-- Prints prepared statements, and the values with which they are executed.

local proto = require("mysql.proto")

-- The prepared statements by their numbers: their texts and counts of parameters.
local statements = {}

local function print_execution(packet)
    local it = statements[proto.stmt_id_from_stmt_execute_packet(packet)]
    if not it then
        return
    end
    local values = {}
    for i, param in ipairs(proto.from_stmt_execute_packet(packet, it.num_params).params or {}) do
        values[i] = tostring(param.value)
    end
    print(("execute: %s (%s)"):format(it.text, table.concat(values, ", ")))
end

function read_query(packet)
    local command = packet:byte()
    if command == proxy.COM_STMT_PREPARE then
        -- The server's answer has the statement's number.
        proxy.queries:append(1, packet, { resultset_is_needed = true })
        return proxy.PROXY_SEND_QUERY
    elseif command == proxy.COM_STMT_EXECUTE then
        print_execution(packet)
    elseif command == proxy.COM_STMT_CLOSE then
        statements[proto.from_stmt_close_packet(packet).stmt_id] = nil
    end
end

function read_query_result(inj)
    local raw = inj.resultset.raw
    if raw:byte() ~= proxy.MYSQLD_PACKET_OK then
        return nil
    end
    local ok = proto.from_stmt_prepare_ok_packet(raw)
    local text = proto.from_stmt_prepare_packet(inj.query).stmt_text
    statements[ok.stmt_id] = { text = text, num_params = ok.num_params }
    print(("prepare: %s, %d parameters"):format(text, ok.num_params))
end
