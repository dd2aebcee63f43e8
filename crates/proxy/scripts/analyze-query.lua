-- Prints the statements that took much longer than usual: more than five standard deviations above the average.
--   SELECT * FROM histogram.queries shows each shape of statement with its count, average and deviation.

local commands = require("proxy.commands")
local tokenizer = require("proxy.tokenizer")
require("proxy.auto-config")

local config = proxy.global.config
config.analyze_query = config.analyze_query or {
    analyze_queries = true,
    -- Explains an outlier, or shows what else ran.
    auto_explain = false,
    auto_processlist = false,
    -- Statements from which the average is trusted.
    min_queries = 1000,
    -- Shorter times are no outliers, microseconds.
    min_query_time = 1000,
    -- Longer statements are cut when they are printed.
    query_cutoff = 160,
    -- Prints each statement that is the slowest one so far.
    log_slower_queries = false,
}

-- Deviations above the average that make an outlier.
local OUTLIER = 5
-- Shapes above which new ones are counted only in the total: values in names must not fill the memory.
local SHAPES_MAX = 10000

-- Numbers of the commands that this script sends.
local QUERY, EXPLAIN, PROCESSLIST = 1, 2, 3

-- Count, average, largest value, and the sum of squared differences from the average (Welford's method).
local function new_series()
    return { count = 0, average = 0, squares = 0, max = 0 }
end

local function deviation(series)
    return series.count > 1 and math.sqrt(series.squares / (series.count - 1)) or 0
end

local function add(series, value)
    series.count = series.count + 1
    local difference = value - series.average
    series.average = series.average + difference / series.count
    series.squares = series.squares + difference * (value - series.average)
    series.max = math.max(series.max, value)
end

proxy.global.analyzed = proxy.global.analyzed or { all = new_series(), shapes = {}, shape_count = 0 }

local function answer_statistics()
    local rows = {}
    for shape, series in pairs(proxy.global.analyzed.shapes) do
        rows[#rows + 1] = { shape, series.count, ("%.1f"):format(series.average), ("%.1f"):format(deviation(series)) }
    end
    table.sort(rows, function(a, b) return a[1] < b[1] end)
    local fields = { { name = "query", type = proxy.MYSQL_TYPE_STRING } }
    for _, name in ipairs { "COUNT(*)", "AVG(qtime)", "STDDEV(qtime)" } do
        fields[#fields + 1] = { name = name, type = proxy.MYSQL_TYPE_DOUBLE }
    end
    proxy.response = { type = proxy.MYSQLD_PACKET_OK, resultset = { fields = fields, rows = rows } }
    return proxy.PROXY_SEND_RESULT
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
    if cmd.query:lower():find("^%s*select%s+%*%s+from%s+histogram%.queries%s*;?%s*$") then
        return answer_statistics()
    end
    if not config.analyze_query.analyze_queries then
        return nil
    end
    proxy.queries:append(QUERY, packet)
    return proxy.PROXY_SEND_QUERY
end

local function print_rows(title, result)
    print(title)
    if not result.fields then
        return
    end
    for row in result.rows do
        local cells = {}
        for i = 1, #result.fields do
            cells[i] = result.fields[i].name .. "=" .. tostring(row[i])
        end
        print("  " .. table.concat(cells, " "))
    end
end

local function ask(id, query)
    proxy.queries:append(id, string.char(proxy.COM_QUERY) .. query, { resultset_is_needed = true })
end

local function report(what, time, series, query, tokens)
    local options = config.analyze_query
    print(("%s: %d us, average %.1f us, deviation %.1f us: %s"):format(
        what, time, series.average, deviation(series), query:sub(1, options.query_cutoff)))
    local first = tokenizer.first_stmt_token(tokens)
    if options.auto_explain and first and first.token_name == "TK_SQL_SELECT" then
        ask(EXPLAIN, "EXPLAIN " .. query)
    end
    if options.auto_processlist then
        ask(PROCESSLIST, "SHOW FULL PROCESSLIST")
    end
end

local function analyze(inj)
    local options, analyzed = config.analyze_query, proxy.global.analyzed
    local query, time, all = inj.query:sub(2), inj.query_time, analyzed.all
    local tokens = tokenizer.tokenize(query)
    local is_trusted = all.count >= options.min_queries
    if is_trusted and time >= options.min_query_time and time > all.average + OUTLIER * deviation(all) then
        report("outlier", time, all, query, tokens)
    elseif options.log_slower_queries and is_trusted and time > all.max then
        report("slowest so far", time, all, query, tokens)
    end
    add(all, time)
    local shape = tokenizer.normalize(tokens)
    local series = analyzed.shapes[shape]
    if not series and analyzed.shape_count < SHAPES_MAX then
        series = new_series()
        analyzed.shapes[shape] = series
        analyzed.shape_count = analyzed.shape_count + 1
    end
    if series then
        add(series, time)
    end
end

function read_query_result(inj)
    if inj.id == EXPLAIN then
        print_rows("explained", inj.resultset)
        return proxy.PROXY_IGNORE_RESULT
    elseif inj.id == PROCESSLIST then
        print_rows("connections", inj.resultset)
        return proxy.PROXY_IGNORE_RESULT
    end
    analyze(inj)
end
