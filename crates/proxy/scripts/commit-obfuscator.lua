-- Turns a share of all COMMITs into a ROLLBACK and an error, for tests of programs that ought to try again.
--   PROXY SET GLOBAL commit_obfuscator.percent = 10

local commands = require("proxy.commands")
local tokenizer = require("proxy.tokenizer")
require("proxy.auto-config")

local config = proxy.global.config
config.commit_obfuscator = config.commit_obfuscator or { percent = 50 }

-- Numbers of the commands that this script sends.
local ROLLBACK = 1

function read_query(packet)
    local cmd = commands.parse(packet)
    local decision = config:handle(cmd)
    if decision then
        return decision
    end
    if cmd.type ~= proxy.COM_QUERY then
        return nil
    end
    local first = tokenizer.first_stmt_token(tokenizer.tokenize(cmd.query))
    if not first or first.text:upper() ~= "COMMIT" or math.random(100) > config.commit_obfuscator.percent then
        return nil
    end
    proxy.queries:append(ROLLBACK, string.char(proxy.COM_QUERY) .. "ROLLBACK", { resultset_is_needed = true })
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    if inj.id ~= ROLLBACK or inj.resultset.query_status ~= proxy.MYSQLD_PACKET_OK then
        return nil
    end
    proxy.response = {
        type = proxy.MYSQLD_PACKET_ERR,
        errmsg = "Lock wait timeout exceeded; try restarting transaction",
        errcode = 1205,
        sqlstate = "HY000",
    }
    return proxy.PROXY_SEND_RESULT
end
