//! Tests of what only the author of a statement can change.

use super::*;

/// The candidates for a select with a condition on table `t`, of which 5000 rows are read.
fn of(condition: &str, types: &[(&str, &str)]) -> Vec<String> {
    let tree = SCAN.replace("rows=5)", "rows=5000)");
    let text = format!("select 1 AS `1` from `s`.`t` where {condition}");
    candidates(&tree, &text, types, &[])
}

#[test]
fn a_function_that_has_no_range_gets_no_advice_of_one() {
    for (condition, expected) in [
        (
            "(month(`s`.`t`.`day`) = 5)",
            "compare day itself, or compare an indexed generated column that stores the whole expression",
        ),
        (
            "((to_days(<cache>(now())) - to_days(`s`.`t`.`day`)) > 30)",
            "compare day itself with a range of values",
        ),
        (
            "(timestampdiff(DAY,`s`.`t`.`day`,<cache>(now())) > 30)",
            "compare day itself, and do the arithmetic on the value",
        ),
        (
            "(coalesce(`s`.`t`.`day`,<cache>(now())) > '2020-01-01')",
            "compare day itself: no generated column can store an expression of the current time",
        ),
        (
            "(convert(`s`.`t`.`country` using utf8mb4) = 'x')",
            "give both sides of the comparison the same character set",
        ),
    ] {
        let types = [("day", "datetime"), ("country", "char")];
        assert_eq!(of(condition, &types), [expected], "{condition}");
    }
}

#[test]
fn a_cast_is_the_authors_or_the_servers() {
    let expression = "compare day itself, or compare an indexed generated column that stores the whole expression";
    let by_server = "give both sides of the comparison the same type";
    for (condition, rewritten, expected) in [
        (
            "time(day) = '10:00:00'",
            "(cast(`s`.`t`.`day` as time) = '10:00:00')",
            expression,
        ),
        (
            "timestamp (day) = '2020-01-01'",
            "(cast(`s`.`t`.`day` as datetime) = '2020-01-01')",
            expression,
        ),
        (
            "cast(day as double) = 5",
            "(cast(`s`.`t`.`day` as double) = 5)",
            expression,
        ),
        // Names of columns.
        (
            "t.date = 5 and country = 5",
            "(cast(`s`.`t`.`country` as double) = 5)",
            by_server,
        ),
        (
            "day = timestamp",
            "(cast(`s`.`t`.`day` as datetime(6)) = 5)",
            by_server,
        ),
        (
            "country = 5 and cast(c as date) = d",
            "(cast(`s`.`t`.`country` as double) = 5)",
            by_server,
        ),
    ] {
        let text = format!("select 1 from t where {condition}");
        let rewritten = format!("select 1 AS `1` from `s`.`t` where {rewritten}");
        let tree = SCAN.replace("rows=5)", "rows=5000)");
        let types = [("day", "datetime"), ("country", "char")];
        let found = candidates_of(&text, &tree, &rewritten, &types, &[]);
        assert_eq!(found, [expected], "{condition}");
    }
}

#[test]
fn an_index_of_the_expression_needs_no_advice() {
    let tree = "-> Index lookup on t using lower_code (lower(code)='x')  (cost=1 rows=900) \
                (actual time=0..1 rows=900 loops=1)\n";
    let text = "select 1 AS `1` from `s`.`t` where (lower(`s`.`t`.`code`) = 'x')";
    let types = [("code", "varchar"), ("day", "date")];
    assert_eq!(candidates(tree, text, &types, &[]), [""; 0]);
    // It serves no other condition.
    let other = format!("{text} and (year(`s`.`t`.`day`) = 2020)");
    assert_eq!(
        candidates(tree, &other, &types, &[]),
        ["compare day itself with a range of values"]
    );
    let upper = text.replace("lower", "upper");
    assert_eq!(
        candidates(tree, &upper, &types, &[]),
        [
            "compare code itself, or compare an indexed generated column that stores the whole expression"
        ]
    );
}

#[test]
fn a_text_is_no_key_of_a_join_with_a_number() {
    let types = [("ref", "varchar"), ("n", "int")];
    let text = "select 1 AS `1` from `s`.`u` join `s`.`t` where (`s`.`t`.`ref` = `s`.`u`.`n`)";
    let tree = SCAN.replace("rows=5)", "rows=5000)");
    let found = candidates(&tree, text, &types, &[]);
    assert_eq!(found, ["give t.ref and u.n the same type"]);
    let types = [("ref", "varchar"), ("n", "varchar")];
    let found = candidates(&tree, text, &types, &[]);
    assert_eq!(found, ["create index `index_t_ref` on `s`.`t` (`ref`)"]);
    // Nor has a list or a range of numbers a place in an index of text.
    let types = [("code", "varchar")];
    assert_eq!(
        of("(`s`.`t`.`code` in (5,6))", &types),
        ["compare code with a text in quotation marks, spelled as it is stored"]
    );
    assert_eq!(
        of("(`s`.`t`.`code` > 5)", &types),
        ["give code a numeric type: as texts, numbers have another order ('10' is less than '9')"]
    );
}

#[test]
fn a_pattern_finds_no_date_in_an_index() {
    let of = |kind| of("(`s`.`t`.`at` like '2020-05%')", &[("at", kind)]);
    assert_eq!(of("datetime"), ["compare at itself with a range of values"]);
    assert_eq!(
        of("varchar"),
        ["create index `index_t_at` on `s`.`t` (`at`)"]
    );
}
