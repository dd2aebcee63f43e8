-- Sends reads outside of transactions to the backends for reads, everything else to one for writes, and shares the
-- connections between clients.

local balance = require("proxy.balance")
local commands = require("proxy.commands")
local tokenizer = require("proxy.tokenizer")
require("proxy.auto-config")

local config = proxy.global.config
config.rwsplit = config.rwsplit or { min_idle_connections = 4, max_idle_connections = 8, is_debug = false }

-- Numbers of the commands that this script sends.
local QUERY, INIT_DB = 1, 2

local is_in_transaction = false
-- FOUND_ROWS() and LAST_INSERT_ID() of the next statement belong to this connection.
local has_found_rows, has_insert_id = false, false

local function debug_line(text)
    if config.rwsplit.is_debug then
        print(text)
    end
end

-- Opens connections until each backend has enough idle ones.
function connect_server()
    local options, fewest = config.rwsplit, nil
    for i = 1, #proxy.global.backends do
        local backend = proxy.global.backends[i]
        local pool = backend.pool
        pool.min_idle_connections, pool.max_idle_connections = options.min_idle_connections, options.max_idle_connections
        if backend.state ~= proxy.BACKEND_STATE_DOWN
            and pool.users[""].cur_idle_connections < options.min_idle_connections
        then
            proxy.connection.backend_ndx = i
            debug_line("opening a connection to backend " .. i)
            return nil
        end
        fewest = fewest or (backend.type == proxy.BACKEND_TYPE_RW and backend.state ~= proxy.BACKEND_STATE_DOWN and i)
    end
    if fewest and proxy.global.backends[fewest].pool.users[""].cur_idle_connections > 0 then
        proxy.connection.backend_ndx = fewest
        return proxy.PROXY_IGNORE_RESULT
    end
end

-- After the login, the server's connection waits in the pool.
function read_auth_result(auth)
    if auth.packet:byte() == proxy.MYSQLD_PACKET_OK then
        proxy.connection.backend_ndx = 0
    end
end

-- Whether a statement only reads, and may be answered by any backend.
local function is_plain_read(tokens)
    local first = tokenizer.first_stmt_token(tokens)
    if not first or first.token_name ~= "TK_SQL_SELECT" then
        return false
    end
    for i = 1, #tokens do
        local name, text = tokens[i].token_name, tokens[i].text:upper()
        if name == "TK_SQL_SQL_CALC_FOUND_ROWS" then
            has_found_rows = true
        elseif name == "TK_SQL_FOR" then
            return false
        elseif text == "LAST_INSERT_ID" or text == "@@INSERT_ID" then
            return false
        end
    end
    return true
end

function read_query(packet)
    local cmd = commands.parse(packet)
    local decision = config:handle(cmd)
    if decision then
        return decision
    end
    if cmd.type == proxy.COM_QUIT then
        -- The server's connection stays open for others.
        proxy.response = { type = proxy.MYSQLD_PACKET_OK }
        return proxy.PROXY_SEND_RESULT
    end
    proxy.queries:append(QUERY, packet, { resultset_is_needed = true })
    if cmd.type == proxy.COM_BINLOG_DUMP then
        proxy.connection.backend_ndx = balance.idle_failsafe_rw()
    elseif not (is_in_transaction or has_found_rows or has_insert_id) then
        if cmd.type == proxy.COM_QUERY and is_plain_read(tokenizer.tokenize(cmd.query)) then
            local reader = balance.idle_ro()
            if reader > 0 then
                proxy.connection.backend_ndx = reader
            end
        end
    end
    if proxy.connection.backend_ndx == 0 then
        proxy.connection.backend_ndx = balance.idle_failsafe_rw()
    end
    local client, server = proxy.connection.client, proxy.connection.server
    if server and cmd.type ~= proxy.COM_INIT_DB and client.default_db ~= "" and client.default_db ~= server.default_db then
        proxy.queries:prepend(INIT_DB, string.char(proxy.COM_INIT_DB) .. client.default_db, { resultset_is_needed = true })
    end
    debug_line("backend " .. proxy.connection.backend_ndx .. ": " .. commands.pretty_print(cmd))
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    local result = inj.resultset
    if inj.id == INIT_DB then
        if result.query_status == proxy.MYSQLD_PACKET_ERR then
            proxy.queries:reset()
            proxy.response = {
                type = proxy.MYSQLD_PACKET_ERR,
                errmsg = "cannot change the database to " .. proxy.connection.client.default_db,
            }
            return proxy.PROXY_SEND_RESULT
        end
        return proxy.PROXY_IGNORE_RESULT
    end
    is_in_transaction = result.flags.in_trans
    has_found_rows = has_found_rows and not inj.query:upper():find("[^_]FOUND_ROWS%(")
    has_insert_id = (result.insert_id or 0) > 0
    if not (is_in_transaction or has_found_rows or has_insert_id) then
        proxy.connection.backend_ndx = 0
    end
end

function disconnect_client()
    proxy.connection.backend_ndx = 0
end
