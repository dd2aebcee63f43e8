-- The script of the admin interface (--admin-lua-script): SELECT * FROM backends, SELECT * FROM help.

local STATES = {
    [proxy.BACKEND_STATE_UNKNOWN] = "unknown",
    [proxy.BACKEND_STATE_UP] = "up",
    [proxy.BACKEND_STATE_DOWN] = "down",
}
local TYPES = {
    [proxy.BACKEND_TYPE_UNKNOWN] = "unknown",
    [proxy.BACKEND_TYPE_RW] = "rw",
    [proxy.BACKEND_TYPE_RO] = "ro",
}

local function answer_error(text)
    proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = text }
    return proxy.PROXY_SEND_RESULT
end

local function answer_rows(columns, rows)
    local fields = {}
    for i, name in ipairs(columns) do
        fields[i] = { name = name, type = proxy.MYSQL_TYPE_STRING }
    end
    proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = fields, rows = rows } }
    return proxy.PROXY_SEND_RESULT
end

local function backends()
    local rows = {}
    for i = 1, #proxy.global.backends do
        local it = proxy.global.backends[i]
        rows[i] = { i, it.dst.name, STATES[it.state], TYPES[it.type], it.uuid, it.connected_clients }
    end
    return answer_rows({ "backend_ndx", "address", "state", "type", "uuid", "connected_clients" }, rows)
end

local function help()
    return answer_rows({ "command", "description" }, {
        { "SELECT * FROM help", "shows this help" },
        { "SELECT * FROM backends", "lists the backends and their state" },
    })
end

local TABLES = { backends = backends, help = help }

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return answer_error("[admin] we only handle text-based queries (COM_QUERY)")
    end
    local name = packet:sub(2):lower():match("^%s*select%s+%*%s+from%s+(%a+)%s*;?%s*$")
    if not TABLES[name] then
        return answer_error("use 'SELECT * FROM help' to see the supported commands")
    end
    return TABLES[name]()
end
