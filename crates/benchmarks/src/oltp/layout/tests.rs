//! Tests against the original's bytes, printed by sysbench 1.0.20.

use std::collections::BTreeMap;

use samples::{
    Durations, ErrorCount, Interval, Line, OperationInterval, Phase, Record, RecordWriter,
    ReturnedRows, RunHeader, StatementInterval,
};

use super::*;

#[test]
fn headers() {
    let open = Header {
        threads: 2,
        rate_per_s: Some(50.0),
        report_interval_s: Some(1),
        seed: Some(5),
        forced_shutdown: Some(Duration::from_millis(2_100)),
    };
    assert_eq!(
        super::header(&open),
        "Running the test with following options:\n\
         Number of threads: 2\n\
         Target transaction rate: 50/sec\n\
         Report intermediate results every 1 second(s)\n\
         Initializing random number generator from seed (5).\n\
         \n\
         Forcing shutdown in 3 seconds\n\
         \n\
         Initializing worker threads...\n\
         \n"
    );
    let plain = Header {
        threads: 1,
        ..Header::default()
    };
    assert_eq!(
        super::header(&plain),
        "Running the test with following options:\n\
         Number of threads: 1\n\
         Initializing random number generator from current time\n\
         \n\
         \n\
         Initializing worker threads...\n\
         \n"
    );
    assert_eq!(
        title("using system LuaJIT 2.1.0-beta3") + started(),
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nThreads started!\n\n"
    );
}

#[test]
fn intermediate_lines() {
    let now = Intermediate {
        t_s: 2.0,
        threads: 2,
        rates: Rates {
            events: 24.01,
            reads: 357.20,
            writes: 96.05,
            others: 50.03,
            errors: 0.0,
            reconnects: 0.0,
        },
        percentile: 95.0,
        latency_ms: 161.51,
        queue: Some((12, 2)),
    };
    assert_eq!(
        intermediate(&now),
        "[ 2s ] thds: 2 tps: 24.01 qps: 503.28 (r/w/o: 357.20/96.05/50.03) lat (ms,95%): 161.51 err/s: 0.00 \
         reconn/s: 0.00\n\
         [ 2s ] queue length: 12, concurrency: 2\n"
    );
}

fn report() -> FinalReport {
    FinalReport {
        reads: 1190,
        writes: 340,
        others: 170,
        events: 85,
        ignored_errors: 0,
        reconnects: 0,
        unfinished: None,
        total_time: Duration::from_micros(2_097_460),
        latency: Latency {
            min_ms: 1.25,
            avg_ms: 29.88,
            max_ms: 260.02,
            percentiles: vec![(95.0, 158.63)],
            sum_ms: 2539.50,
        },
        events_per_thread: (42.5, 0.5),
        busy_per_thread_s: (1.2698, 0.07),
    }
}

#[test]
fn final_reports() {
    let text = final_report(&report());
    assert_eq!(
        text,
        "SQL statistics:
    queries performed:
        read:                            1190
        write:                           340
        other:                           170
        total:                           1700
    transactions:                        85     (40.53 per sec.)
    queries:                             1700   (810.50 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0975s
    total number of events:              85

Latency (ms):
         min:                                    1.25
         avg:                                   29.88
         max:                                  260.02
         95th percentile:                      158.63
         sum:                                 2539.50

Threads fairness:
    events (avg/stddev):           42.5000/0.50
    execution time (avg/stddev):   1.2698/0.07

"
    );
}

#[test]
fn percentiles() {
    let with = |percentiles: &[(f64, f64)]| {
        let mut report = report();
        report.latency.percentiles = percentiles.to_vec();
        final_report(&report)
    };
    assert!(with(&[]).contains("\n         percentile stats:               disabled\n"));
    let text = with(&[(1.0, 0.05), (100.0, 10.46), (99.9, 1.0)]);
    for line in [
        "\n          1th percentile:                        0.05\n",
        "\n        100th percentile:                       10.46\n",
        "\n        99.9th percentile:                       1.00\n",
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn a_forced_end_tells_what_it_left() {
    let forced = FinalReport {
        unfinished: Some(2),
        ..report()
    };
    assert!(final_report(&forced).contains(
        "reconnects:                          0      (0.00 per sec.)\n\n\
         Number of unfinished transactions on forced shutdown: 2\n\nGeneral statistics:\n"
    ));
}

#[test]
fn histograms() {
    // The second and third fall into one bucket.
    let times = [
        (1_250_000, 1),
        (2_600_000, 2),
        (2_605_000, 1),
        (260_000_000, 2),
    ];
    assert_eq!(
        histogram(times),
        "Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       1.250 |*************                            1
       2.615 |**************************************** 3
     257.950 |***************************              2
 
"
    );
}

/// An interval with events of these lengths, each of a COMMIT and a query.
fn interval(phase: Phase, times_ms: &[u64]) -> Interval {
    let mut times = Durations::default();
    times_ms.iter().for_each(|ms| times.record(ms * 1_000_000));
    let count = times.count;
    let statement = |name: &str, reads, others| StatementInterval {
        load: "oltp".to_owned(),
        statement: name.to_owned(),
        reads,
        writes: 0,
        others,
        sum_ns: times.sum_ns,
        min_ns: times.min_ns,
        max_ns: times.max_ns,
        histogram: times.histogram.clone(),
        returned: ReturnedRows::default(),
    };
    Interval {
        t_s: 0.0,
        length_s: 1.0,
        phase,
        stage: None,
        slice: None,
        statements: vec![
            statement("commit", 0, count),
            statement("point_selects", count, 0),
        ],
        operations: vec![OperationInterval {
            load: "oltp".to_owned(),
            operation: "read_write".to_owned(),
            count,
            errors: 0,
            sum_ns: times.sum_ns,
            min_ns: times.min_ns,
            max_ns: times.max_ns,
            histogram: times.histogram,
            service: None,
            returned: ReturnedRows::default(),
        }],
        send_lag: None,
        client_lag: None,
        pace: None,
        carried: Vec::new(),
    }
}

#[test]
fn the_final_figures_are_those_of_the_measurement() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("record.jsonl");
    let writer = RecordWriter::create(&path).unwrap();
    let lines = [
        Line::Run(RunHeader {
            format: samples::FORMAT,
            dbdyno_version: "0".to_owned(),
            experiment: "oltp read_write".to_owned(),
            experiment_sha256: String::new(),
            seed: 7,
            run: 1,
            block: 1,
            combination: BTreeMap::new(),
            beside: Vec::new(),
            started_at: String::new(),
            connections: 2,
            loops: 1,
            io: "epoll".to_owned(),
            transport: "unix socket".to_owned(),
        }),
        Line::Interval(interval(Phase::WarmUp, &[900])),
        Line::Interval(interval(Phase::Measurement, &[1, 2, 3, 4])),
        Line::Error(ErrorCount {
            load: "oltp".to_owned(),
            operation: "read_write".to_owned(),
            number: 1213,
            sqlstate: "40001".to_owned(),
            message: "Deadlock found".to_owned(),
            count: 3,
            retried: 2,
            ..ErrorCount::default()
        }),
    ];
    lines.iter().for_each(|line| writer.append(line).unwrap());
    let beside = ReportExtras {
        percentiles: &[95.0],
        threads: vec![(1, 0.25), (3, 0.75)],
        ..ReportExtras::default()
    };
    let report = FinalReport::of(&Record::open(&path).unwrap(), &beside);
    assert_eq!((report.events, report.reads, report.others), (4, 4, 4));
    assert_eq!((report.ignored_errors, report.reconnects), (3, 0));
    assert_eq!(report.events_per_thread, (2.0, 1.0));
    assert_eq!(report.latency.percentiles, [(95.0, 4.0)]);
}
