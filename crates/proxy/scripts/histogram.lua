-- Counts statements by their shape, and tables by reads and writes:
--   SELECT * FROM histogram.queries, SELECT * FROM histogram.tables, DELETE FROM either of them.

local commands = require("proxy.commands")
local parser = require("proxy.parser")
local tokenizer = require("proxy.tokenizer")
require("proxy.auto-config")

local config = proxy.global.config
config.histogram = config.histogram or { collect_queries = true, collect_tables = true }
proxy.global.histogram = proxy.global.histogram or { queries = {}, tables = {}, shape_count = 0 }

-- Shapes above which new ones are not counted: values in names must not fill the memory.
local SHAPES_MAX = 10000

local function answer_rows(names, rows)
    local fields = {}
    for i, name in ipairs(names) do
        fields[i] = { name = name, type = i == 1 and proxy.MYSQL_TYPE_STRING or proxy.MYSQL_TYPE_LONGLONG }
    end
    table.sort(rows, function(a, b) return a[1] < b[1] end)
    proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = fields, rows = rows } }
    return proxy.PROXY_SEND_RESULT
end

local function queries_answer(counts)
    local rows = {}
    for shape, it in pairs(counts.queries) do
        rows[#rows + 1] = { shape, it.count, it.max, math.floor(it.total / it.count) }
    end
    return answer_rows({ "query", "count", "max_query_time", "avg_query_time" }, rows)
end

local function tables_answer(counts)
    local rows = {}
    for name, it in pairs(counts.tables) do
        rows[#rows + 1] = { name, it.reads, it.writes }
    end
    return answer_rows({ "table", "reads", "writes" }, rows)
end

-- Answers statements about the histogram itself.
local function own_statement(query)
    local counts = proxy.global.histogram
    local words = query:lower():gsub("%s+", " "):gsub(";? ?$", "")
    if words == "select * from histogram.queries" then
        return queries_answer(counts)
    elseif words == "select * from histogram.tables" then
        return tables_answer(counts)
    end
    local which = words:match("^delete from histogram%.(%a+)$")
    if which == "queries" or which == "tables" then
        counts[which] = {}
        counts.shape_count = which == "queries" and 0 or counts.shape_count
        proxy.response = { type = proxy.MYSQLD_PACKET_OK }
        return proxy.PROXY_SEND_RESULT
    end
end

function read_query(packet)
    local cmd = commands.parse(packet)
    local decision = config:handle(cmd)
    if decision then
        return decision
    end
    if cmd.type ~= proxy.COM_QUERY then
        return nil
    end
    decision = own_statement(cmd.query)
    if decision then
        return decision
    end
    proxy.queries:append(1, packet)
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    local counts, options = proxy.global.histogram, config.histogram
    local tokens = tokenizer.tokenize(inj.query:sub(2))
    if options.collect_queries then
        local shape = tokenizer.normalize(tokens)
        local it = counts.queries[shape]
        if not it and counts.shape_count < SHAPES_MAX then
            counts.shape_count = counts.shape_count + 1
            it = { count = 0, max = 0, total = 0 }
            counts.queries[shape] = it
        end
        if it then
            it.count, it.total = it.count + 1, it.total + inj.query_time
            it.max = math.max(it.max, inj.query_time)
        end
    end
    if options.collect_tables then
        for name, usage in pairs(parser.get_tables(tokens)) do
            local it = counts.tables[name] or { reads = 0, writes = 0 }
            counts.tables[name] = it
            local key = usage == "read" and "reads" or "writes"
            it[key] = it[key] + 1
        end
    end
end
