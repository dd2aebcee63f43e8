-- A report reads a whole table and groups its rows.
SELECT k DIV 10000 AS class, COUNT(*), AVG(LENGTH(c)), MIN(pad), MAX(pad) FROM sbtest1 GROUP BY class ORDER BY class;
