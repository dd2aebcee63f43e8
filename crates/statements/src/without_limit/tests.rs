//! Tests of statements without their LIMIT.

use sqltext::statements_of;

use super::*;

#[test]
fn the_limit_at_the_end_is_left_out() {
    for (text, without) in [
        (
            "select a from t order by b limit 5",
            Some(("select a, b from t order by b ", "a order by b limit 5")),
        ),
        (
            "select a from t limit 5 offset 2 for update",
            Some(("select a from t  for update", "a limit 5 offset 2")),
        ),
        (
            "select a from (select a from t limit 3) x order by a limit 1, 2",
            Some((
                "select a from (select a from t limit 3) x order by a ",
                "a order by a limit 1, 2",
            )),
        ),
        (
            "select /*+ NO_ICP(t) */ a from t limit 5",
            Some(("select /*+ NO_ICP(t) */ a from t ", "a limit 5")),
        ),
        (
            "select straight_join id as k, total from t order by k limit 5",
            Some((
                "select straight_join id as k, total from t order by k ",
                "id as k , total order by k limit 5",
            )),
        ),
        (
            "select id, total as k, o.day from o order by k desc, day, 2, id limit 5",
            Some((
                "select id, total as k, o.day from o order by k desc, day, 2, id ",
                "id , total as k , o . day order by k desc, day, 2, id limit 5",
            )),
        ),
        (
            "select count(*) n from t group by a order by n is null, n limit 5",
            Some((
                "select count(*) n, (count(*)) is null from t group by a order by n is null, n ",
                "count ( * ) n order by n is null, n limit 5",
            )),
        ),
        // An alias cannot stand in the list.
        (
            "select id, total as k from o order by abs(k + day) desc, id limit 5",
            Some((
                "select id, total as k, abs( (total) + day) from o \
                 order by abs(k + day) desc, id ",
                "id , total as k order by abs(k + day) desc, id limit 5",
            )),
        ),
        (
            "select * from t order by a, lower(b) limit 5",
            Some((
                "select *, lower(b) from t order by a, lower(b) ",
                "* order by a, lower(b) limit 5",
            )),
        ),
        // The month has another name in another language, and `n + day` is no column `day`.
        (
            "select distinct id, n + day from t \
             order by date_format(d, '%M') desc, day, id limit 5",
            Some((
                "select distinct id, n + day, date_format(d, '%M'), day from t \
                 order by date_format(d, '%M') desc, day, id ",
                "distinct id , n + day order by date_format(d, '%M') desc, day, id limit 5",
            )),
        ),
        (
            "select sum(x) as 'Total', a * 100 pct, 1 k, d + interval n day from t \
             order by Total, pct, k, day limit 5",
            Some((
                "select sum(x) as 'Total', a * 100 pct, 1 k, d + interval n day, day from t \
                 order by Total, pct, k, day ",
                "sum ( x ) as 'Total' , a * 100 pct , 1 k , d + interval n day \
                 order by Total, pct, k, day limit 5",
            )),
        ),
        // The unit of a time is no alias.
        (
            "select max(id), day(max(at)) as day from o \
             order by timestampdiff(day, max(at), d + interval (n + 1) day) + day limit 5",
            Some((
                "select max(id), day(max(at)) as day, \
                 timestampdiff(day, max(at), d + interval (n + 1) day) + (day(max(at))) from o \
                 order by timestampdiff(day, max(at), d + interval (n + 1) day) + day ",
                "max ( id ) , day ( max ( at ) ) as day \
                 order by timestampdiff(day, max(at), d + interval (n + 1) day) + day limit 5",
            )),
        ),
        (
            "with d as (select a, b from t limit 3) select a from d order by b limit 5",
            Some((
                "with d as (select a, b from t limit 3) select a, b from d order by b ",
                "a order by b limit 5",
            )),
        ),
        ("with d as (select a from t) delete from t limit 3", None),
        ("select a into @x from t order by b limit 1", None),
        // The key is one of the derived table.
        (
            "select id from (select id, -total as k from t) x order by k, id limit 5",
            Some((
                "select id, k from (select id, -total as k from t) x order by k, id ",
                "id order by k, id limit 5",
            )),
        ),
        ("select a from (select a from t limit 3) x", None),
        ("select a from t limit rows examined 9", None),
        ("select a from t union select b from u limit 3", None),
        ("delete from t limit 3", None),
    ] {
        let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
        let found = Unlimited::of(&statements[0]);
        let found = found.map(|it| (it.statement.text().to_vec(), it.part));
        let without = without.map(|(text, part)| (text.as_bytes().to_vec(), part.to_owned()));
        assert_eq!(found, without, "{text}");
    }
}

#[test]
fn the_limits_of_subqueries_are_left_out_too() {
    for (text, expected) in [
        (
            "select id from (select * from o limit 50) d order by id limit 3",
            Some(("select id from (select * from o ) d order by id ", false)),
        ),
        (
            "select id from (select * from o order by k limit 50, 2) d",
            Some(("select id from (select * from o order by k ) d", true)),
        ),
        (
            "select (select max(x) from (select x from u limit 9) v) m from t \
             where a in (select b from w order by c limit 5 for update)",
            Some((
                "select (select max(x) from (select x from u ) v) m from t \
                 where a in (select b from w order by c  for update)",
                true,
            )),
        ),
        ("select a from t limit 5", None),
        (
            "with d as (select * from o limit 50), e (a) as (select b from p) select a from d, e limit 5",
            Some((
                "with d as (select * from o ), e (a) as (select b from p) select a from d, e ",
                false,
            )),
        ),
        // Nothing else may end it.
        (
            "with recursive d as (select 1 a union all select a + 1 from d limit 9) select a from d",
            None,
        ),
        // A scalar subquery without LIMIT returns more than one row.
        (
            "select id, (select p from u order by d desc limit 1) from t limit 5",
            None,
        ),
        (
            "select if(a, 1, (select p from u limit 1)) m from t where b > (select q from v limit 1)",
            None,
        ),
        (
            "select (select p from u limit 1) from t, (select * from o limit 9) d, \
             ((select * from w limit 8)) e",
            Some((
                "select (select p from u limit 1) from t, (select * from o ) d, \
                 ((select * from w )) e",
                false,
            )),
        ),
        // Its own LIMIT cannot be left out.
        (
            "select a from (select a from t limit 3) x limit rows examined 9",
            None,
        ),
        (
            "select a from (select a from t limit rows examined 9) x",
            None,
        ),
        (
            "select a from (select a from t limit 3) x union select b from u",
            None,
        ),
    ] {
        let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
        let found = Unlimited::of_all(&statements[0]);
        let found = found.map(|it| (it.statement.text().to_vec(), it.hides_order));
        let expected = expected.map(|(text, hides)| (text.as_bytes().to_vec(), hides));
        assert_eq!(found, expected, "{text}");
    }
    let part = |text: &str| {
        let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
        Unlimited::of_all(&statements[0]).map(|it| it.part)
    };
    let plain = part("select a from (select a from t limit 3) x");
    let hinted = part("select /*+ BNL() */ a from (select a from t limit 3) x");
    let other = part("select a from (select a from t limit 4) x");
    assert_eq!(plain, hinted);
    assert_ne!(plain, other);
}

#[test]
fn a_scalar_subquery_with_a_limit_is_found() {
    for (text, expected) in [
        (
            "select a, (select b from u where u.a = t.a limit 1) from t",
            true,
        ),
        (
            "select a from t where b = (select b from u order by c limit 1)",
            true,
        ),
        ("select a from (select a from t limit 3) x", false),
        ("select a from t limit 3", false),
    ] {
        let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
        assert_eq!(has_scalar_limit(&statements[0]), expected, "{text}");
    }
}
