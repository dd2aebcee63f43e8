-- proxy.parser: the tables that a statement reads and writes.

local M = {}

-- The name with its database; without a database, the client's default one.
function M.tablename_expand(name, db)
    if db == nil then
        db = proxy.connection.client.default_db
    end
    if db == nil or db == "" then
        return name
    end
    return db .. "." .. name
end

-- Words of the tokenizer before which a list of tables ends.
local ENDS = {
    TK_SQL_WHERE = true, TK_SQL_GROUP = true, TK_SQL_HAVING = true, TK_SQL_ORDER = true,
    TK_SQL_LIMIT = true, TK_SQL_PROCEDURE = true, TK_SQL_FOR = true, TK_SQL_UNION = true,
    TK_SQL_SET = true, TK_SEMICOLON = true,
}

-- The tokens that are no comments and not in braces; a brace is left as one token.
local function bare(tokens)
    local list, depth = {}, 0
    for i = 1, #tokens do
        local token = tokens[i]
        local name = token.token_name
        if name == "TK_OBRACE" then
            depth = depth + 1
            if depth == 1 then
                list[#list + 1] = { name = name, text = "(" }
            end
        elseif name == "TK_CBRACE" then
            depth = math.max(depth - 1, 0)
        elseif depth == 0 and name ~= "TK_COMMENT" and name ~= "TK_COMMENT_MYSQL" then
            list[#list + 1] = { name = name, text = token.text }
        end
    end
    return list
end

-- Reads `table` or `db.table` at place i; returns its whole name and the next place.
local function table_at(list, i)
    local token = list[i]
    if not token or (token.name ~= "TK_LITERAL" and token.name ~= "TK_FUNCTION") then
        return nil, i
    end
    local dot, last = list[i + 1], list[i + 2]
    if dot and dot.name == "TK_DOT" and last then
        return M.tablename_expand(last.text, token.text), i + 3
    end
    return M.tablename_expand(token.text), i + 1
end

-- Notes the tables of a list: separated by commas and joins, each with an alias and conditions.
local function note_list(list, i, tables, usage)
    local is_expected = true
    while list[i] and not ENDS[list[i].name] do
        local name = list[i].name
        if is_expected then
            is_expected = false
            local found, next_place = table_at(list, i)
            if found then
                tables[found] = tables[found] or usage
                i = next_place - 1
            end
        elseif name == "TK_COMMA" or name == "TK_SQL_JOIN" or name == "TK_SQL_STRAIGHT_JOIN" then
            is_expected = true
        end
        i = i + 1
    end
    return i
end

-- The place of the first token of this name from place i.
local function find(list, i, wanted)
    while list[i] do
        if list[i].name == wanted then
            return i
        end
        i = i + 1
    end
end

-- The first name of a table from place i; options before it are keywords.
local function note_next(list, i, tables)
    while list[i] do
        local upper = list[i].text:upper()
        local found = upper ~= "IF" and upper ~= "EXISTS" and table_at(list, i)
        if found then
            tables[found] = "write"
            return
        end
        i = i + 1
    end
end

local DEFINING = { CREATE = true, DROP = true, ALTER = true, RENAME = true }

function M.get_tables(tokens)
    local list, tables = bare(tokens), {}
    local verb = list[1] and list[1].text:upper()
    if verb == "SELECT" then
        local i = 1
        repeat
            i = find(list, i, "TK_SQL_FROM")
            i = i and note_list(list, i + 1, tables, "read")
        until not i
    elseif verb == "DELETE" then
        local i = find(list, 1, "TK_SQL_FROM")
        if i then
            note_list(list, i + 1, tables, "write")
        end
    elseif verb == "INSERT" then
        note_next(list, 2, tables)
    elseif verb == "UPDATE" then
        local i = 2
        while list[i] and (list[i].name == "TK_SQL_LOW_PRIORITY" or list[i].name == "TK_SQL_IGNORE") do
            i = i + 1
        end
        note_list(list, i, tables, "write")
    elseif DEFINING[verb] then
        local i = find(list, 2, "TK_SQL_TABLE")
        if i and verb == "CREATE" or i and verb == "ALTER" then
            note_next(list, i + 1, tables)
        elseif i then
            i = i + 1
            while list[i] do
                local upper = list[i].text:upper()
                local found, next_place
                if upper ~= "IF" and upper ~= "EXISTS" and upper ~= "TO" then
                    found, next_place = table_at(list, i)
                end
                if found then
                    tables[found] = "write"
                    i = next_place
                else
                    i = i + 1
                end
            end
        end
    end
    return tables
end

return M
