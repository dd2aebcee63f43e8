-- A public library: six tables, a view, two triggers and two procedures, as MariaDB and MySQL have them.
SET NAMES utf8mb4;
ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;

CREATE TABLE branch (
  id SMALLINT UNSIGNED NOT NULL AUTO_INCREMENT,
  name VARCHAR(60) NOT NULL,
  city VARCHAR(40) NOT NULL,
  opened DATE NOT NULL,
  closed DATE DEFAULT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY name (name)
) ENGINE=InnoDB;

CREATE TABLE book (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  isbn CHAR(13) CHARACTER SET ascii COLLATE ascii_bin DEFAULT NULL,
  title VARCHAR(160) NOT NULL,
  author VARCHAR(100) NOT NULL,
  language CHAR(2) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  published SMALLINT DEFAULT NULL,
  summary TEXT,
  PRIMARY KEY (id),
  UNIQUE KEY isbn (isbn),
  KEY author (author, published)
) ENGINE=InnoDB;

CREATE TABLE copy (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  book INT UNSIGNED NOT NULL,
  branch SMALLINT UNSIGNED NOT NULL,
  shelf VARCHAR(12) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  bought DATE NOT NULL,
  price DECIMAL(7,2) DEFAULT NULL,
  state ENUM('in', 'lent', 'lost') NOT NULL DEFAULT 'in',
  PRIMARY KEY (id),
  KEY book (book, state),
  KEY branch (branch),
  CONSTRAINT copy_book FOREIGN KEY (book) REFERENCES book (id),
  CONSTRAINT copy_branch FOREIGN KEY (branch) REFERENCES branch (id)
) ENGINE=InnoDB;

CREATE TABLE reader (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  card CHAR(10) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(80) NOT NULL,
  born DATE DEFAULT NULL,
  mail VARCHAR(120) DEFAULT NULL,
  joined DATE NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY card (card)
) ENGINE=InnoDB;

CREATE TABLE loan (
  id INT UNSIGNED NOT NULL AUTO_INCREMENT,
  copy INT UNSIGNED NOT NULL,
  reader INT UNSIGNED NOT NULL,
  lent DATETIME NOT NULL,
  due DATE NOT NULL,
  returned DATETIME DEFAULT NULL,
  days_kept SMALLINT GENERATED ALWAYS AS (TO_DAYS(returned) - TO_DAYS(lent)) STORED,
  PRIMARY KEY (id),
  KEY copy (copy),
  KEY reader (reader, lent),
  CONSTRAINT loan_copy FOREIGN KEY (copy) REFERENCES copy (id),
  CONSTRAINT loan_reader FOREIGN KEY (reader) REFERENCES reader (id)
) ENGINE=InnoDB;

CREATE TABLE hold (
  book INT UNSIGNED NOT NULL,
  reader INT UNSIGNED NOT NULL,
  placed DATETIME NOT NULL,
  note VARCHAR(100) DEFAULT NULL,
  PRIMARY KEY (book, reader),
  KEY reader (reader),
  CONSTRAINT hold_book FOREIGN KEY (book) REFERENCES book (id),
  CONSTRAINT hold_reader FOREIGN KEY (reader) REFERENCES reader (id)
) ENGINE=InnoDB;

-- What is not back yet.
CREATE VIEW open_loan AS
SELECT l.id AS loan, l.lent, l.due, c.branch, b.title, r.name AS reader_name, r.mail
FROM loan l JOIN copy c ON c.id = l.copy JOIN book b ON b.id = c.book JOIN reader r ON r.id = l.reader
WHERE l.returned IS NULL;

DELIMITER //
CREATE TRIGGER loan_begins AFTER INSERT ON loan FOR EACH ROW
BEGIN
  IF NEW.returned IS NULL THEN
    UPDATE copy SET state = 'lent' WHERE id = NEW.copy;
  END IF;
END //

CREATE TRIGGER loan_ends AFTER UPDATE ON loan FOR EACH ROW
BEGIN
  IF OLD.returned IS NULL AND NEW.returned IS NOT NULL THEN
    UPDATE copy SET state = 'in' WHERE id = NEW.copy;
  END IF;
END //

-- A reader takes a copy, if it is there and the reader has fewer than five others.
CREATE PROCEDURE lend (IN the_reader INT UNSIGNED, IN the_copy INT UNSIGNED, IN today DATETIME)
BEGIN
  DECLARE has INT DEFAULT 0;
  DECLARE copy_state VARCHAR(4);
  START TRANSACTION;
  SELECT state INTO copy_state FROM copy WHERE id = the_copy FOR UPDATE;
  SELECT COUNT(*) INTO has FROM loan WHERE reader = the_reader AND returned IS NULL;
  IF copy_state = 'in' AND has < 5 THEN
    INSERT INTO loan (copy, reader, lent, due)
    VALUES (the_copy, the_reader, today, DATE(today) + INTERVAL 28 DAY);
    DELETE h FROM hold h JOIN copy c ON c.book = h.book WHERE c.id = the_copy AND h.reader = the_reader;
  END IF;
  COMMIT;
END //

-- A reader brings the oldest loan back.
CREATE PROCEDURE give_back (IN the_reader INT UNSIGNED, IN today DATETIME)
BEGIN
  DECLARE oldest INT UNSIGNED;
  SELECT MIN(id) INTO oldest FROM loan WHERE reader = the_reader AND returned IS NULL;
  UPDATE loan SET returned = today WHERE id = oldest AND returned IS NULL;
END //
DELIMITER ;
