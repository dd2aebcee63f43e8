-- Prints the statements that run, each time one begins or ends.

local commands = require("proxy.commands")
require("proxy.auto-config")

local config = proxy.global.config
config.active_queries = config.active_queries or { show_idle_connections = false }

-- What each connection does, by the server's number of it.
proxy.global.active_queries = proxy.global.active_queries or {}
local active = proxy.global.active_queries

-- Longer statements are cut.
local TEXT_MAX = 200

local thread_id

local function print_all()
    local lines, running, idle = {}, 0, 0
    for id, it in pairs(active) do
        if it.command then
            running = running + 1
        else
            idle = idle + 1
        end
        if it.command or config.active_queries.show_idle_connections then
            lines[#lines + 1] = ("  %d %s %s: %s"):format(id, it.username, it.database, it.command or "idle")
        end
    end
    table.sort(lines)
    print(("%d running, %d idle"):format(running, idle))
    for _, line in ipairs(lines) do
        print(line)
    end
end

local function set_command(command)
    local client, server = proxy.connection.client, proxy.connection.server
    if not server then
        return
    end
    thread_id = server.thread_id
    active[thread_id] = { username = client.username, database = client.default_db, command = command }
    print_all()
end

function read_query(packet)
    local cmd = commands.parse(packet)
    local decision = config:handle(cmd)
    if decision then
        return decision
    end
    if cmd.type == proxy.COM_QUIT then
        return nil
    end
    set_command(commands.pretty_print(cmd):sub(1, TEXT_MAX))
    proxy.queries:append(1, packet)
    return proxy.PROXY_SEND_QUERY
end

function read_query_result()
    set_command(nil)
end

function disconnect_client()
    if thread_id then
        active[thread_id] = nil
        print_all()
    end
end
