-- Commands of the protocol that clients have no statement for, as words of SQL:
--   PING, STATISTICS, PROCINFO, TIME, DEBUG, REFRESH flags, INITDB name, SETOPTION number; ADMIN HELP lists them.

local function bytes_of(number, length)
    local bytes = {}
    for i = 1, length do
        bytes[i] = string.char(number % 256)
        number = math.floor(number / 256)
    end
    return table.concat(bytes)
end

-- The rest of the packet for each kind of argument; nil for one that is none.
local ARGUMENTS = {
    none = function(word) return not word and "" or nil end,
    name = function(word) return word end,
    byte = function(word) return word and word:find("^%d+$") and bytes_of(tonumber(word), 1) end,
    short = function(word) return word and word:find("^%d+$") and bytes_of(tonumber(word), 2) end,
}

-- Each word with its command, the kind of its argument, and what it does.
local WORDS = {
    PING = { proxy.COM_PING, "none", "asks whether the server answers" },
    STATISTICS = { proxy.COM_STATISTICS, "none", "a line of figures" },
    PROCINFO = { proxy.COM_PROCESS_INFO, "none", "the connections, without SQL" },
    TIME = { proxy.COM_TIME, "none", "an error of every server" },
    DEBUG = { proxy.COM_DEBUG, "none", "lets the server write its state into its log" },
    REFRESH = { proxy.COM_REFRESH, "byte", "flushes: 1 grants, 2 logs, 4 tables, 8 hosts, 16 status" },
    INITDB = { proxy.COM_INIT_DB, "name", "changes the database" },
    SETOPTION = { proxy.COM_SET_OPTION, "short", "0 permits several statements at once, 1 does not" },
}

local function answer_rows(columns, rows)
    local fields = {}
    for i, name in ipairs(columns) do
        fields[i] = { name = name, type = proxy.MYSQL_TYPE_STRING }
    end
    proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = fields, rows = rows } }
    return proxy.PROXY_SEND_RESULT
end

local function help()
    local rows = {}
    for word, it in pairs(WORDS) do
        rows[#rows + 1] = { word, it[3] }
    end
    table.sort(rows, function(a, b) return a[1] < b[1] end)
    return answer_rows({ "command", "description" }, rows)
end

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return nil
    end
    local word, argument, rest = packet:sub(2):match("^%s*(%a+)%s*([^%s;]*)%s*;?%s*(.*)$")
    if not word or rest ~= "" then
        return nil
    end
    argument = argument ~= "" and argument or nil
    if word:upper() == "ADMIN" and argument and argument:upper() == "HELP" then
        return help()
    end
    local it = WORDS[word:upper()]
    local tail = it and ARGUMENTS[it[2]](argument)
    if not tail then
        return nil
    end
    proxy.queries:append(it[1], string.char(it[1]) .. tail, { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

-- A client that sent a statement reads an OK, an error or rows, and not every answer is one of these.
function read_query_result(inj)
    local raw = inj.resultset.raw
    if inj.id == proxy.COM_STATISTICS then
        return answer_rows({ "statistics" }, { { raw } })
    elseif raw:byte() == 254 and #raw < 9 then
        -- An EOF packet.
        proxy.response = { type = proxy.MYSQLD_PACKET_OK }
        return proxy.PROXY_SEND_RESULT
    end
end
