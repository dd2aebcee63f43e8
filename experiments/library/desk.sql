-- At the desk: one reader brings a book back, another takes one home.
\list readers from query "SELECT id FROM reader ORDER BY id"
\list copies from query "SELECT id FROM copy WHERE state = 'in' ORDER BY id"
\draw readers taker_
\draw readers bringer_
\draw copies copy_
CALL lend(:taker_id, :copy_id, NOW());
CALL give_back(:bringer_id, NOW());
