-- Prints the warnings of each statement.

-- Numbers of the commands that this script sends.
local QUERY, WARNINGS = 1, 2

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return nil
    end
    proxy.queries:append(QUERY, packet)
    return proxy.PROXY_SEND_QUERY
end

function read_query_result(inj)
    if inj.id == QUERY then
        if inj.resultset.warning_count > 0 then
            -- The queue may grow as long as it is sent.
            proxy.queries:append(WARNINGS, string.char(proxy.COM_QUERY) .. "SHOW WARNINGS", { resultset_is_needed = true })
        end
        return nil
    end
    if inj.resultset.fields then
        for row in inj.resultset.rows do
            print(("%s %s: %s"):format(row[1], row[2], row[3]))
        end
    end
    return proxy.PROXY_IGNORE_RESULT
end
