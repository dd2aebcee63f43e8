//! Tests of condensed traces.

use super::*;

const TRACE: &str = r#"{"steps":[{"join_optimization":{"select#":1,"steps":[
    {"rows_estimation":[{"table":"`page` `p`","range_analysis":{
        "potential_range_indexes":[{"index":"len","usable":false,"cause":"not_applicable"}],
        "analyzing_range_alternatives":{"range_scan_alternatives":[
            {"index":"touched","rows":900,"cost":300,"chosen":false,"cause":"cost"}]}}}]},
    {"considered_execution_plans":[
        {"plan_prefix":[],"table":"`page` `p`",
         "best_access_path":{"considered_access_paths":[{"access_type":"scan","rows":9,"cost":2,"chosen":true}]},
         "cost_for_plan":2,"rest_of_plan":[
            {"table":"`revision` `r`","best_access_path":{"considered_access_paths":[
                {"access_type":"ref","index":"k","rows":4,"cost":8,"chosen":true},
                {"access_type":"scan","chosen":false,"cost":90,"cause":"covering_index_better_than_full_scan"}]},
             "cost_for_plan":10,"rows_for_plan":36,"chosen":true}]},
        {"table":"`revision` `r`","best_access_path":{},"cost_for_plan":50,"pruned_by_cost":true}]}]}}]}"#;

#[test]
fn orders_and_rejected_indexes_are_found() {
    let trace = Trace::parse(TRACE).unwrap();
    let [block] = trace.blocks.as_slice() else {
        panic!("{trace:?}")
    };
    assert_eq!((block.number, block.considered), (Some(1), 2));
    let chosen = &block.orders[0];
    let tables: Vec<&str> = chosen.steps.iter().map(|it| it.table.as_str()).collect();
    assert_eq!(
        (tables, chosen.cost),
        (vec!["page p", "revision r"], Some(10.0))
    );
    assert_eq!(chosen.steps[1].index.as_deref(), Some("k"));
    assert_eq!(block.orders[1].outcome, Outcome::Pruned);
    let reasons: Vec<&str> = block.rejected.iter().map(|it| it.reason.as_str()).collect();
    let expected = [
        "no condition compares its columns with a value",
        "more expensive",
        "covering index better than full scan",
    ];
    assert_eq!(reasons, expected);
}

/// The condensed block of these plans; `best` are the names of `best_join_order`.
fn block(plans: &str, best: &str) -> TracedBlock {
    let best = if best.is_empty() {
        String::new()
    } else {
        format!(r#",{{"best_join_order":{best}}}"#)
    };
    let text = format!(
        r#"{{"steps":[{{"join_optimization":{{"select_id":1,"steps":[{{"considered_execution_plans":{plans}}}{best}]}}}}]}}"#
    );
    Trace::parse(&text).unwrap().blocks.remove(0)
}

/// Outcome, tables, rows and cost of each order.
fn summary(block: &TracedBlock) -> Vec<(Outcome, String, Option<f64>, Option<f64>)> {
    let orders = block.orders.iter();
    let summary = orders.map(|it| {
        let tables: Vec<&str> = it.steps.iter().map(|step| step.table.as_str()).collect();
        (it.outcome, tables.join(" "), it.rows, it.cost)
    });
    summary.collect()
}

#[test]
fn the_cost_of_a_semi_joins_strategy_replaces_that_of_the_join() {
    // MySQL 8.0.33, shortened.
    let mysql = r#"[
        {"table":"`revision`","cost_for_plan":417.1,"semijoin_strategy_choice":[{"strategy":"MaterializeScan","choice":"deferred"}],
         "rest_of_plan":[{"table":"`ten`","rows_for_plan":456.7,"cost_for_plan":576.9,"chosen":true,"semijoin_strategy_choice":[
            {"strategy":"MaterializeScan","cost":669.3,"rows":1,"chosen":true},
            {"strategy":"DuplicatesWeedout","cost":624.6,"rows":10,"chosen":true}]}]},
        {"table":"`ten`","cost_for_plan":1.25,"rest_of_plan":[
            {"table":"`revision`","rows_for_plan":456.7,"cost_for_plan":829.4,"chosen":true,"semijoin_strategy_choice":[
                {"strategy":"FirstMatch","cost":829.4,"rows":10,"chosen":true},
                {"strategy":"MaterializeLookup","cost":466.0,"rows":10,"chosen":true},
                {"strategy":"DuplicatesWeedout","cost":877.1,"rows":10,"chosen":false}]}]}]"#;
    let (ten, revision) = (Some(10.0), "revision ten".to_owned());
    let expected = [
        (Outcome::Chosen, "ten revision".to_owned(), ten, Some(466.0)),
        (Outcome::Dearer, revision, ten, Some(624.6)),
    ];
    assert_eq!(summary(&block(mysql, "")), expected);
}

#[test]
fn a_materialised_subquery_stands_for_its_tables_in_the_chosen_order() {
    // MariaDB 10.11, shortened: the names of the costs are those of 10 and of 11.
    let mariadb = r#"[
        {"table":"author","cost_for_plan":9,"rest_of_plan":[
            {"table":"page","cost_for_plan":13666,"rest_of_plan":[
                {"table":"revision","rows_for_plan":9120,"cost_for_plan":15800,"semijoin_strategy_choice":[
                    {"strategy":"FirstMatch","records":40,"read_time":15800},
                    {"strategy":"SJ-Materialization","records":40,"read_time":300},
                    {"chosen_strategy":"SJ-Materialization"}]}]},
            {"table":"revision","cost_for_plan":4755,"rest_of_plan":[
                {"table":"page","rows_for_plan":9120,"cost_for_plan":15699,"semijoin_strategy_choice":[
                    {"strategy":"SJ-Materialization","rows":40,"cost":240},
                    {"strategy":"DuplicateWeedout","rows":40,"total_cost":109179},
                    {"chosen_strategy":"SJ-Materialization"}]}]}]},
        {"table":"page","cost_for_plan":341,"rest_of_plan":[
            {"table":"author","rows_for_plan":34120,"cost_for_plan":166,"pruned_by_cost":true},
            {"table":"revision","cost_for_plan":536,"rest_of_plan":[
                {"table":"author","rows_for_plan":3,"cost_for_plan":230,"semijoin_strategy_choice":[
                    {"strategy":"DuplicateWeedout","rows":3,"total_cost":900},
                    {"chosen_strategy":"DuplicateWeedout"}]}]}]}]"#;
    let forty = Some(40.0);
    let expected = [
        (
            Outcome::Chosen,
            "author revision page".to_owned(),
            forty,
            Some(240.0),
        ),
        (
            Outcome::Dearer,
            "author page revision".to_owned(),
            forty,
            Some(300.0),
        ),
        (
            Outcome::Dearer,
            "page revision author".to_owned(),
            Some(3.0),
            Some(900.0),
        ),
        (
            Outcome::Pruned,
            "page author".to_owned(),
            Some(34120.0),
            Some(166.0),
        ),
    ];
    let found = block(mariadb, r#"["author","<subquery2>"]"#);
    assert_eq!(summary(&found), expected);
}

#[test]
fn a_way_that_was_not_taken_has_the_reason_of_the_trace_or_none() {
    let sentences = |paths: &str| {
        let plans = format!(
            r#"[{{"table":"`o`","best_access_path":{{"considered_access_paths":[{paths}]}},"chosen":true}}]"#
        );
        let block = block(&plans, "");
        let rejected = block.rejected.iter().map(Rejected::sentence);
        rejected.collect::<Vec<_>>()
    };
    for (path, expected) in [
        (
            r#"{"access_type":"ref","index":"PRIMARY","usable":false,"chosen":false}"#,
            "o, index PRIMARY: not usable",
        ),
        (
            r#"{"access_type":"range","range_details":{"used_index":"d"},"rows_to_scan":267,
                "resulting_rows":90,"cost":10753.1,"chosen":false}"#,
            "o, index d: more expensive (267 rows, cost 10.8k against 700)",
        ),
        // MariaDB 10.11, beside a dearer way that was taken.
        (
            r#"{"access_type":"scan","resulting_rows":9,"cost":15.6,"chosen":false}"#,
            "o, whole table: not chosen (9 rows, cost 15.6)",
        ),
        (
            r#"{"access_type":"range","resulting_rows":9,"cost":900,"chosen":false,"cause":"cost"}"#,
            "o, range of an index: more expensive (9 rows, cost 900 against 700)",
        ),
        (
            r#"{"access_type":"range","range_index":"d","chosen":false,"cause":"heuristic_index_cheaper"}"#,
            "o, index d: another index is cheaper by rule of thumb",
        ),
    ] {
        let chosen = r#"{"access_type":"ref","index":"k","rows":1,"cost":700,"chosen":true}"#;
        assert_eq!(sentences(&format!("{chosen},{path}")), [expected]);
        assert_eq!(sentences(&format!("{path},{chosen}")), [expected]);
    }
}

#[test]
fn a_way_that_is_usable_behind_another_table_is_judged_there() {
    let found = block(
        r#"[{"table":"`i`","best_access_path":{"considered_access_paths":[
                {"access_type":"ref","index":"PRIMARY","usable":false,"chosen":false},
                {"access_type":"scan","rows":9,"cost":2,"chosen":true}]},"cost_for_plan":2,"rest_of_plan":[]},
            {"table":"`o`","best_access_path":{},"rest_of_plan":[
                {"table":"`i`","best_access_path":{"considered_access_paths":[
                    {"access_type":"ref","index":"PRIMARY","rows":1,"cost":5,"chosen":false},
                    {"access_type":"scan","rows":9,"cost":2,"chosen":true}]},"cost_for_plan":4,"chosen":true}]}]"#,
        "",
    );
    let sentences: Vec<String> = found.rejected.iter().map(Rejected::sentence).collect();
    let expected = "i, index PRIMARY: more expensive (1 row, cost 5.00 against 2.00)";
    assert_eq!(sentences, [expected]);
}

#[test]
fn an_order_shows_the_rows_that_are_read_and_those_behind_the_filter() {
    let found = block(
        r#"[{"table":"`customer` `c`","best_access_path":{"considered_access_paths":[
                {"rows_to_scan":29952,"access_type":"scan","resulting_rows":2995.2,"cost":3000,"chosen":true}]},
             "cost_for_plan":3000,"chosen":true},
            {"table":"`customer` `d`","best_access_path":{"considered_access_paths":[
                {"access_type":"scan","rows":20,"rows_after_filter":20,"cost":30,"chosen":true}]},
             "cost_for_plan":2000}]"#,
        r#"["`customer` `c`"]"#,
    );
    let chosen = found.orders[0].cost;
    let sentences: Vec<String> = found.orders.iter().map(|it| it.sentence(chosen)).collect();
    assert_eq!(
        sentences,
        [
            "chosen: customer c (scan 30.0k rows, 3.00k after the filter): cost 3.00k",
            // The chosen one costs more: that is no reason.
            "not chosen: customer d (scan 20 rows): cost 2.00k, 0.667x",
        ]
    );
}

#[test]
fn a_cut_trace_is_an_error() {
    assert!(Trace::parse(&TRACE[..200]).is_err());
}
