-- The rows of the library, the same in every execution: what looks random is computed from the number of the row.
-- It takes MariaDB, for its sequences.
SET NAMES utf8mb4;

INSERT INTO branch (name, city, opened, closed) VALUES
  ('Main library', 'Łódź', '1911-05-02', NULL), ('Harbour', 'Gdańsk', '1954-09-01', NULL), ('Riverside', 'Łódź', '1968-03-11', NULL),
  ('Nordstadt', 'Görlitz', '1972-01-15', '2024-06-30'), ('Søndergade', 'Ærø', '1980-08-20', NULL), ('Παλιά Πόλη', 'Ρόδος', '1987-04-06', NULL),
  ('Rua São João', 'Évora', '1999-10-04', NULL), ('駅前', '札幌市', '2012-11-01', NULL);

-- A hash of a number of a row and of what it is for, as a number from 0 to 2^32 - 1.
CREATE FUNCTION h (n INT, what VARCHAR(9)) RETURNS INT UNSIGNED DETERMINISTIC RETURN CRC32(CONCAT(what, n, what));

CREATE FUNCTION forename (x INT UNSIGNED) RETURNS VARCHAR(20) CHARACTER SET utf8mb4 DETERMINISTIC
RETURN ELT(x % 24 + 1, 'Ana', 'Bożena', 'Chidi', 'Dóra', 'Eerika', 'Françoise', 'Göran', 'Hye-jin', 'İbrahim', 'João', 'Katarína', 'Lars',
  'Māra', 'Nikos', 'Øyvind', 'Pilar', 'Quentin', 'Rūta', 'Şebnem', 'Tomáš', 'Ulla', 'Věra', 'Wanjiru', 'Zoë');

CREATE FUNCTION surname (x INT UNSIGNED) RETURNS VARCHAR(20) CHARACTER SET utf8mb4 DETERMINISTIC
RETURN ELT(x % 24 + 1, 'Ågren', 'Băsescu', 'Čapek', 'Đorđević', 'Eco', 'Fuentes', 'Grün', 'Høeg', 'Ivanova', 'Járay', 'Κάλβος', 'Łukasik',
  'Müller', 'Núñez', 'Okri', 'Pärn', '李', 'Roşu', 'Šimko', 'Tóth', 'Ünal', 'Vīķe', '山田', 'Žižka');

CREATE FUNCTION word (x INT UNSIGNED) RETURNS VARCHAR(20) CHARACTER SET utf8mb4 DETERMINISTIC
RETURN ELT(x % 32 + 1, 'winter', 'harbour', 'a letter', 'the river', 'café', 'grey', 'silence', 'the engineer', 'noon', 'bees', 'salt',
  'the last train', 'gardens', 'a map', 'dust', 'brothers', 'fjord', 'glass', 'the clerk', 'north', 'orchard', 'señora', 'smoke', 'a bridge',
  'stone', 'the tailor', 'thunder', 'twelve', 'voices', 'the well', 'wolves', 'zero');

CREATE FUNCTION phrase (n INT, what VARCHAR(9)) RETURNS VARCHAR(80) CHARACTER SET utf8mb4 DETERMINISTIC
RETURN CONCAT_WS(ELT(h(n, what) % 3 + 1, ' and ', ', ', ' of '), word(h(n, what) >> 4), word(h(n, what) >> 10));

INSERT INTO book (isbn, title, author, language, published, summary)
SELECT IF(h(seq, 'i') % 9 = 0, NULL, 9780000000000 + seq * 104729 % 1000000000),
  CONCAT(UPPER(LEFT(phrase(seq, 't'), 1)), SUBSTRING(phrase(seq, 't'), 2), IF(h(seq, 't2') % 4 = 0, CONCAT(', vol. ', h(seq, 'v') % 9 + 1), '')),
  CONCAT(forename(h(seq, 'a') % 900), ' ', surname(h(seq, 'a') % 900 DIV 24)),
  ELT(h(seq, 'l') % 7 + 1, 'en', 'en', 'en', 'de', 'fr', 'pl', 'ja'),
  IF(h(seq, 'y') % 20 = 0, NULL, 2025 - FLOOR(SQRT(h(seq, 'y') % 6400))),
  IF(h(seq, 's') % 6 = 0, NULL, CONCAT('About ', phrase(seq, 's'), ': "', word(h(seq, 's3')), '", it''s ', phrase(seq, 's4'),
    IF(h(seq, 's5') % 8 = 0, ' 📚', '.'), IF(h(seq, 's6') % 10 = 0, CONCAT('\nBy the translator of ', phrase(seq, 's7'), '.'), '')))
FROM seq_1_to_5000;

-- The first books have the most copies.
INSERT INTO copy (book, branch, shelf, bought, price)
SELECT FLOOR(5000 * POW(h(seq, 'b') / 4294967296, 1.6)) + 1, h(seq, 'br') % 8 + 1,
  CONCAT(SUBSTRING('ABCDEFGHIJKLMNOPQRST', h(seq, 'sh') % 20 + 1, 1), '-', LPAD(h(seq, 'sh') % 400, 3, '0')), '2004-01-05' + INTERVAL h(seq, 'bo') % 6900 DAY,
  IF(h(seq, 'p') % 12 = 0, NULL, 4 + h(seq, 'p') % 4000 / 100)
FROM seq_1_to_12000;

INSERT INTO reader (card, name, born, mail, joined)
SELECT CONCAT('R', LPAD(seq * 7919 % 1000000, 7, '0')), CONCAT(forename(h(seq, 'f')), ' ', surname(h(seq, 'n'))),
  IF(h(seq, 'bd') % 15 = 0, NULL, '1938-01-01' + INTERVAL h(seq, 'bd') % 29000 DAY),
  IF(h(seq, 'm') % 5 = 0, NULL, CONCAT('reader', seq, '@example.', ELT(h(seq, 'm') % 3 + 1, 'org', 'net', 'com'))),
  '2001-01-02' + INTERVAL h(seq, 'j') % 9100 DAY
FROM seq_1_to_4000;

-- Three years of loans up to the end of November 2025, 55 a day. A copy is lent every 218 days and kept for 39 at most, so that no two
-- loans of a copy overlap; some never come back.
INSERT INTO loan (copy, reader, lent, due, returned)
SELECT seq * 7919 % 12000 + 1, FLOOR(4000 * POW(h(seq, 'r') / 4294967296, 1.5)) + 1,
  day + INTERVAL 540 + seq % 55 * 10 + h(seq, 'm') % 10 MINUTE, day + INTERVAL 28 DAY,
  IF(day + INTERVAL kept DAY > '2025-11-30' OR seq > 48000 AND h(seq, 'lost') % 60 = 0, NULL,
    day + INTERVAL kept DAY + INTERVAL 540 + h(seq, 'b') % 540 MINUTE)
FROM (
  SELECT seq, CAST('2022-12-05' + INTERVAL seq DIV 55 DAY AS DATETIME) AS day, 1 + h(seq, 'k') % 39 AS kept
  FROM seq_1_to_60000
) AS x;

-- The triggers come after the rows in a dump; here they came before, and know nothing of lost copies.
UPDATE copy c JOIN loan l ON l.copy = c.id SET c.state = 'lost' WHERE l.returned IS NULL AND l.due < '2025-09-01';

INSERT IGNORE INTO hold (book, reader, placed, note)
SELECT FLOOR(5000 * POW(h(seq, 'hb') / 4294967296, 3)) + 1, h(seq, 'hr') % 4000 + 1, '2025-11-01' + INTERVAL h(seq, 'ht') % 43200 MINUTE,
  IF(h(seq, 'hn') % 10 = 0, 'c/o Zoë – "urgent"', NULL)
FROM seq_1_to_1500;

DROP FUNCTION h;
DROP FUNCTION forename;
DROP FUNCTION surname;
DROP FUNCTION word;
DROP FUNCTION phrase;
