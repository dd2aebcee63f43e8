-- Sends clients to replicas that keep up, and closes the connections to one that does not.

local commands = require("proxy.commands")
require("proxy.auto-config")

local config = proxy.global.config
config.ro_balance = config.ro_balance
    or { max_seconds_lag = 10, max_bytes_lag = 10240, check_timeout = 2, is_debug = true }

-- What is known of each replica: its state, and when it was checked.
local replicas = proxy.global.replicas or {}
proxy.global.replicas = replicas

-- Numbers of the commands that this script sends.
local QUERY, CHECK = 1, 2

-- States in which a replica may be used.
local USABLE = { unchecked = true, running = true }

local function replica(i)
    replicas[i] = replicas[i] or { state = "unchecked", checked_at = 0 }
    return replicas[i]
end

function connect_server()
    local best, fewest = nil, math.huge
    for i = 1, #proxy.global.backends do
        local backend = proxy.global.backends[i]
        if backend.type == proxy.BACKEND_TYPE_RO
            and backend.state ~= proxy.BACKEND_STATE_DOWN
            and USABLE[replica(i).state]
            and backend.connected_clients < fewest
        then
            best, fewest = i, backend.connected_clients
        end
    end
    if best then
        proxy.connection.backend_ndx = best
    end
end

-- The statement that shows a replica's state; MySQL 8.4 no longer has the old one.
local function status_statement()
    local version = proxy.connection.server.mysqld_version
    local is_new_mysql = version >= 80022 and version < 100000
    return is_new_mysql and "SHOW REPLICA STATUS" or "SHOW SLAVE STATUS"
end

function read_query(packet)
    local decision = config:handle(commands.parse(packet))
    if decision then
        return decision
    end
    local i = proxy.connection.backend_ndx
    local backend = proxy.global.backends[i]
    if not backend or backend.type ~= proxy.BACKEND_TYPE_RO or packet:byte() ~= proxy.COM_QUERY then
        return nil
    end
    local it = replica(i)
    if os.time() - it.checked_at < config.ro_balance.check_timeout then
        return nil
    end
    it.checked_at = os.time()
    local check = string.char(proxy.COM_QUERY) .. status_statement()
    proxy.queries:append(CHECK, check, { resultset_is_needed = true })
    proxy.queries:append(QUERY, packet, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

-- The state that the answer to the check shows.
local function state_of(result)
    if result.query_status ~= proxy.MYSQLD_PACKET_OK or not result.fields then
        return "noslave"
    end
    local row
    for one in result.rows do
        row = one
    end
    if not row then
        return "noslave"
    end
    local status = {}
    for i = 1, #result.fields do
        -- Newer servers say "replica" and "source" in the names.
        local name = result.fields[i].name:lower():gsub("replica", "slave"):gsub("source", "master")
        status[name] = row[i]
    end
    if status.slave_io_running ~= "Yes" then
        return "noiothread"
    end
    if status.slave_sql_running ~= "Yes" then
        return "nosqlthread"
    end
    local seconds = tonumber(status.seconds_behind_master)
    if not seconds or seconds > config.ro_balance.max_seconds_lag then
        return "toofarbehind"
    end
    if status.master_log_file == status.relay_master_log_file then
        local read, executed = tonumber(status.read_master_log_pos), tonumber(status.exec_master_log_pos)
        if read and executed and read - executed > config.ro_balance.max_bytes_lag then
            return "toofarbehind"
        end
    end
    return "running"
end

function read_query_result(inj)
    if inj.id ~= CHECK then
        return nil
    end
    local it = replica(proxy.connection.backend_ndx)
    it.state = state_of(inj.resultset)
    if config.ro_balance.is_debug then
        print(("replica %d: %s"):format(proxy.connection.backend_ndx, it.state))
    end
    if USABLE[it.state] then
        return proxy.PROXY_IGNORE_RESULT
    end
    proxy.queries:reset()
    proxy.connection.connection_close = true
    proxy.response = {
        type = proxy.MYSQLD_PACKET_ERR,
        errmsg = "slave-state is " .. it.state,
        sqlstate = "08S01",
    }
    return proxy.PROXY_SEND_RESULT
end
