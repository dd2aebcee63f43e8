-- coroutine.running: in MySQL Proxy the hooks of each connection run in a coroutine of their own, by which scripts tell
-- connections apart. Here they run in the main one, and a coroutine that never runs stands for the connection.

local redirect = ...

local native_running, create = coroutine.running, coroutine.create
local setmetatable = setmetatable

-- By the sessions' own parts of `proxy`; they live as long as these.
local of_sessions = setmetatable({}, { __mode = "k" })

local function nothing() end

function coroutine.running()
    local running = native_running()
    if running then
        return running
    end
    local session = redirect.__index
    local own = of_sessions[session]
    if not own then
        own = create(nothing)
        of_sessions[session] = own
    end
    return own
end
