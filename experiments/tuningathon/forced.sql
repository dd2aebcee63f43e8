SELECT /* Q1 */ COUNT(*)
  FROM page p JOIN revision r ON p.page_id = r.rev_page
 WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0;
SELECT /* Q2 */ COUNT(*)
  FROM page p JOIN revision r ON p.page_id = r.rev_page
 WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0
   AND p.page_touched > DATE_FORMAT(NOW() - INTERVAL 1 YEAR, '%Y0101000000');
SELECT /* Q3 */ p.page_id
  FROM page p JOIN revision r ON p.page_id = r.rev_page
 WHERE p.page_is_redirect = 0 AND p.page_namespace = 0 AND r.rev_user = 0
 ORDER BY p.page_touched DESC LIMIT 10;
SELECT /* Q4 */ r.rev_user, COUNT(*) AS c
  FROM revision r FORCE INDEX (user_page) STRAIGHT_JOIN page p FORCE INDEX (id_redirect_namespace) ON p.page_id = r.rev_page
 WHERE p.page_is_redirect = 0 AND p.page_namespace = 0
 GROUP BY r.rev_user ORDER BY c DESC;
SELECT /* Q5 */ SUBSTRING(r.rev_timestamp, 1, 6), COUNT(*) AS c
  FROM revision r FORCE INDEX (page_timestamp) STRAIGHT_JOIN page p FORCE INDEX (id_redirect_namespace) ON p.page_id = r.rev_page
 WHERE p.page_is_redirect = 0 AND p.page_namespace = 0
 GROUP BY SUBSTRING(r.rev_timestamp, 1, 6) ORDER BY c DESC;
