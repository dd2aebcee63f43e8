-- A customer orders two products in one transaction.
\list customers from query "SELECT id FROM customer ORDER BY id" zipf 1.1
\list popular from query "SELECT id FROM product ORDER BY id" zipf 1.1
\list products from query "SELECT id FROM product ORDER BY id"
\draw customers customer_
\draw popular first_
\draw products second_
\set quantity random(1, 3)
BEGIN;
-- First, because the foreign key of a line takes a shared lock of its product, and two that share it cannot both change it.
UPDATE product SET stock = stock - :quantity WHERE id = :first_id;
INSERT INTO orders (customer, created, state) VALUES (:customer_id, NOW(), 'new');
SELECT LAST_INSERT_ID() AS id \gset order_
INSERT INTO order_line VALUES (:order_id, 1, :first_id, :quantity), (:order_id, 2, :second_id, 1);
COMMIT;
