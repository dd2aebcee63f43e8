//! What a throughput needs, whether a target carries it, and what a change would do, with figures computed by hand.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::{collections::BTreeMap, time::Duration};

use sizing::{
    CarriedVerdict, CheckRequest, Demands, Error, Execution, Executions, Limit, MemoryUse, Need,
    PredictionRequest, Requirement, RequirementRequest, ResponseLimit, ServerCpus, ServiceDemand,
    Target, TargetCheck, WhatIf, WhatIfRequest, check_csv, check_json, check_lines, check_target,
    parse_changes, parse_target, require, requirement_csv, requirement_json, requirement_lines,
    what_if, what_if_csv, what_if_json, what_if_lines,
};
use stats::UslModel;

/// An execution on two CPUs with 1 GiB of data. An operation takes 500 µs of CPU time, 0.4 page reads, 0.8 writes, 0.5
/// flushes, 1000 bytes out and 200 bytes in.
#[derive(Clone, Copy)]
struct Made {
    buffer_pool_mib: u64,
    connections: u32,
    per_s: f64,
    cpu_s: f64,
    page_reads: f64,
}

const MADE: Made = Made {
    buffer_pool_mib: 512,
    connections: 4,
    per_s: 400.0,
    cpu_s: 500e-6,
    page_reads: 0.4,
};

/// Two blocks of the same executions.
fn repeated(all: &[Made]) -> Executions {
    let both = [1, 2].into_iter();
    let all = both.flat_map(|block| all.iter().map(move |made| execution(block, *made)));
    Executions::of("shop".to_owned(), all.collect())
}

fn execution(block: u32, made: Made) -> Execution {
    Execution {
        name: String::new(),
        results: 0,
        block,
        levels: BTreeMap::new(),
        concurrency: made.connections,
        throughput_per_s: made.per_s,
        demands: Demands::from_fn(|demand| match demand {
            ServiceDemand::Cpu => Some(made.cpu_s),
            ServiceDemand::PageReads => Some(made.page_reads),
            ServiceDemand::Writes => Some(0.8),
            ServiceDemand::Fsyncs => Some(0.5),
            ServiceDemand::ReceivedBytes => Some(200.0),
            ServiceDemand::SentBytes => Some(1000.0),
            ServiceDemand::LockWaits | ServiceDemand::LockTime => None,
        }),
        memory: Some(MemoryUse {
            data_bytes: 1 << 30,
            buffer_pool_bytes: made.buffer_pool_mib << 20,
        }),
        cpus: Some(ServerCpus {
            count: 2.0,
            available: 2.0,
        }),
        limited_by: None,
    }
}

/// A series at the powers of two whose contention is waiting for the two CPUs alone: 1000 · 60 µs / 2 = 0.03.
fn series(up_to: u32) -> Executions {
    let law = UslModel {
        single_per_s: 1000.0,
        contention: 0.03,
        coherency: 0.0008,
    };
    let all = (0..=up_to).map(|power| Made {
        connections: 1 << power,
        per_s: law.at(f64::from(1_u32 << power)),
        cpu_s: 60e-6,
        ..MADE
    });
    repeated(&all.collect::<Vec<_>>())
}

fn required(executions: &Executions, per_s: f64, target: &str) -> Requirement {
    let target = match target {
        "" => Target::default(),
        target => parse_target(target).unwrap(),
    };
    let request = RequirementRequest {
        per_s,
        response_limit: None,
        target,
        zipf: None,
        draws: 20,
    };
    require(executions, &request).unwrap()
}

fn need(requirement: &Requirement, row: usize, wanted: Limit) -> &Need {
    let mut needs = requirement.rows[row].needs.iter();
    &needs.find(|(limit, _)| *limit == wanted).unwrap().1
}

fn amount(requirement: &Requirement, row: usize, limit: Limit) -> f64 {
    match need(requirement, row, limit) {
        Need::Amount { amount, .. } => amount.estimate,
        other => panic!("no amount: {other:?}"),
    }
}

fn text(lines: &[sizing::AnswerLine]) -> String {
    let lines = lines.iter().map(|it| format!("{}{}\n", it.head(), it.text));
    lines.collect()
}

#[test]
fn each_amount_is_the_throughput_times_the_demand_of_an_operation() {
    let requirement = required(&repeated(&[MADE]), 2000.0, "");
    for (limit, expected) in [
        // 2000 · 500 µs, 2000 · 0.4, 2000 · 0.8, 1 / (2000 · 0.5), 2000 · 1000.
        (Limit::Cpus, 1.0),
        (Limit::Reads, 800.0),
        (Limit::Writes, 1600.0),
        (Limit::Fsyncs, 0.001),
        (Limit::Network, 2e6),
    ] {
        let found = amount(&requirement, 0, limit);
        assert!((found / expected - 1.0).abs() < 1e-9, "{limit:?}: {found}");
    }
    // Without a scaling model, the CPUs are a lower bound.
    assert!(!requirement.is_known() && !requirement.is_impossible());
    let shown = text(&requirement_lines(&requirement));
    for line in [
        "Some needs of 2.00k operations/s are not known: an amount is a lower bound or was not measured.",
        "memory       512 MiB of buffer pool (50 % of the data): at least 1.00 (1.00 to 1.00) CPUs (without \
         contention), 800 (800 to 800) reads/s, 1.60k (1.60k to 1.60k) writes/s",
        "fsync        at most 1.00 ms (1.00 ms to 1.00 ms) per flush",
        "net          16.0 Mbit/s (16.0 Mbit/s to 16.0 Mbit/s) in the direction with more bytes",
        "scaling      no scaling model: four or more numbers of connections are needed, two executions each",
        "measured     2 executions of shop in 2 blocks; 90 % intervals; not tested",
    ] {
        assert!(shown.lines().any(|it| it == line), "{line}\n{shown}");
    }
    let json: serde_json::Value = serde_json::from_str(&requirement_json(&requirement)).unwrap();
    assert_eq!(json["known"], false);
    let cpus = &json["rows"][0]["needs"][0];
    assert_eq!(cpus["limit"], "cpus");
    assert_eq!(cpus["at_least"], true);
    assert_eq!(cpus["suffices"], serde_json::Value::Null);
    assert_eq!(
        json["rows"][0]["memory"]["buffer_pool_bytes"],
        512_u64 << 20
    );
    let csv = requirement_csv(&requirement);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(
        rows[0],
        "row,buffer_pool_bytes,share,limit,unit,estimate,low,high,suffices,note"
    );
    assert_eq!(rows.len(), 6);
    assert!(rows[1].starts_with("1,536870912,0.5,cpus,cpus,") && rows[1].ends_with(",,at least"));
}

#[test]
fn the_scaling_model_is_solved_for_the_cpus() {
    // 6 CPUs leave a contention of 0.03 · 2 / 6 = 0.01, with the peak at √(0.99 / 0.0008) = 35.18 connections:
    // 35 178 / (1 + 0.01 · 34.18 + 0.0008 · 35.18 · 34.18).
    let requirement = required(&series(6), 15_270.7, "");
    let cpus = amount(&requirement, 0, Limit::Cpus);
    assert!((cpus - 6.0).abs() < 0.3, "{cpus}");
    assert!((requirement.rows[0].connections.unwrap() - 35.2).abs() < 0.5);
    // 3 CPUs leave a contention of 0.02, so that 8 connections do 8000 / (1 + 0.02 · 7 + 0.0008 · 56).
    let few = required(&series(3), 6752.2, "");
    let cpus = amount(&few, 0, Limit::Cpus);
    assert!((cpus - 3.0).abs() < 0.5, "{cpus}");
    assert_eq!(few.rows[0].connections, Some(8.0));
    // Where contention allows it at once, the CPUs are those that are busy: 500 · 60 µs.
    let little = required(&series(6), 500.0, "");
    assert!((amount(&little, 0, Limit::Cpus) - 0.03).abs() < 1e-9);
    assert!(little.is_known());
    let shown = text(&requirement_lines(&little));
    let first = "500 operations/s need a machine with these amounts. The upper end of each interval suffices with 95 % \
                 confidence (of the flush time, the lower end). The amounts contain no reserve.\n";
    assert!(shown.starts_with(first), "{shown}");
}

#[test]
fn what_no_cpus_carry_or_was_not_measured_is_said() {
    // 17.0k need more than 8 CPUs, four times the measured ones.
    let more = required(&series(6), 17_000.0, "");
    let Need::NotMeasured(why) = need(&more, 0, Limit::Cpus) else {
        panic!("{:?}", more.rows);
    };
    assert!(why.contains("CPUs are more than 4 times the measured 2; measure on"));
    assert!(!more.is_known() && !more.is_impossible());
    // Without any contention, the peak is at √(1 / 0.0008) = 35.36 connections: 35 355 / (1 + 0.9717).
    let impossible = required(&series(6), 20_000.0, "");
    assert!(impossible.is_impossible());
    let shown = text(&requirement_lines(&impossible));
    for part in [
        "No machine carries 20.0k operations/s, by the scaling model.",
        "contention and coherency allow at most 1",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    // The peak lies beyond the measured connections: 8000 / (1 + 0.0008 · 56) at 8.
    let few = required(&series(3), 9000.0, "");
    let Need::NotMeasured(why) = need(&few, 0, Limit::Cpus) else {
        panic!("{:?}", few.rows);
    };
    assert!(why.starts_with("with up to 8 connections, the scaling model allows at most 7."));
    assert!(!few.is_impossible());
}

#[test]
fn machines_that_are_not_known_are_not_counted() {
    let law = UslModel {
        single_per_s: 1000.0,
        contention: 0.03,
        coherency: 0.0008,
    };
    // With half of the memory, an operation takes ten times the CPU time: 15,000 · 600 µs = 9 CPUs, more than four times
    // the measured ones.
    let all = [(256, 600e-6), (512, 60e-6)].into_iter();
    let all = all.flat_map(|(buffer_pool_mib, cpu_s)| {
        (0..=6).map(move |power| Made {
            buffer_pool_mib,
            cpu_s,
            connections: 1 << power,
            per_s: law.at(f64::from(1_u32 << power)),
            ..MADE
        })
    });
    let requirement = required(&repeated(&all.collect::<Vec<_>>()), 15_000.0, "");
    assert!(matches!(
        need(&requirement, 0, Limit::Cpus),
        Need::NotMeasured(_)
    ));
    assert!(requirement.is_known());
    let shown = text(&requirement_lines(&requirement));
    let first = "Known to carry 15.0k operations/s: 1 of 2 combinations of memory, CPUs and IOPS. The upper end";
    assert!(shown.starts_with(first), "{shown}");
}

#[test]
fn a_memory_that_is_better_in_nothing_is_left_out() {
    let pools = [(256, 0.8), (512, 0.4), (1024, 0.4)].map(|(buffer_pool_mib, page_reads)| Made {
        buffer_pool_mib,
        page_reads,
        ..MADE
    });
    let requirement = required(&repeated(&pools), 1000.0, "");
    let reads: Vec<f64> = (0..requirement.rows.len())
        .map(|row| amount(&requirement, row, Limit::Reads).round())
        .collect();
    assert_eq!(reads, [800.0, 400.0]);
    let shown = text(&requirement_lines(&requirement));
    let line =
        "left out     1.00 GiB of buffer pool (100 % of the data): not better than a smaller one";
    assert!(shown.lines().any(|it| it == line), "{shown}");
    assert!(shown.lines().count() <= 12, "{shown}");
}

#[test]
fn the_memory_of_the_target_is_the_only_row() {
    let pools = [(256, 0.8), (512, 0.4), (1024, 0.2)].map(|(buffer_pool_mib, page_reads)| Made {
        buffer_pool_mib,
        page_reads,
        ..MADE
    });
    let executions = repeated(&pools);
    // Half of the way from a half to all of the data: (0.4 + 0.2) / 2.
    let between = required(&executions, 1000.0, "buffer_pool=768M");
    assert_eq!(between.rows.len(), 1);
    assert!((amount(&between, 0, Limit::Reads) - 300.0).abs() < 1e-3);
    let shown = text(&requirement_lines(&between));
    let row = "memory       768 MiB of buffer pool (75 % of the data, interpolated): ";
    assert!(shown.contains(row), "{shown}");
    let outside = required(&executions, 1000.0, "buffer_pool=128M");
    assert!(outside.rows.is_empty() && !outside.is_known() && !outside.is_impossible());
    let shown = text(&requirement_lines(&outside));
    let first = "The needs of 1.00k operations/s are not known: 12 % of the data in memory is less than measured";
    assert!(shown.starts_with(first), "{shown}");
}

fn checked(executions: &Executions, per_s: Option<f64>, target: &str) -> TargetCheck {
    let request = CheckRequest {
        prediction: prediction(target),
        per_s,
        response_limit: None,
    };
    check_target(executions, &request).unwrap()
}

fn checked_with_p99(executions: &Executions, per_s: f64, target: &str) -> TargetCheck {
    let request = CheckRequest {
        prediction: prediction(target),
        per_s: Some(per_s),
        response_limit: Some(ResponseLimit(Duration::from_millis(20))),
    };
    check_target(executions, &request).unwrap()
}

fn prediction(target: &str) -> PredictionRequest {
    PredictionRequest {
        target: parse_target(target).unwrap(),
        zipf: None,
        draws: 20,
    }
}

#[test]
fn a_target_carries_a_throughput_or_not() {
    let executions = repeated(&[MADE]);
    let verdict = |check: &TargetCheck| check.carried.unwrap().verdict;
    // 1 / (0.5 · 1 ms) = 2000 operations/s; 2000 / 1600 = 1.25.
    let check = checked(&executions, Some(1600.0), "fsync=1ms");
    assert_eq!(verdict(&check), CarriedVerdict::Yes);
    let shown = text(&check_lines(&check));
    let first = "Yes: the target carries 1.60k operations/s, with 25 % (25 % to 25 %) to spare. The target can do \
                 2.00k (2.00k to 2.00k) operations/s; the flushes of the log limit it.";
    assert!(shown.starts_with(first), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&check_json(&check)).unwrap();
    assert_eq!(json["carried"]["verdict"], "yes");
    assert!(check_csv(&check).contains("\ncarried,throughput_by_it,1600,"));
    // 1 - 2000 / 2500.
    let check = checked(&executions, Some(2500.0), "fsync=1ms");
    assert_eq!(verdict(&check), CarriedVerdict::No);
    let shown = text(&check_lines(&check));
    let first =
        "No: the target does not carry 2.50k operations/s: 20 % (20 % to 20 %) are missing.";
    assert!(shown.starts_with(first), "{shown}");
    // 2 / 500 µs = 4000, but contention is not known.
    let check = checked(&executions, Some(1600.0), "cpus=2");
    assert_eq!(verdict(&check), CarriedVerdict::Undecided);
    let shown = text(&check_lines(&check));
    let first = "Undecided whether the target carries 1.60k operations/s: only an upper bound is known for cpus.";
    assert!(shown.starts_with(first), "{shown}");
    // More CPUs than four times the measured ones have no prediction.
    let check = checked(&executions, Some(1600.0), "cpus=64,fsync=1ms");
    assert_eq!(verdict(&check), CarriedVerdict::Undecided);
    let shown = text(&check_lines(&check));
    let first = "Undecided whether the target carries 1.60k operations/s: measurements for cpus are missing.";
    assert!(shown.starts_with(first), "{shown}");
    let check = checked_with_p99(&executions, 1600.0, "fsync=1ms");
    assert_eq!(verdict(&check), CarriedVerdict::Undecided);
    let shown = text(&check_lines(&check));
    let first = "Undecided whether the target carries 1.60k operations/s: the rate that keeps the limit on the response \
                 time is not known.";
    assert!(shown.starts_with(first), "{shown}");
}

#[test]
fn an_interval_without_an_upper_end_is_written_as_one() {
    // One of two executions reads nothing, so that the interval of the page reads begins at 0.
    let all = [(1, 0.0), (2, 0.8)]
        .map(|(block, page_reads)| execution(block, Made { page_reads, ..MADE }));
    let executions = Executions::of("shop".to_owned(), all.into());
    // The interval of the throughput begins above 0: 500 / 0.4 = 1250.
    let check = checked(&executions, Some(1.0), "read_iops=500");
    assert_eq!(check.carried.unwrap().verdict, CarriedVerdict::Yes);
    let shown = text(&check_lines(&check));
    assert!(
        shown.starts_with("Yes: the target carries 1.00 operations/s, with "),
        "{shown}"
    );
    assert!(shown.contains(" or more) to spare."), "{shown}");
    let csv = check_csv(&check);
    let row = csv.lines().find(|it| it.starts_with("carried,")).unwrap();
    assert!(
        row.starts_with("carried,throughput_by_it,1,12") && row.ends_with(",,yes"),
        "{csv}"
    );
}

fn compared(executions: [&Executions; 2], target: &str, changes: &str) -> Result<WhatIf, Error> {
    let request = WhatIfRequest {
        changes: parse_changes(changes).unwrap(),
        target: (!target.is_empty()).then(|| parse_target(target).unwrap()),
        zipf: None,
        draws: 20,
    };
    what_if(executions[0], executions[1], &request)
}

#[test]
fn a_change_moves_the_limit() {
    let executions = repeated(&[MADE]);
    let both = [&executions, &executions];
    // Now 1 / (0.5 · 1 ms) = 2000 by the flushes, then 900 / 0.4 = 2250 by the reads: 4000 flushes would do.
    let answer = compared(both, "fsync=1ms,read_iops=900", "fsync=500us").unwrap();
    let ratio = answer.ratio.unwrap();
    assert!((ratio.estimate - 1.125).abs() < 1e-9, "{ratio:?}");
    assert_eq!(answer.now.binding, [(Limit::Fsyncs, 1.0)]);
    assert_eq!(answer.then.binding, [(Limit::Reads, 1.0)]);
    let shown = text(&what_if_lines(&answer));
    for line in [
        "With fsync=500us, the throughput changes by +12.5 % (+12.5 % to +12.5 %).",
        "now          2.00k (2.00k to 2.00k) operations/s; the flushes of the log limit it",
        "then         2.25k (2.25k to 2.25k) operations/s; the reads of the disk limit it",
    ] {
        assert!(
            shown.lines().any(|it| it.starts_with(line)),
            "{line}\n{shown}"
        );
    }
    let json: serde_json::Value = serde_json::from_str(&what_if_json(&answer)).unwrap();
    assert_eq!(json["then"]["binding"][0]["limit"], "read_iops");
    assert!(what_if_csv(&answer).contains("\nratio,1,1.12"));
    // The measured machine has two CPUs; four do twice as much at most.
    let answer = compared(both, "", "cpus=4").unwrap();
    assert!((answer.ratio.unwrap().estimate - 2.0).abs() < 1e-9);
    assert!(!answer.is_known() && answer.now.is_at_most);
    let unknown = compared(both, "", "cpus=64").unwrap();
    assert!(!unknown.is_known());
    let shown = text(&what_if_lines(&unknown));
    let first = "The effect of cpus=64 is not known, because measurements for cpus are missing.";
    assert!(shown.starts_with(first), "{shown}");
    let error = compared(both, "cpus=2", "fsync=1ms").unwrap_err();
    let problem = "--what-if names fsync, whose present value is not known";
    assert_eq!(error.to_string(), problem);
    // Otherwise the page reads that memory saves would have no effect.
    for (target, change) in [("", "memory=64G"), ("cpus=2", "data=2G")] {
        let error = compared(both, target, change).unwrap_err();
        assert!(matches!(error, Error::NoReadsNow), "{error}");
    }
}

/// One number of connections shows no contention. The bounds are 2 / 500 µs = 4000 and 4 / 500 µs = 8000 operations/s.
#[test]
fn the_ratio_of_two_upper_bounds_is_no_interval() {
    let executions = repeated(&[MADE]);
    let answer = compared([&executions, &executions], "", "cpus=4").unwrap();
    let ratio = answer.ratio_of_bounds().unwrap();
    assert!((ratio - 2.0).abs() < 1e-9, "{ratio}");
    let shown = text(&what_if_lines(&answer));
    for line in [
        "With cpus=4, the upper bound of the throughput changes by +100 %. The change of the throughput itself is not known \
         without a scaling model.",
        "scaling      no scaling model: four or more numbers of connections are needed, two executions each",
    ] {
        assert!(shown.lines().any(|it| it == line), "{line}\n{shown}");
    }
    let json: serde_json::Value = serde_json::from_str(&what_if_json(&answer)).unwrap();
    assert!(json["ratio"].is_null(), "{json}");
    assert_eq!(json["known"], false, "{json}");
    let ratio = json["ratio_of_upper_bounds"].as_f64().unwrap();
    assert!((ratio - 2.0).abs() < 1e-9, "{json}");
    let csv = what_if_csv(&answer);
    let row = csv.lines().last().unwrap();
    let begin = "ratio of upper bounds,1,";
    assert!(row.starts_with(begin) && row.ends_with(",,,,"), "{csv}");
    // One exact throughput, and one bound: 1 / (0.5 · 1 ms) = 2000 by the flushes, with up to 4000 by the CPUs.
    let answer = compared(
        [&executions, &executions],
        "cpus=2,fsync=1ms",
        "fsync=200us",
    );
    let answer = answer.unwrap();
    assert_eq!((answer.ratio_of_bounds(), answer.is_known()), (None, true));
    let shown = text(&what_if_lines(&answer));
    let first = "With fsync=200us, the throughput changes by +100 % (+100 % to +100 %). Without a scaling model, the \
                 throughput after the change is an upper bound.";
    assert!(shown.starts_with(first), "{shown}");
}

#[test]
fn levels_of_a_factor_are_compared_as_they_were_measured() {
    let [now, then] = [400.0, 600.0].map(|per_s| repeated(&[Made { per_s, ..MADE }]));
    let answer = compared([&now, &then], "", "flush=2").unwrap();
    assert!(answer.is_measured);
    // 600 / 400.
    assert!((answer.ratio.unwrap().estimate - 1.5).abs() < 1e-9);
    assert_eq!(answer.executions, 4);
    // With a target, both are predicted: the demands are the same.
    let answer = compared([&now, &then], "fsync=1ms", "flush=2").unwrap();
    assert!((answer.ratio.unwrap().estimate - 1.0).abs() < 1e-9);
}
