-- A visitor looks at a product; a few products are looked at most.
\list products from query "SELECT id FROM product ORDER BY id" zipf 1.1
\draw products
SELECT name, price, stock, description FROM product WHERE id = :id;
