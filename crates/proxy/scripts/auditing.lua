-- Prints who connects, who logs in, and what each client sends.

local commands = require("proxy.commands")

local function audit(event, detail)
    local client = proxy.connection.client
    local user = client.username ~= "" and client.username or "-"
    print(("%s %s %s [%s] %s"):format(os.date("%Y-%m-%d %H:%M:%S"), client.src.name, user, event, detail or ""))
end

function connect_server()
    audit("connect")
end

function read_auth()
    audit("login", "database " .. proxy.connection.client.default_db)
end

function read_auth_result(auth)
    local first = auth.packet:byte()
    if first == proxy.MYSQLD_PACKET_ERR then
        audit("login refused")
    elseif first == proxy.MYSQLD_PACKET_OK then
        audit("login accepted")
    end
end

function read_query(packet)
    audit("command", commands.pretty_print(commands.parse(packet)))
end

function disconnect_client()
    audit("disconnect")
end
