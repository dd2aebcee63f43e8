-- Lets clients log in with an account of the proxy's own, `app` with the password `app`, and logs them in to the server
-- with the account of the environment variables TUTORIAL_USER and TUTORIAL_PASSWORD. Both use mysql_native_password.

local password = require("mysql.password")
local proto = require("mysql.proto")

local USER, HASHED = "app", password.hash("app")

-- Capabilities of the login: a name and a proof of today's form, several statements and results, LOAD DATA LOCAL,
-- transactions, changes of the session, and forms of results. What the client does not want is taken out.
local WITH_DATABASE = 8
local CAPABILITIES = 2 ^ 7 + 2 ^ 9 + 2 ^ 13 + 2 ^ 15 + 2 ^ 16 + 2 ^ 17 + 2 ^ 18 + 2 ^ 19 + 2 ^ 23 + 2 ^ 24
    -- MariaDB's own.
    + 2 ^ 35 + 2 ^ 36

function read_auth()
    local client, server = proxy.connection.client, proxy.connection.server
    local challenge = server.scramble_buffer:sub(1, 20)
    local proof = client.scrambled_password
    local is_right = client.username == USER and #proof == 20
        and password.check(challenge, proof, password.hash(HASHED))
    if not is_right then
        proxy.response = {
            type = proxy.MYSQLD_PACKET_ERR,
            errcode = 1045,
            sqlstate = "28000",
            errmsg = "Access denied: this is not the proxy's account",
        }
        return proxy.PROXY_SEND_RESULT
    end
    local database = client.default_db
    local capabilities = CAPABILITIES + (database ~= "" and WITH_DATABASE or 0)
    proxy.queries:append(1, proto.to_response_packet {
        server_capabilities = capabilities,
        capabilities = capabilities,
        max_packet_size = 2 ^ 24,
        charset = 45,
        username = os.getenv("TUTORIAL_USER") or "",
        response = password.scramble(challenge, password.hash(os.getenv("TUTORIAL_PASSWORD") or "")),
        auth_plugin_name = "mysql_native_password",
        database = database,
    })
    return proxy.PROXY_SEND_QUERY
end
