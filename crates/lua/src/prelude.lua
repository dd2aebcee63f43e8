-- Errors of the host's functions reach a script as text, as those of Lua's own functions do: a script concatenates
-- and matches what pcall returns.
local text_of, is_stopped = ...
local type = type

local function with_text(ok, err, ...)
    if not ok and type(err) == "userdata" then
        return ok, text_of(err)
    end
    return ok, err, ...
end

local native_pcall, native_xpcall, native_resume = pcall, xpcall, coroutine.resume

function pcall(...)
    return with_text(native_pcall(...))
end

function xpcall(f, handler, ...)
    local function with_text_handler(err)
        if type(err) == "userdata" then
            err = text_of(err)
        end
        -- Instructions of a handler that the counter's own error calls are not counted.
        if is_stopped() then
            return err
        end
        return handler(err)
    end
    return native_xpcall(f, with_text_handler, ...)
end

function coroutine.resume(...)
    return with_text(native_resume(...))
end

string.gfind = string.gmatch
