-- An order is paid.
\list orders from query "SELECT id FROM orders ORDER BY id"
\draw orders
UPDATE orders SET state = 'paid' WHERE id = :id AND state = 'new';
