-- Prints how long each statement took.

function read_query(packet)
    if packet:byte() == proxy.COM_QUERY then
        proxy.queries:append(1, packet)
        return proxy.PROXY_SEND_QUERY
    end
end

function read_query_result(inj)
    -- Up to the first packet of the result, and up to the last.
    print(("%d us, %d us: %s"):format(inj.query_time, inj.response_time, inj.query:sub(2)))
end
