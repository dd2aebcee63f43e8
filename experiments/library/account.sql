-- A reader looks at the last loans.
\list readers from query "SELECT id FROM reader ORDER BY id" zipf 1.1
\draw readers
SELECT b.title, l.lent, l.due, l.returned, l.days_kept
FROM loan l JOIN copy c ON c.id = l.copy JOIN book b ON b.id = c.book
WHERE l.reader = :id ORDER BY l.lent DESC LIMIT 10;
