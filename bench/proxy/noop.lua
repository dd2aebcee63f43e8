-- The least that a script can do to every command.
function read_query(packet) end
