-- Prints some of the constants that scripts know by name.

local NAMES = {
    -- What a hook returns.
    "PROXY_SEND_QUERY", "PROXY_SEND_RESULT", "PROXY_IGNORE_RESULT",
    -- Kinds of responses, and of the first packet of a result.
    "MYSQLD_PACKET_OK", "MYSQLD_PACKET_ERR", "MYSQLD_PACKET_RAW",
    -- Commands, which are the first byte of the packet that read_query gets.
    "COM_QUIT", "COM_INIT_DB", "COM_QUERY", "COM_PING", "COM_STMT_PREPARE", "COM_STMT_EXECUTE",
    -- Types of columns.
    "MYSQL_TYPE_LONG", "MYSQL_TYPE_DOUBLE", "MYSQL_TYPE_DATETIME", "MYSQL_TYPE_STRING", "MYSQL_TYPE_BLOB",
    -- States and kinds of backends.
    "BACKEND_STATE_UP", "BACKEND_STATE_DOWN", "BACKEND_TYPE_RW", "BACKEND_TYPE_RO",
}

function connect_server()
    for _, name in ipairs(NAMES) do
        print(("proxy.%s = %d"):format(name, proxy[name]))
    end
end
