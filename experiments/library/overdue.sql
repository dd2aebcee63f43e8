-- A branch writes to readers whose loans are overdue.
\set branch random(1, 8)
SELECT reader_name, mail, title, due FROM open_loan
WHERE branch = :branch AND due < '2025-12-01' ORDER BY due, loan LIMIT 50;
