//! Searches for the highest rate that keeps a limit on the response time, among the records of a closed loop.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::time::Duration;

use samples::{Histogram, Record};
use sizing::{
    CheckRequest, Error, Executions, PredictionRequest, ResponseLimit, check_target, parse_target,
};
use verdict::RateQuestion;

/// A record of ten seconds; without a rate of a closed loop with twice as many operations.
fn record(experiment: &str, block: u32, rate_per_s: Option<u32>) -> Record {
    const OFFERED: &str = r#""behind":0,"late":0,"waiting_max":0,"not_started":0,"unfinished":0,"waits":{"count":0,"sum_ns":0,"min_ns":0,"max_ns":0,"histogram":"HISTFAAAABx4nJNpmSzMwMDAyAABzFAaxmey/wBlAQA8yQJ9"},"shortfall":null}"#;
    let per_s = u64::from(rate_per_s.unwrap_or(400));
    let (level, rate, process) = match rate_per_s {
        Some(rate) => (format!(r#","rate":"{rate}""#), rate.to_string(), "poisson"),
        None => (String::new(), "null".to_owned(), "closed"),
    };
    let mut histogram = Histogram::new();
    (0..per_s).for_each(|_| histogram.record(1_000_000));
    let histogram = serde_json::to_string(&histogram).unwrap();
    let mut lines = vec![
        format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"{experiment}","experiment_sha256":"","seed":1,"run":{block},"block":{block},"combination":{{"connections":"4"{level}}},"started_at":"2026-11-20T02:00:00Z","connections":4,"loops":1,"io":"epoll","transport":"unix socket"}}"#
        ),
        r#"{"line":"server","at":"start","version":"10.11.18-MariaDB","version_comment":"","address":"","private":true,"variables":{"innodb_buffer_pool_size":"536870912","sync_binlog":"1"}}"#.to_owned(),
        r#"{"line":"dataset","source":"shop.smack","rows":1,"disk_bytes":1073741824,"buffer_pool_bytes":536870912,"load_s":null,"state":"restored"}"#.to_owned(),
    ];
    for second in 0..10 {
        lines.push(format!(
            r#"{{"line":"interval","t_s":{second}.0,"length_s":1.0,"phase":"measurement","operations":[{{"load":"l","operation":"o","count":{per_s},"errors":0,"sum_ns":{},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#,
            per_s * 1_000_000
        ));
        lines.push(format!(
            r#"{{"line":"server_status","t_s":{second}.0,"length_s":1.0,"asked_s":0.0,"counters":{{"Innodb_os_log_fsyncs":{}}},"values":{{}}}}"#,
            per_s as f64 * 0.5
        ));
    }
    lines.push(format!(
        r#"{{"line":"offered","process":"{process}","rate_per_s":{rate},"due":{},{OFFERED}"#,
        per_s * 10
    ));
    lines.push(r#"{"line":"end","t_s":10.0,"complete":true,"why":"as planned"}"#.to_owned());
    Record::read((lines.join("\n") + "\n").as_bytes()).unwrap()
}

#[test]
fn a_search_among_the_records_says_which_share_keeps_the_limit() {
    let question = RateQuestion {
        combination: [("connections".to_owned(), "4".to_owned())].into(),
        limit: "p99 < 20 ms".to_owned(),
        quantile: 0.99,
        limit_ns: 20_000_000,
        from_per_s: None,
        to_per_s: Some(200.0),
        precision: 0.05,
        measured_s: 10.0,
        runs_at_most: 6,
        time_is_spent: false,
    };
    let search: Vec<Record> = (1..=6)
        .map(|run| record("shop-search", run, Some(200)))
        .collect();
    let mut executions = Executions::default();
    let error = executions.add_search("out", &question.answer(&search), &search);
    let error = error.unwrap_err();
    assert!(matches!(error, Error::NoClosedLoop { .. }), "{error}");
    for block in [1, 2] {
        let run = record("shop", block, None);
        executions.add("run.jsonl", 0, &run).unwrap();
    }
    // A search is not an execution of a closed loop.
    let refused = executions.add("search.jsonl", 0, &search[0]).unwrap_err();
    assert!(
        refused.to_string().contains("had a fixed rate"),
        "{refused}"
    );
    let mut other = search[0].clone();
    other.servers[0].version = "11.4.2-MariaDB".to_owned();
    let error = executions.add_search(
        "out",
        &question.answer(std::slice::from_ref(&other)),
        std::slice::from_ref(&other),
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.starts_with("out: another server than in run.jsonl"),
        "{error}"
    );
    executions
        .add_search("out", &question.answer(&search), &search)
        .unwrap();
    let request = CheckRequest {
        prediction: PredictionRequest {
            target: parse_target("fsync=1ms").unwrap(),
            zipf: None,
            draws: 20,
        },
        per_s: None,
        response_limit: Some(ResponseLimit(Duration::from_millis(20))),
    };
    let check = check_target(&executions, &request).unwrap();
    let allowed = check.response.unwrap().unwrap();
    // 200 of 400 operations/s, and the same half of 1 / (0.5 · 1 ms).
    assert!((allowed.share.share.estimate - 0.5).abs() < 1e-9);
    assert!((allowed.per_s.unwrap().estimate - 1000.0).abs() < 1e-6);
    assert!(allowed.share.is_at_least);
}
