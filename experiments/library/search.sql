-- The catalogue: an author's books, newest first, and how many copies of each are in.
\list authors from query "SELECT author FROM book GROUP BY author ORDER BY COUNT(*) DESC, author" zipf 1.1
\draw authors
SELECT b.id, b.title, b.published, COUNT(c.id) AS copies, SUM(c.state = 'in') AS is_in
FROM book b LEFT JOIN copy c ON c.book = b.id
WHERE b.author = :author GROUP BY b.id, b.title, b.published ORDER BY b.published DESC, b.id LIMIT 20;
