-- Prints all open transactions with their statements when one of them meets a deadlock or a lock wait timeout.

local commands = require("proxy.commands")
local proto = require("mysql.proto")

local LOCK_WAIT_TIMEOUT, DEADLOCK = 1205, 1213
-- Statements of a transaction above which the oldest ones are forgotten.
local STATEMENTS_MAX = 100

-- The open transactions: their statements, by the server's number of the connection.
proxy.global.active_transactions = proxy.global.active_transactions or {}
local open = proxy.global.active_transactions

local thread_id

local function print_all(code, query)
    print(("error %d in connection %d: %s"):format(code, thread_id, query))
    local ids = {}
    for id in pairs(open) do
        ids[#ids + 1] = id
    end
    table.sort(ids)
    for _, id in ipairs(ids) do
        print(("  transaction of connection %d, user %s"):format(id, open[id].username))
        for _, statement in ipairs(open[id].statements) do
            print("    " .. statement)
        end
    end
end

function read_query(packet)
    if packet:byte() == proxy.COM_QUIT then
        return nil
    end
    -- The number of an error is in its packet.
    proxy.queries:append(1, packet, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

local function note(statement)
    local it = open[thread_id] or { username = proxy.connection.client.username, statements = {} }
    open[thread_id] = it
    it.statements[#it.statements + 1] = statement
    if #it.statements > STATEMENTS_MAX then
        table.remove(it.statements, 1)
    end
end

function read_query_result(inj)
    local result = inj.resultset
    thread_id = proxy.connection.server.thread_id
    local statement = commands.pretty_print(commands.parse(inj.query))
    if result.query_status == proxy.MYSQLD_PACKET_ERR then
        local ok, err = pcall(proto.from_err_packet, result.raw)
        if ok and (err.errcode == LOCK_WAIT_TIMEOUT or err.errcode == DEADLOCK) then
            print_all(err.errcode, statement)
        end
        -- An error says nothing of the transaction: a deadlock has ended it, most others have not.
        if ok and err.errcode == DEADLOCK then
            open[thread_id] = nil
        end
    elseif result.flags.in_trans then
        note(statement)
    else
        open[thread_id] = nil
    end
end

function disconnect_client()
    if thread_id then
        open[thread_id] = nil
    end
end
