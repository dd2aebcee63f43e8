CREATE TABLE page (
  page_id int(10) unsigned NOT NULL AUTO_INCREMENT,
  page_namespace int(11) NOT NULL,
  page_title varchar(255) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL,
  page_restrictions tinyblob NOT NULL,
  page_counter bigint(20) unsigned NOT NULL DEFAULT '0',
  page_is_redirect tinyint(3) unsigned NOT NULL DEFAULT '0',
  page_is_new tinyint(3) unsigned NOT NULL DEFAULT '0',
  page_random double unsigned NOT NULL,
  page_touched binary(14) NOT NULL DEFAULT '\0\0\0\0\0\0\0\0\0\0\0\0\0\0',
  page_latest int(10) unsigned NOT NULL,
  page_len int(10) unsigned NOT NULL,
  PRIMARY KEY (page_id),
  UNIQUE KEY name_title (page_namespace, page_title),
  KEY page_random (page_random),
  KEY page_len (page_len),
  KEY page_redirect_namespace_len (page_is_redirect, page_namespace, page_len)
) ENGINE=InnoDB DEFAULT CHARSET=utf8;
CREATE TABLE revision (
  rev_id int(10) unsigned NOT NULL AUTO_INCREMENT,
  rev_page int(10) unsigned NOT NULL,
  rev_text_id int(10) unsigned NOT NULL,
  rev_comment tinyblob NOT NULL,
  rev_user int(10) unsigned NOT NULL DEFAULT '0',
  rev_user_text varchar(255) CHARACTER SET utf8 COLLATE utf8_bin NOT NULL DEFAULT '',
  rev_timestamp binary(14) NOT NULL DEFAULT '\0\0\0\0\0\0\0\0\0\0\0\0\0\0',
  rev_minor_edit tinyint(3) unsigned NOT NULL DEFAULT '0',
  rev_deleted tinyint(3) unsigned NOT NULL DEFAULT '0',
  rev_len int(10) unsigned DEFAULT NULL,
  rev_parent_id int(10) unsigned DEFAULT NULL,
  rev_sha1 varbinary(32) NOT NULL DEFAULT '',
  PRIMARY KEY (rev_id),
  UNIQUE KEY rev_page_id (rev_page, rev_id),
  KEY rev_timestamp (rev_timestamp),
  KEY page_timestamp (rev_page, rev_timestamp),
  KEY user_timestamp (rev_user, rev_timestamp),
  KEY usertext_timestamp (rev_user_text, rev_timestamp),
  KEY page_user_timestamp (rev_page, rev_user, rev_timestamp)
) ENGINE=InnoDB DEFAULT CHARSET=utf8 MAX_ROWS=10000000 AVG_ROW_LENGTH=1024;
CREATE TABLE bit (b int NOT NULL PRIMARY KEY);
INSERT INTO bit VALUES (0), (1);
CREATE TABLE number (n int unsigned NOT NULL PRIMARY KEY);
INSERT INTO number SELECT a.b + 2 * b.b + 4 * c.b + 8 * d.b + 16 * e.b + 32 * f.b + 64 * g.b + 128 * h.b
  FROM bit a, bit b, bit c, bit d, bit e, bit f, bit g, bit h;
INSERT INTO number SELECT h.n * 256 + l.n FROM number h, number l WHERE h.n BETWEEN 1 AND 255;
INSERT INTO page SELECT n + 1, IF(n % 5 < 3, 0, n % 5 - 2), CONCAT('page ', n), '', 0, n % 4 = 1, 0, (n * 40503 % 65536) / 65536,
    DATE_FORMAT('2010-01-01' + INTERVAL n * 7919 % 105000 HOUR, '%Y%m%d%H%i%s'), n + 1, 100 + n * 7919 % 50000
  FROM number;
INSERT INTO revision SELECT n + 1, 1 + FLOOR(POW((n * 40503 % 65536) / 65536, 2) * 65536), n + 1, '',
    IF(n % 3 = 0, 0, 1 + FLOOR(POW((n * 25173 % 65536) / 65536, 3) * 3000)), CONCAT('user ', n % 3000),
    DATE_FORMAT('2003-01-01' + INTERVAL n * 7907 % 88000 HOUR, '%Y%m%d%H%i%s'), 0, 0, 100 + n * 7907 % 50000, NULL, ''
  FROM number;
DROP TABLE bit;
DROP TABLE number;
ANALYZE TABLE page, revision;
