-- Crosstabs by one statement:
--   XTAB table row column operation field [summary]
--   XTAB HELP | VERSION | QUERY | NOQUERY
-- A first query finds the values of the column, a second one computes a result column for each of them.

-- Numbers of the commands that this script sends.
local VALUES, CROSSTAB = 1, 2

local OPERATIONS = { COUNT = true, SUM = true, AVG = true, MAX = true, MIN = true }

-- More columns make no table that can be read, and a server refuses 4096.
local COLUMNS_MAX = 1000

local USAGE = {
    "XTAB table row column operation field [summary]",
    "  table      what is read, also db.table",
    "  row        its values become rows",
    "  column     its values become columns",
    "  operation  COUNT, SUM, AVG, MAX or MIN",
    "  field      what is counted or summed up",
    "  summary    any word: a last row with the totals",
    "XTAB QUERY   prints each crosstab's query",
    "XTAB NOQUERY does not",
    "XTAB VERSION",
}

local is_query_printed = false
local asked

local function answer_lines(name, lines)
    local rows = {}
    for i, line in ipairs(lines) do
        rows[i] = { line }
    end
    proxy.response = {
        type = proxy.MYSQLD_PACKET_OK,
        resultset = { fields = { { name = name, type = proxy.MYSQL_TYPE_STRING } }, rows = rows },
    }
    return proxy.PROXY_SEND_RESULT
end

local function answer_error(text)
    proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = text }
    return proxy.PROXY_SEND_RESULT
end

-- The SQL of a name; nil if it is none.
local function quoted_name(name)
    if not name:find("^[%w_$.]+$") or name:find("%.%.") or name:find("^%.") or name:find("%.$") then
        return nil
    end
    return (name:gsub("[^.]+", "`%0`"))
end

local function quoted_value(value)
    return "'" .. value:gsub("\\", "\\\\"):gsub("'", "''") .. "'"
end

local function send(id, query)
    proxy.queries:append(id, string.char(proxy.COM_QUERY) .. query, { resultset_is_needed = true })
end

local function special(word)
    if word == "HELP" then
        return answer_lines("XTAB", USAGE)
    elseif word == "VERSION" then
        return answer_lines("version", { "1.0" })
    elseif word == "QUERY" or word == "NOQUERY" then
        is_query_printed = word == "QUERY"
        return answer_lines("XTAB", { is_query_printed and "queries are printed" or "queries are not printed" })
    end
end

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return nil
    end
    local words = {}
    for word in packet:sub(2):gsub(";%s*$", ""):gmatch("%S+") do
        words[#words + 1] = word
    end
    if not words[1] or words[1]:upper() ~= "XTAB" then
        return nil
    end
    local decision = #words == 2 and special(words[2]:upper())
    if decision then
        return decision
    end
    if #words < 6 or #words > 7 then
        return answer_error("XTAB table row column operation field [summary]; see XTAB HELP")
    end
    local operation = words[5]:upper()
    if not OPERATIONS[operation] then
        return answer_error("XTAB: " .. words[5] .. " is none of COUNT, SUM, AVG, MAX, MIN")
    end
    asked = { operation = operation, summary = words[7] ~= nil }
    for key, place in pairs { table = 2, row = 3, column = 4, field = 6 } do
        asked[key] = quoted_name(words[place])
        if not asked[key] then
            return answer_error("XTAB: " .. words[place] .. " is no name")
        end
    end
    send(VALUES, ("SELECT DISTINCT %s FROM %s ORDER BY 1"):format(asked.column, asked.table))
    return proxy.PROXY_SEND_QUERY
end

local function crosstab_query(values)
    local columns = { asked.row }
    for i, value in ipairs(values) do
        columns[i + 1] = ("%s(CASE WHEN %s = %s THEN %s END) AS %s"):format(
            asked.operation, asked.column, quoted_value(value), asked.field,
            "`" .. value:sub(1, 64):gsub("`", "``") .. "`"
        )
    end
    columns[#columns + 1] = ("%s(%s) AS total"):format(asked.operation, asked.field)
    local query = ("SELECT %s FROM %s GROUP BY %s"):format(table.concat(columns, ", "), asked.table, asked.row)
    return asked.summary and query .. " WITH ROLLUP" or query
end

function read_query_result(inj)
    if inj.id ~= VALUES or inj.resultset.query_status ~= proxy.MYSQLD_PACKET_OK then
        return nil
    end
    local values = {}
    for row in inj.resultset.rows do
        if row[1] then
            values[#values + 1] = row[1]
        end
    end
    if #values == 0 or #values > COLUMNS_MAX then
        return answer_error(("XTAB: the column has %d values; 1 to %d are possible"):format(#values, COLUMNS_MAX))
    end
    local query = crosstab_query(values)
    if is_query_printed then
        print(query)
    end
    send(CROSSTAB, query)
    return proxy.PROXY_IGNORE_RESULT
end
