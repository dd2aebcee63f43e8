-- Shares the connections to all backends between clients, without a choice by statement.

local MIN_IDLE, MAX_IDLE = 4, 8

-- Numbers of the commands that this script sends.
local QUERY, INIT_DB = 1, 2

-- The first backend, not DOWN, with an idle connection of this user; 0 if there is none.
local function idle(user)
    for i = 1, #proxy.global.backends do
        local backend = proxy.global.backends[i]
        if backend.state ~= proxy.BACKEND_STATE_DOWN and backend.pool.users[user].cur_idle_connections > 0 then
            return i
        end
    end
    return 0
end

-- Opens connections until each backend has enough idle ones.
function connect_server()
    for i = 1, #proxy.global.backends do
        local backend = proxy.global.backends[i]
        local pool = backend.pool
        pool.min_idle_connections, pool.max_idle_connections = MIN_IDLE, MAX_IDLE
        if backend.state ~= proxy.BACKEND_STATE_DOWN and pool.users[""].cur_idle_connections < MIN_IDLE then
            proxy.connection.backend_ndx = i
            return nil
        end
    end
    local pooled = idle("")
    if pooled > 0 then
        proxy.connection.backend_ndx = pooled
        return proxy.PROXY_IGNORE_RESULT
    end
end

-- After the login, the server's connection waits in the pool.
function read_auth_result(auth)
    if auth.packet:byte() == proxy.MYSQLD_PACKET_OK then
        proxy.connection.backend_ndx = 0
    end
end

function read_query(packet)
    local client = proxy.connection.client
    if packet:byte() == proxy.COM_QUIT then
        -- The server's connection stays open for others.
        proxy.response = { type = proxy.MYSQLD_PACKET_OK }
        return proxy.PROXY_SEND_RESULT
    end
    if proxy.connection.backend_ndx == 0 then
        proxy.connection.backend_ndx = idle(client.username)
    end
    if client.default_db ~= "" then
        proxy.queries:append(INIT_DB, string.char(proxy.COM_INIT_DB) .. client.default_db, { resultset_is_needed = true })
    end
    proxy.queries:append(QUERY, packet, { resultset_is_needed = true })
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
    if not result.flags.in_trans then
        proxy.connection.backend_ndx = 0
    end
end

function disconnect_client()
    proxy.connection.backend_ndx = 0
end
