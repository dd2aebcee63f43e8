-- A job changes a thousand rows in one transaction.
\set first random(1, 99000)
\set last :first + 999
UPDATE sbtest1 SET pad = REVERSE(pad) WHERE id BETWEEN :first AND :last;
