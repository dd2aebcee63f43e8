-- Keeps the server's connections open when clients leave, and gives them to the next clients.

local function idle(user)
    for i = 1, #proxy.global.backends do
        local backend = proxy.global.backends[i]
        if backend.state ~= proxy.BACKEND_STATE_DOWN and backend.pool.users[user].cur_idle_connections > 0 then
            return i
        end
    end
end

function connect_server()
    local place = idle("")
    if place then
        print("an idle connection to backend " .. place)
        proxy.connection.backend_ndx = place
        return proxy.PROXY_IGNORE_RESULT
    end
    print("a new connection")
end

function read_query(packet)
    if packet:byte() == proxy.COM_QUIT then
        -- Passed on, it would close the server's connection.
        proxy.response = { type = proxy.MYSQLD_PACKET_OK }
        return proxy.PROXY_SEND_RESULT
    end
end

function disconnect_client()
    proxy.connection.backend_ndx = 0
end
