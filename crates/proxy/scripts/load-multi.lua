-- Loads further scripts while the proxy runs, and calls their hooks one after the other until one decides:
--   PLOAD name, PUNLOAD name, PLOAD_HELP
-- A name is that of a file, with or without .lua, here or beside this script. The words may be changed by environment
-- variables of the same names. Every client may load every file that the proxy can read: use it for development.

local HOOKS = {
    "connect_server", "read_handshake", "read_auth", "read_auth_result", "read_query", "read_query_result",
    "disconnect_client",
}

local LOAD = (os.getenv("PLOAD") or "pload"):lower()
local UNLOAD = (os.getenv("PUNLOAD") or "punload"):lower()
local HELP = (os.getenv("PLOAD_HELP") or "pload_help"):lower()

-- The loaded scripts in their order: the path of each, and the number of its loading. The last number changes with them.
proxy.global.load_multi = proxy.global.load_multi or { scripts = {}, last = 0 }
local loaded = proxy.global.load_multi

local own_directory = debug.getinfo(1, "S").source:gsub("^@", ""):match("^(.*/)[^/]*$") or ""

-- This connection's copies of the scripts, by the numbers of their loading.
local copies, refreshed_at = {}, nil

-- Runs a script in an environment of its own; nil and why not, if it fails.
local function copy_of(path)
    local chunk, problem = loadfile(path)
    if not chunk then
        return nil, problem
    end
    local environment = setmetatable({}, { __index = _G })
    setfenv(chunk, environment)
    local ok, err = pcall(chunk)
    if not ok then
        return nil, err
    end
    return environment
end

local function refresh()
    if refreshed_at == loaded.last then
        return
    end
    local before = copies
    copies, refreshed_at = {}, loaded.last
    for _, script in ipairs(loaded.scripts) do
        local copy, problem = before[script.number], nil
        if not copy then
            copy, problem = copy_of(script.path)
        end
        copies[script.number] = copy
        if problem then
            print(("%s: %s"):format(script.path, problem))
        end
    end
end

local function find(name)
    for _, path in ipairs { name, name .. ".lua", own_directory .. name, own_directory .. name .. ".lua" } do
        local file = io.open(path)
        if file then
            file:close()
            return path
        end
    end
end

-- The place of a script in the list; without it, the place behind the last one, and false.
local function place_of(path)
    for i, script in ipairs(loaded.scripts) do
        if script.path == path then
            return i, true
        end
    end
    return #loaded.scripts + 1, false
end

local function answer_error(text)
    proxy.response = { type = proxy.MYSQLD_PACKET_ERR, errmsg = text }
    return proxy.PROXY_SEND_RESULT
end

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

local function load(name)
    local path = find(name)
    if not path then
        return answer_error("no script " .. name)
    end
    local copy, problem = copy_of(path)
    if not copy then
        return answer_error(problem)
    end
    -- Loaded again, it begins anew, here and in all other connections.
    loaded.last = loaded.last + 1
    loaded.scripts[place_of(path)] = { path = path, number = loaded.last }
    copies[loaded.last] = copy
    return answer_lines("info", { path .. " loaded" })
end

local function unload(name)
    local path = find(name)
    local place, is_loaded = place_of(path)
    if not is_loaded then
        return answer_error("script " .. name .. " is not loaded")
    end
    table.remove(loaded.scripts, place)
    loaded.last = loaded.last + 1
    return answer_lines("info", { path .. " unloaded" })
end

-- Answers the statements of this script.
local function own_statement(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return nil
    end
    local word, rest = packet:sub(2):match("^%s*(%S+)%s*(.-)%s*;?%s*$")
    word = word and word:gsub(";$", ""):lower()
    local name = rest and rest:gsub("^(['\"])(.*)%1$", "%2")
    if word == HELP and name == "" then
        local lines = { LOAD .. " name", UNLOAD .. " name", HELP }
        for _, script in ipairs(loaded.scripts) do
            lines[#lines + 1] = script.path .. " is loaded"
        end
        return answer_lines("help", lines)
    elseif word == LOAD and name ~= "" then
        return load(name)
    elseif word == UNLOAD and name ~= "" then
        return unload(name)
    end
end

local function first_decision(hook, argument)
    refresh()
    for _, script in ipairs(loaded.scripts) do
        local copy = copies[script.number]
        local f = copy and rawget(copy, hook)
        local decision = f and f(argument)
        if decision ~= nil then
            return decision
        end
    end
end

for _, hook in ipairs(HOOKS) do
    getfenv(1)[hook] = function(argument)
        return first_decision(hook, argument)
    end
end

local loaded_read_query = read_query

function read_query(packet)
    return own_statement(packet) or loaded_read_query(packet)
end
