-- proxy.balance: which backend to use.

local M = {}

-- The first backend for writes that has an idle connection of the client's user; 0 if there is none.
function M.idle_failsafe_rw()
    local user = proxy.connection.client.username
    for i = 1, #proxy.global.backends do
        local backend = proxy.global.backends[i]
        if backend.type == proxy.BACKEND_TYPE_RW
            and backend.state ~= proxy.BACKEND_STATE_DOWN
            and backend.pool.users[user].cur_idle_connections > 0
        then
            return i
        end
    end
    return 0
end

-- The backend for reads with idle connections and the fewest clients; 0 if there is none.
function M.idle_ro()
    local user = proxy.connection.client.username
    local best, fewest = 0, math.huge
    for i = 1, #proxy.global.backends do
        local backend = proxy.global.backends[i]
        if backend.type == proxy.BACKEND_TYPE_RO
            and backend.state ~= proxy.BACKEND_STATE_DOWN
            and backend.pool.users[user].cur_idle_connections > 0
            and backend.connected_clients < fewest
        then
            best, fewest = i, backend.connected_clients
        end
    end
    return best
end

return M
