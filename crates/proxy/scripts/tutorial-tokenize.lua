-- Prints the tokens of each statement, and the statement without its values.

local tokenizer = require("proxy.tokenizer")

function read_query(packet)
    if packet:byte() ~= proxy.COM_QUERY then
        return nil
    end
    local tokens = tokenizer.tokenize(packet:sub(2))
    for i = 1, #tokens do
        print(("%d: %s %s"):format(i, tokens[i].token_name, tokens[i].text))
    end
    print("normalized: " .. tokenizer.normalize(tokens))
end
