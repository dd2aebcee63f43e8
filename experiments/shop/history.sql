-- A customer looks at the last orders.
\list customers from query "SELECT id FROM customer ORDER BY id" zipf 1.1
\draw customers
SELECT o.id, o.created, o.state, SUM(l.quantity * p.price) AS total
FROM (SELECT id, created, state FROM orders WHERE customer = :id ORDER BY created DESC LIMIT 10) AS o
  JOIN order_line l ON l.orders = o.id JOIN product p ON p.id = l.product
GROUP BY o.id, o.created, o.state ORDER BY o.created DESC;
