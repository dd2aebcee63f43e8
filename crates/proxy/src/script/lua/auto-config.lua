-- proxy.auto-config: SQL-like statements that show and set proxy.global.config.

local tokenizer = require("mysql.tokenizer")

local M = {}

-- Longer statements are none of ours, and not worth splitting.
local STATEMENT_MAX = 128

local config = proxy.global.config

local function answer_error(text)
    proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = text }
    return proxy.PROXY_SEND_RESULT
end

local function answer_ok(affected_rows)
    proxy.response = { type = proxy.MYSQLD_PACKET_OK, affected_rows = affected_rows }
    return proxy.PROXY_SEND_RESULT
end

-- All options as rows of module, option, value and type, in the order of their names.
local function option_rows(tbl)
    local rows = {}
    for module_name, options in pairs(tbl) do
        if type(options) == "table" then
            for option, value in pairs(options) do
                rows[#rows + 1] = { module_name, option, tostring(value), type(value) }
            end
        end
    end
    table.sort(rows, function(a, b)
        if a[1] ~= b[1] then
            return a[1] < b[1]
        end
        return a[2] < b[2]
    end)
    return rows
end

local function show(tbl)
    local fields = {}
    for i, name in ipairs { "module", "option", "value", "type" } do
        fields[i] = { name = name, type = proxy.MYSQL_TYPE_STRING }
    end
    proxy.response = {
        type = proxy.MYSQLD_PACKET_OK,
        resultset = { fields = fields, rows = option_rows(tbl) },
    }
    return proxy.PROXY_SEND_RESULT
end

-- Sets an option to a value of the type that it has; returns what is wrong, if anything is.
local function set(tbl, module_name, option, value)
    local options = tbl[module_name]
    if type(options) ~= "table" then
        return "module not known"
    end
    if options[option] == nil then
        return "option not know"
    end
    local expected, got = type(options[option]), type(value)
    if expected ~= got then
        return ("(auto-config) expected a %s, got %s"):format(expected, got)
    end
    options[option] = value
end

local function literal(value)
    if type(value) == "string" then
        return ("%q"):format(value)
    end
    return tostring(value)
end

function M.save(tbl, filename)
    local file, problem = io.open(filename, "w")
    if not file then
        return nil, problem
    end
    file:write("return {\n")
    local last
    for _, row in ipairs(option_rows(tbl)) do
        local module_name, option = row[1], row[2]
        if module_name ~= last then
            file:write(last and "  },\n" or "", ("  [%q] = {\n"):format(module_name))
            last = module_name
        end
        file:write(("    [%q] = %s,\n"):format(option, literal(tbl[module_name][option])))
    end
    file:write(last and "  },\n" or "", "}\n")
    file:close()
    return true
end

function M.load(tbl, filename)
    local chunk, problem = loadfile(filename)
    if not chunk then
        return nil, problem
    end
    -- The file is data: it gets no functions.
    setfenv(chunk, {})
    local ok, loaded = pcall(chunk)
    if not ok or type(loaded) ~= "table" then
        return nil, ok and (filename .. " returns no table") or loaded
    end
    for module_name, options in pairs(loaded) do
        if type(options) == "table" then
            tbl[module_name] = tbl[module_name] or {}
            for option, value in pairs(options) do
                tbl[module_name][option] = value
            end
        end
    end
    return true
end

-- The value of the tokens from place i to the last; nil if they are none.
local function value_of(words, i)
    local token, after = words[i], words[i + 1]
    if not token then
        return nil
    end
    if token.name == "TK_MINUS" and after and after.name == "TK_INTEGER" and not words[i + 2] then
        return -tonumber(after.text)
    end
    if after then
        return nil
    end
    if token.name == "TK_STRING" then
        return token.text
    elseif token.name == "TK_INTEGER" then
        return tonumber(token.text)
    elseif token.upper == "TRUE" then
        return true
    elseif token.upper == "FALSE" then
        return false
    end
end

-- Whether the tokens begin with these words.
local function begins(words, expected)
    for i, word in ipairs(expected) do
        if not words[i] or words[i].upper ~= word then
            return false
        end
    end
    return true
end

local function file_statement(tbl, words, action)
    local file = words[5]
    if not file or file.name ~= "TK_STRING" or words[6] then
        return nil
    end
    local ok, problem = action(tbl, file.text)
    if not ok then
        return answer_error(problem)
    end
    return answer_ok(0)
end

function M.handle(tbl, cmd)
    -- The older form has only the command.
    if cmd == nil then
        tbl, cmd = config, tbl
    end
    if cmd.type ~= proxy.COM_QUERY or #cmd.query > STATEMENT_MAX then
        return nil
    end
    local words = {}
    local tokens = tokenizer.tokenize(cmd.query)
    for i = 1, #tokens do
        local token = tokens[i]
        if token.token_name ~= "TK_COMMENT" then
            words[#words + 1] = { name = token.token_name, text = token.text, upper = token.text:upper() }
        end
    end
    if begins(words, { "PROXY", "SHOW", "CONFIG" }) and not words[4] then
        return show(tbl)
    elseif begins(words, { "PROXY", "SAVE", "CONFIG", "INTO" }) then
        return file_statement(tbl, words, M.save)
    elseif begins(words, { "PROXY", "LOAD", "CONFIG", "FROM" }) then
        return file_statement(tbl, words, M.load)
    elseif begins(words, { "PROXY", "SET", "GLOBAL" })
        and words[4] and words[5] and words[5].name == "TK_DOT"
        and words[6] and words[7] and words[7].name == "TK_EQ"
    then
        local value = value_of(words, 8)
        if value == nil then
            return nil
        end
        local problem = set(tbl, words[4].text, words[6].text, value)
        if problem then
            return answer_error(problem)
        end
        return answer_ok(1)
    end
    return nil
end

config.handle, config.save, config.load = M.handle, M.save, M.load

return M
