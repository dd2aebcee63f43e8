-- The smallest script: prints each statement, and changes nothing.

function read_query(packet)
    -- The first byte says which command it is, the rest belongs to the command.
    if packet:byte() == proxy.COM_QUERY then
        print("query: " .. packet:sub(2))
    end
    -- Without a decision, the command passes.
end
