//! Fabricated records of runs side by side.

use report::{Factor, Results};
use samples::{Histogram, Record, RunParts};
use verdict::{Metric, Question};

/// Slices of a batch, and batches of a session.
const SLICES: u32 = 5;
const BATCHES: u32 = 4;

/// The line of a slice with this number of operations.
fn slice_line(t_s: f64, slice: u32, count: u64) -> String {
    let mut histogram = Histogram::new();
    (0..count).for_each(|_| histogram.record(1_000_000));
    let histogram = serde_json::to_string(&histogram).expect("it is a text");
    let sum_ns = count * 1_000_000;
    format!(
        r#"{{"line":"interval","t_s":{t_s:?},"length_s":0.5,"phase":"measurement","slice":{slice},"operations":[{{"load":"l","operation":"o","count":{count},"errors":0,"sum_ns":{sum_ns},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#
    )
}

/// One of two runs of a session; the second is faster by a fifth. The machine is slower in each second batch.
fn run(session: u32, flush: u32) -> Record {
    let number = 2 * (session - 1) + flush;
    let most = SLICES * BATCHES;
    let mut lines = vec![
        format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":{number},"block":{session},"combination":{{"flush":"{flush}"}},"started_at":"","connections":8,"loops":1,"io":"epoll","transport":"unix socket"}}"#
        ),
        format!(
            r#"{{"line":"side_by_side","combinations":[{{"flush":"1"}},{{"flush":"2"}}],"slice_s":0.5,"settle_s":0.1,"slices_per_batch":{SLICES},"slices_at_most":{most}}}"#
        ),
    ];
    for slice in 1..=most {
        let batch = (slice - 1) / SLICES;
        let speed = u64::from(100 - 20 * (batch % 2) + slice % 3);
        let count = match flush {
            1 => speed * 5,
            _ => speed * 6 + u64::from((slice + session) % 7),
        };
        // The two take turns from second 10 on.
        let t_s = 10.0 + f64::from(2 * (slice - 1) + flush - 1) * 0.6;
        lines.push(slice_line(t_s, slice, count));
        let pause_s = t_s + 0.5;
        lines.push(format!(
            r#"{{"line":"interval","t_s":{pause_s:?},"length_s":0.5,"phase":"pause","operations":[]}}"#
        ));
    }
    lines.push(r#"{"line":"end","t_s":40.0,"complete":true,"why":"as planned"}"#.to_owned());
    Record::read(lines.join("\n").as_bytes()).expect("these are lines of a record")
}

/// Two sessions of two combinations, and the question which is faster.
pub(crate) fn sliced() -> Results {
    let runs: Vec<Record> = [(1, 1), (1, 2), (2, 1), (2, 2)]
        .map(|(session, flush)| run(session, flush))
        .into();
    Results {
        name: "x".into(),
        question: "Which one is faster?".into(),
        experiment_text: String::new(),
        factors: vec![Factor {
            name: "flush".into(),
            levels: vec!["1".into(), "2".into()],
        }],
        chart: None,
        verdict: Some(question()),
        clauses: Vec::new(),
        expectations: Vec::new(),
        searches: Vec::new(),
        parts: RunParts::of(&runs),
        runs,
        disturbances: Default::default(),
        audit: None,
        planned_runs: 4,
    }
}

fn question() -> Question {
    Question {
        metric: Metric::Throughput,
        baseline: vec![("flush".into(), "1".into())],
        min_effect: 0.02,
        until_decided: None,
    }
}
