-- Sends each client to one backend in turn, whether it is for reads or for writes.

proxy.global.routing_last = proxy.global.routing_last or 0

function connect_server()
    local backends = proxy.global.backends
    for _ = 1, #backends do
        local place = proxy.global.routing_last % #backends + 1
        proxy.global.routing_last = place
        if backends[place].state ~= proxy.BACKEND_STATE_DOWN then
            print(("client %s: backend %d, %s"):format(proxy.connection.client.src.name, place, backends[place].dst.name))
            proxy.connection.backend_ndx = place
            return nil
        end
    end
end
