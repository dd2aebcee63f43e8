-- Prints when each hook is called, in the order of a session.

local function ends()
    local client, server = proxy.connection.client, proxy.connection.server
    return ("client %s, server %s"):format(client.src.name, server and server.dst.name or "none")
end

function connect_server()
    print("connect_server: " .. ends())
end

function read_handshake()
    local server = proxy.connection.server
    print(("read_handshake: version %d, connection %d"):format(server.mysqld_version, server.thread_id))
end

function read_auth()
    local client = proxy.connection.client
    print(("read_auth: user %s, database %s, by %s"):format(client.username, client.default_db, client.auth_plugin_name))
end

function read_auth_result(auth)
    print("read_auth_result: first byte " .. auth.packet:byte())
end

function read_query(packet)
    print("read_query: command " .. packet:byte())
    proxy.queries:append(1, packet)
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    print("read_query_result: of command " .. inj.query:byte())
end

function disconnect_client()
    print("disconnect_client")
end
