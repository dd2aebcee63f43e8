-- proxy.tokenizer: texts and shapes of statements from their tokens.

local tokenizer = require("mysql.tokenizer")

local M = {}

M.tokenize = tokenizer.tokenize

local function is_comment(token)
    return token.token_name == "TK_COMMENT"
end

-- Calls f(token) for each token from first to last that is no comment.
local function each_bare(tokens, f, first, last)
    for i = first or 1, last or #tokens do
        local token = tokens[i]
        if token and not is_comment(token) then
            f(token)
        end
    end
end

function M.first_stmt_token(tokens)
    for i = 1, #tokens do
        local token = tokens[i]
        if token and not is_comment(token) then
            return token
        end
    end
    return nil
end

-- Words that begin a statement and are no keywords to the tokenizer.
local LEADING = { COMMIT = true, ROLLBACK = true, BEGIN = true, START = true }

-- The statement without its values: statements of one shape become the same text.
function M.normalize(tokens)
    local parts = {}
    local first, second
    each_bare(tokens, function(token)
        local name, text = token.token_name, token.text
        local upper = text:upper()
        if name == "TK_COMMENT_MYSQL" then
            parts[#parts + 1] = "/*!" .. text .. "*/ "
            return
        end
        second = first and second == nil and upper or second or nil
        local is_first = first == nil
        first = first or upper
        if name == "TK_STRING" or name == "TK_INTEGER" or name == "TK_FLOAT" then
            parts[#parts + 1] = "? "
        elseif name == "TK_LITERAL" then
            if text:sub(1, 1) == "@" then
                parts[#parts + 1] = text .. " "
            elseif is_first and LEADING[upper] then
                parts[#parts + 1] = upper .. " "
            elseif first == "START" and upper == "TRANSACTION" and not is_first then
                parts[#parts + 1] = upper .. " "
            else
                parts[#parts + 1] = "`" .. text .. "` "
            end
        elseif name == "TK_FUNCTION" then
            parts[#parts + 1] = upper
        else
            parts[#parts + 1] = upper .. " "
        end
    end)
    return table.concat(parts)
end

local function quoted(token)
    return ("%q"):format(token.text)
end

function M.bare_tokens(tokens, quote_strings)
    local texts = {}
    each_bare(tokens, function(token)
        local is_quoted = quote_strings and token.token_name == "TK_STRING"
        texts[#texts + 1] = is_quoted and quoted(token) or token.text
    end)
    return texts
end

function M.tokens_without_comments(tokens)
    return M.bare_tokens(tokens)
end

function M.tokens_to_query(tokens, first, last)
    local parts = {}
    local separator = ""
    each_bare(tokens, function(token)
        local name, text = token.token_name, token.text
        if name == "TK_STRING" then
            text = quoted(token)
        elseif name == "TK_COMMENT_MYSQL" then
            text = "/*!" .. text .. "*/"
        end
        parts[#parts + 1] = separator .. text
        separator = name == "TK_FUNCTION" and "" or " "
    end, first, last)
    -- A blank belongs to each string, also to the last one.
    local last = parts[#parts]
    return table.concat(parts) .. (last and last:sub(-1) == '"' and " " or "")
end

return M
