-- proxy.test: assertions for tests that are written in Lua.

local M = {}

local function text_of(value)
    return type(value) == "string" and ("%q"):format(value) or tostring(value)
end

function M.assertEquals(got, expected, message)
    if got ~= expected then
        local text = ("%sexpected %s, got %s"):format(message and message .. ": " or "", text_of(expected), text_of(got))
        error(text, 2)
    end
end

function M.assertNotEquals(got, unexpected, message)
    if got == unexpected then
        error((message and message .. ": " or "") .. "did not expect " .. text_of(got), 2)
    end
end

function M.assertTrue(got, message)
    if not got then
        error(message or ("expected a true value, got " .. text_of(got)), 2)
    end
end

function M.assertNil(got, message)
    if got ~= nil then
        error(message or ("expected nil, got " .. text_of(got)), 2)
    end
end

-- Whether f fails; returns its error.
function M.assertError(f, ...)
    local ok, err = pcall(f, ...)
    if ok then
        error("expected an error", 2)
    end
    return err
end

return M
