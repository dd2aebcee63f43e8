-- proxy.commands: what a client's packet asks for.

local M = {}

-- The names of the commands by their numbers.
local NAMES = {}
for _, name in ipairs {
    "SLEEP", "QUIT", "INIT_DB", "QUERY", "FIELD_LIST", "CREATE_DB", "DROP_DB", "REFRESH", "SHUTDOWN", "STATISTICS",
    "PROCESS_INFO", "CONNECT", "PROCESS_KILL", "DEBUG", "PING", "TIME", "DELAYED_INSERT", "CHANGE_USER",
    "BINLOG_DUMP", "TABLE_DUMP", "CONNECT_OUT", "REGISTER_SLAVE", "STMT_PREPARE", "STMT_EXECUTE",
    "STMT_SEND_LONG_DATA", "STMT_CLOSE", "STMT_RESET", "SET_OPTION", "STMT_FETCH", "DAEMON",
} do
    NAMES[proxy["COM_" .. name]] = "COM_" .. name
end

-- A number of some bytes, the lowest first; nil if the packet ends before.
local function number(packet, first, length)
    local result = 0
    for i = first + length - 1, first, -1 do
        local byte = packet:byte(i)
        if not byte then
            return nil
        end
        result = result * 256 + byte
    end
    return result
end

function M.parse(packet)
    local kind = packet:byte()
    local cmd = { type = kind, type_name = NAMES[kind] }
    local rest = packet:sub(2)
    if kind == proxy.COM_QUERY or kind == proxy.COM_STMT_PREPARE then
        cmd.query = rest
    elseif kind == proxy.COM_STMT_EXECUTE or kind == proxy.COM_STMT_CLOSE then
        cmd.stmt_handler_id = number(packet, 2, 4)
    elseif kind == proxy.COM_FIELD_LIST then
        cmd.table = rest:match("^%Z*")
    elseif kind == proxy.COM_INIT_DB or kind == proxy.COM_CREATE_DB or kind == proxy.COM_DROP_DB then
        cmd.schema = rest
    elseif kind == proxy.COM_SET_OPTION then
        cmd.option = number(packet, 2, 2)
    end
    return cmd
end

function M.pretty_print(cmd)
    local name = cmd.type_name or ("COM_" .. tostring(cmd.type))
    local detail = cmd.query or cmd.schema or cmd.table or cmd.stmt_handler_id or cmd.option
    if detail ~= nil then
        return ("[%s] %s"):format(name, tostring(detail))
    end
    if cmd.type == proxy.COM_QUIT or cmd.type == proxy.COM_PING then
        return ("[%s]"):format(name)
    end
    return ("[%s] ... no idea"):format(name)
end

return M
