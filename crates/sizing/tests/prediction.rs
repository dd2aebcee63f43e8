//! Predictions from records with figures computed by hand, and the coverage of the intervals on simulated executions.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::collections::BTreeMap;

use samples::{Histogram, Record};
use sizing::{
    Demands, Error, Execution, Executions, Limit, LimitOutcome, MemoryUse, Prediction,
    PredictionRequest, ServerCpus, ServiceDemand, parse_target, predict, prediction_csv,
    prediction_json, prediction_lines,
};
use stats::{Interval, Random, UslModel};

/// What a record measured in each of its four seconds.
#[derive(Clone, Copy)]
struct Made {
    block: u32,
    connections: u32,
    per_s: u64,
    buffer_pool_bytes: u64,
    /// Of each operation.
    page_reads: f64,
}

const MADE: Made = Made {
    block: 1,
    connections: 4,
    per_s: 100,
    buffer_pool_bytes: 512 << 20,
    page_reads: 0.4,
};

/// A record of 1 GiB of data on a machine with two CPUs. An operation takes 500 µs of CPU time, 0.8 writes, 0.5 flushes,
/// 1000 bytes out and 200 bytes in, and every tenth one waits 2 ms for a row lock.
fn lines(made: Made) -> Vec<String> {
    let Made {
        block,
        connections,
        per_s,
        buffer_pool_bytes,
        page_reads,
    } = made;
    let mut lines = vec![
        format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"shop","experiment_sha256":"","seed":1,"run":{block},"block":{block},"combination":{{"connections":"{connections}"}},"started_at":"2026-11-20T02:00:00Z","connections":{connections},"loops":1,"io":"epoll","transport":"unix socket"}}"#
        ),
        format!(
            r#"{{"line":"server","at":"start","version":"10.11.18-MariaDB","version_comment":"","address":"","private":true,"variables":{{"innodb_buffer_pool_size":"{buffer_pool_bytes}"}}}}"#
        ),
        r#"{"line":"machine","host":"both","name":"vm","cpu_model":"x","cpus":2,"memory_bytes":8589934592,"kernel":"6","virtualised":false,"not_observed":[]}"#.to_owned(),
        format!(
            r#"{{"line":"dataset","source":"shop.smack","rows":1,"disk_bytes":1073741824,"buffer_pool_bytes":{buffer_pool_bytes},"load_s":null,"state":"restored"}}"#
        ),
    ];
    let mut histogram = Histogram::new();
    (0..per_s).for_each(|_| histogram.record(1_000_000));
    let histogram = serde_json::to_string(&histogram).unwrap();
    let rate = per_s as f64;
    for second in 0..4 {
        lines.push(format!(
            r#"{{"line":"interval","t_s":{second}.0,"length_s":1.0,"phase":"measurement","operations":[{{"load":"l","operation":"o","count":{per_s},"errors":0,"sum_ns":{},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#,
            per_s * 1_000_000
        ));
        lines.push(format!(
            r#"{{"line":"telemetry","t_s":{second}.0,"length_s":1.0,"host":"both","machine":{{"user_s":{},"system_s":0.0,"iowait_s":0.0,"steal_s":0.0,"idle_s":{}}},"server":{{"user_s":{},"system_s":0.0,"resident_bytes":1}},"client":{{"user_s":0.1,"system_s":0.0,"resident_bytes":1}},"memory":null,"disk":null}}"#,
            rate * 500e-6 + 0.1,
            1.9 - rate * 500e-6,
            rate * 500e-6
        ));
        lines.push(format!(
            r#"{{"line":"server_status","t_s":{second}.0,"length_s":1.0,"asked_s":0.0,"counters":{{"Innodb_data_reads":{},"Innodb_data_writes":{},"Innodb_os_log_fsyncs":{},"Bytes_sent":{},"Bytes_received":{},"Innodb_row_lock_waits":{},"Innodb_row_lock_time":{}}},"values":{{}}}}"#,
            rate * page_reads,
            rate * 0.8,
            rate * 0.5,
            rate * 1000.0,
            rate * 200.0,
            rate * 0.1,
            // Milliseconds.
            rate * 0.2
        ));
    }
    lines.push(r#"{"line":"end","t_s":4.0,"complete":true,"why":"as planned"}"#.to_owned());
    lines
}

fn record(text: &str) -> Record {
    Record::read(text.as_bytes()).unwrap()
}

fn executions(all: &[Made]) -> Executions {
    let mut executions = Executions::default();
    for (at, made) in all.iter().enumerate() {
        let record = record(&(lines(*made).join("\n") + "\n"));
        let added = executions.add(&format!("run-{at}.jsonl"), 0, &record);
        added.unwrap();
    }
    executions
}

/// Two blocks of the same executions.
fn repeated(all: &[Made]) -> Executions {
    let block = |block| all.iter().map(move |made| Made { block, ..*made });
    let both: Vec<Made> = block(1).chain(block(2)).collect();
    executions(&both)
}

fn predicted(executions: &Executions, target: &str) -> Result<Prediction, Error> {
    let request = PredictionRequest {
        target: parse_target(target).unwrap(),
        zipf: None,
        draws: 50,
    };
    predict(executions, &request)
}

fn per_s(prediction: &Prediction, wanted: Limit) -> f64 {
    let mut limits = prediction.limits.iter();
    match limits.find(|(limit, _)| *limit == wanted) {
        Some((_, LimitOutcome::Rate { per_s, .. })) => per_s.estimate,
        other => panic!("no rate: {other:?}"),
    }
}

fn text(prediction: &Prediction) -> String {
    let lines = prediction_lines(prediction);
    let lines = lines.iter().map(|it| format!("{}{}\n", it.head(), it.text));
    lines.collect()
}

const TARGET: &str = "cpus=2,read_iops=3000,write_iops=3000,fsync=1ms,net=1G";

#[test]
fn each_limit_is_divided_by_the_demand_of_an_operation() {
    let prediction = predicted(&repeated(&[MADE]), TARGET).unwrap();
    for (limit, expected) in [
        // 2 / 500 µs, 3000 / 0.4, 3000 / 0.8, 1 / (0.5 · 1 ms), 125 MB/s / 1000.
        (Limit::Cpus, 4000.0),
        (Limit::Reads, 7500.0),
        (Limit::Writes, 3750.0),
        (Limit::Fsyncs, 2000.0),
        (Limit::Network, 125_000.0),
    ] {
        let found = per_s(&prediction, limit);
        assert!((found / expected - 1.0).abs() < 1e-9, "{limit:?}: {found}");
    }
    let throughput = prediction.throughput.as_ref().unwrap();
    assert!((throughput.per_s.estimate - 2000.0).abs() < 1e-6);
    assert_eq!(throughput.binding, [(Limit::Fsyncs, 1.0)]);
    assert!(prediction.is_known() && !prediction.is_extrapolated());
    assert!(prediction.drifts.is_empty(), "{:?}", prediction.drifts);
}

#[test]
fn the_answer_has_its_figures_in_all_formats() {
    let prediction = predicted(&repeated(&[MADE]), TARGET).unwrap();
    let shown = text(&prediction);
    for line in [
        "The target can do 2.00k (2.00k to 2.00k) operations/s; the flushes of the log limit it.",
        "cpus         at most 4.00k (4.00k to 4.00k) by 2 CPUs, 500 µs of CPU time per operation; without contention",
        "read_iops    7.50k (7.50k to 7.50k) by 3.00k reads/s, 0.400 page reads per operation",
        "fsync        2.00k (2.00k to 2.00k) by 1.00 ms per flush, 0.500 flushes per operation",
        "net          125k (125k to 125k) by 1.00 Gbit/s, 1000 B sent per operation",
        "memory       buffer pool as measured for 1.00 GiB of data: 50 % in memory; measured at 50 %",
        "scaling      no scaling model: four or more numbers of connections are needed, two executions each",
        "row locks    0.100 waits and 200 µs per operation; part of the contention",
        "measured     2 executions of shop on 10.11.18-MariaDB in 2 blocks; 90 % intervals; prediction not tested",
    ] {
        assert!(shown.lines().any(|it| it == line), "{line}\n{shown}");
    }
    assert!(shown.lines().count() <= 12, "{shown}");
    let json: serde_json::Value = serde_json::from_str(&prediction_json(&prediction)).unwrap();
    assert_eq!(json["known"], true);
    assert_eq!(json["throughput"]["binding"][0]["limit"], "fsync");
    assert_eq!(json["limits"][0]["at_most"], true);
    assert_eq!(json["memory"]["share"], 0.5);
    let reads = json["demands"]["page_reads"]["estimate"].as_f64().unwrap();
    assert!((reads - 0.4).abs() < 1e-9);
    let csv = prediction_csv(&prediction);
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[0], "of,name,value,estimate,low,high,note");
    assert!(rows[1].starts_with("throughput,per_s,,") && rows[1].ends_with(",fsync binds"));
    assert!(rows[2].starts_with("limit,cpus,2,") && rows[2].ends_with(",at most"));
    // 5 limits and 8 demands.
    assert_eq!(rows.len(), 2 + 5 + 8);
}

#[test]
fn cpus_are_extrapolated_up_to_four_times_the_measured_ones() {
    let measured = repeated(&[MADE]);
    let eight = predicted(&measured, "cpus=8").unwrap();
    assert!((per_s(&eight, Limit::Cpus) - 16_000.0).abs() < 1e-6);
    let shown = text(&eight);
    assert!(shown.contains("can do at most 16.0k"), "{shown}");
    assert!(
        shown.contains("not validated here (2 CPUs measured)"),
        "{shown}"
    );
    let more = predicted(&measured, "cpus=9,fsync=1ms").unwrap();
    assert!(!more.is_known());
    let shown = text(&more);
    for part in [
        "The throughput is not known, because measurements for cpus are missing. The other limits allow at most 2.00k",
        "cpus         9 CPUs are more than 4 times the measured 2; measure on 3 or more",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn page_reads_are_interpolated_from_three_buffer_pools_on() {
    let pools = [(128, 0.9), (256, 0.7), (768, 0.2)].map(|(mib, page_reads)| Made {
        buffer_pool_bytes: mib << 20,
        page_reads,
        ..MADE
    });
    let three = repeated(&pools);
    // Half of the way from a quarter to three quarters of the data.
    let prediction = predicted(&three, "buffer_pool=512M,read_iops=900").unwrap();
    assert!((per_s(&prediction, Limit::Reads) - 900.0 / 0.45).abs() < 1e-3);
    let of_three = text(&prediction);
    assert!(
        of_three.contains("interpolated from 3 sizes (12 % to 75 %)"),
        "{of_three}"
    );
    let shown = |executions: &Executions, target: &str| {
        let prediction = predicted(executions, target).unwrap();
        assert!(!prediction.is_known());
        text(&prediction)
    };
    let less = shown(&three, "buffer_pool=64M,read_iops=900");
    assert!(
        less.contains("6.2 % of the data in memory is less than measured"),
        "{less}"
    );
    let two = repeated(&pools[..2]);
    let few = shown(&two, "buffer_pool=512M,read_iops=900");
    assert!(
        few.contains("measure 3 or more buffer pools around it"),
        "{few}"
    );
    let error = predicted(&three, "read_iops=900").unwrap_err();
    assert!(matches!(error, Error::MemoryMissing { .. }), "{error}");
}

#[test]
fn records_that_do_not_fit_are_refused() {
    let add = |first: &str, text: &str| {
        let mut executions = Executions::default();
        executions.add("a.jsonl", 0, &record(first)).unwrap();
        executions
            .add("b.jsonl", 0, &record(text))
            .unwrap_err()
            .to_string()
    };
    let text = lines(MADE).join("\n") + "\n";
    for (from, to, problem) in [
        (
            "10.11.18",
            "11.4.2",
            "b.jsonl: another server than in a.jsonl: version 11.4.2-MariaDB",
        ),
        (
            r#""cpus":2"#,
            r#""cpus":4"#,
            "b.jsonl: another machine than in a.jsonl: CPUs 4 against 2",
        ),
        (
            r#""operation":"o""#,
            r#""operation":"p""#,
            "b.jsonl: another workload than in a.jsonl: operations p against o",
        ),
        (
            r#""complete":true,"why":"as planned""#,
            r#""complete":false,"why":"interrupted""#,
            "b.jsonl: the run is incomplete: interrupted",
        ),
        (
            r#""phase":"measurement""#,
            r#""phase":"warm_up""#,
            "b.jsonl: no operation was measured",
        ),
        (
            r#""connections":4,"loops""#,
            r#""beside":["x"],"connections":4,"loops""#,
            "b.jsonl: the run had several loads",
        ),
    ] {
        let refused = add(&text, &text.replace(from, to));
        assert!(refused.starts_with(problem), "{refused}");
    }
    let once = executions(&[MADE]);
    let error = predicted(&once, TARGET).unwrap_err();
    assert!(matches!(error, Error::OneExecution { executions: 1 }));
    let error = predicted(&repeated(&[MADE]), "memory=8G").unwrap_err();
    assert!(matches!(error, Error::NoLimit));
}

#[test]
fn a_load_that_demands_nothing_has_no_limit() {
    let none = repeated(&[Made {
        page_reads: 0.0,
        ..MADE
    }]);
    let prediction = predicted(&none, "read_iops=3000").unwrap();
    assert_eq!(prediction.limits[0].1, LimitOutcome::Unlimited);
    assert_eq!(prediction.throughput, None);
    assert!(text(&prediction).starts_with("None of the named limits bounds this load"));
}

/// A server whose law is known, and a target.
struct Truth {
    /// On the two measured CPUs.
    law: UslModel,
    cpu_s: f64,
    page_reads: f64,
    writes: f64,
    fsyncs: f64,
    bytes: f64,
    cpus: f64,
    /// The capacity of each limit but the CPUs: per second, and for flushes the time of one.
    read_iops: f64,
    write_iops: f64,
    fsync_s: f64,
    net_bytes_per_s: f64,
}

const CONCURRENCIES: [u32; 5] = [1, 4, 16, 48, 128];
/// Shares of the data in memory, and that of the target.
const SHARES: [f64; 3] = [0.2, 0.4, 0.8];
const WANTED: f64 = 0.6;
const BLOCKS: u32 = 4;

fn uniform(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.below(1 << 40) as f64 / (1_u64 << 40) as f64
}

/// Approximately normal: the sum of twelve uniform numbers.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| uniform(random, -0.5, 0.5)).sum()
}

impl Truth {
    fn drawn(random: &mut Random) -> Self {
        let single_per_s = uniform(random, 500.0, 5000.0);
        let cpu_s = uniform(random, 0.1, 0.6) / single_per_s;
        let locks = uniform(random, 0.0, 0.02);
        let mut truth = Self {
            law: UslModel {
                single_per_s,
                contention: locks + single_per_s * cpu_s / 2.0,
                coherency: uniform(random, 3e-4, 1e-3),
            },
            cpu_s,
            page_reads: uniform(random, 0.1, 2.0),
            writes: uniform(random, 0.1, 3.0),
            fsyncs: uniform(random, 0.2, 1.0),
            bytes: uniform(random, 200.0, 5000.0),
            cpus: [2.0, 4.0, 8.0][random.below(3)],
            read_iops: f64::INFINITY,
            write_iops: f64::INFINITY,
            fsync_s: 0.0,
            net_bytes_per_s: f64::INFINITY,
        };
        // Any of the limits may bind.
        let peak = truth.per_s();
        let mut near = || peak * uniform(random, 0.6, 3.0);
        truth.read_iops = near() * truth.page_reads * (1.0 - WANTED);
        truth.write_iops = near() * truth.writes;
        truth.fsync_s = 1.0 / (near() * truth.fsyncs_at(16.0));
        truth.net_bytes_per_s = near() * truth.bytes;
        truth
    }

    fn fsyncs_at(&self, concurrency: f64) -> f64 {
        self.fsyncs * (1.0 - 0.12 * concurrency.ln())
    }

    /// The law on the target's CPUs: waiting for CPUs is the part λD / cpus of the contention.
    fn target_law(&self) -> UslModel {
        let shift = self.law.single_per_s * self.cpu_s * (1.0 / self.cpus - 0.5);
        UslModel {
            contention: self.law.contention + shift,
            ..self.law
        }
    }

    /// The highest throughput of the target.
    fn per_s(&self) -> f64 {
        let law = self.target_law();
        let concurrencies = CONCURRENCIES.into_iter().map(f64::from).chain([law.peak()]);
        let at = |concurrency: f64| {
            let limits = [
                law.at(concurrency).min(self.cpus / self.cpu_s),
                self.read_iops / (self.page_reads * (1.0 - WANTED)),
                self.write_iops / self.writes,
                1.0 / (self.fsync_s * self.fsyncs_at(concurrency)),
                self.net_bytes_per_s / self.bytes,
            ];
            limits.into_iter().fold(f64::INFINITY, f64::min)
        };
        concurrencies.map(at).fold(0.0, f64::max)
    }

    /// What an execution measures; all of a block vary together by 2 %, and each value by itself.
    fn execution(
        &self,
        share: f64,
        concurrency: u32,
        block: (u32, f64),
        random: &mut Random,
    ) -> Execution {
        let common = (0.02 * block.1).exp();
        let mut noisy = |value: f64, deviation: f64| value * (deviation * normal(random)).exp();
        let per_s = noisy(self.law.at(f64::from(concurrency)), 0.02) / common;
        let cpu_s = noisy(self.cpu_s, 0.04) * common;
        let page_reads = noisy(self.page_reads * (1.0 - share), 0.03);
        let writes = noisy(self.writes, 0.04);
        let fsyncs = noisy(self.fsyncs_at(f64::from(concurrency)), 0.04);
        let bytes = noisy(self.bytes, 0.01);
        Execution {
            name: String::new(),
            results: 0,
            block: block.0,
            levels: BTreeMap::new(),
            concurrency,
            throughput_per_s: per_s,
            demands: Demands::from_fn(|demand| match demand {
                ServiceDemand::Cpu => Some(cpu_s),
                ServiceDemand::PageReads => Some(page_reads),
                ServiceDemand::Writes => Some(writes),
                ServiceDemand::Fsyncs => Some(fsyncs),
                ServiceDemand::ReceivedBytes => Some(bytes / 2.0),
                ServiceDemand::SentBytes => Some(bytes),
                ServiceDemand::LockWaits | ServiceDemand::LockTime => None,
            }),
            memory: Some(MemoryUse {
                data_bytes: 10 << 30,
                buffer_pool_bytes: (share * (10_u64 << 30) as f64) as u64,
            }),
            cpus: Some(ServerCpus {
                count: 2.0,
                available: 2.0,
            }),
            limited_by: None,
        }
    }

    /// The interval of the throughput that is predicted from simulated executions.
    fn predicted(&self, random: &mut Random) -> Interval {
        let mut all = Vec::new();
        for block in 1..=BLOCKS {
            let block = (block, normal(random));
            for concurrency in CONCURRENCIES {
                all.push(self.execution(SHARES[2], concurrency, block, random));
            }
            for share in &SHARES[..2] {
                all.push(self.execution(*share, 16, block, random));
            }
        }
        let mut target = parse_target("cpus=1,buffer_pool=6G").unwrap();
        target.cpus = Some(self.cpus);
        target.buffer_pool_bytes = Some((WANTED * (10_u64 << 30) as f64) as u64);
        target.read_iops = Some(self.read_iops);
        target.write_iops = Some(self.write_iops);
        target.fsync_s = Some(self.fsync_s);
        target.net_bytes_per_s = Some(self.net_bytes_per_s);
        let request = PredictionRequest {
            target,
            zipf: None,
            draws: 40,
        };
        let executions = Executions::of("simulated".to_owned(), all);
        let prediction = predict(&executions, &request).unwrap();
        assert!(prediction.is_known());
        prediction.throughput.unwrap().per_s
    }
}

/// Coverage of the 90 % intervals, and a width with which they still say something.
#[test]
fn intervals_hold_the_truth_of_simulated_servers() {
    const CASES: usize = 200;
    let mut random = Random::new(2026);
    let mut held = 0;
    let mut widths: Vec<f64> = Vec::new();
    for _ in 0..CASES {
        let truth = Truth::drawn(&mut random);
        let found = truth.predicted(&mut random);
        let per_s = truth.per_s();
        held += usize::from(found.low <= per_s && per_s <= found.high);
        widths.push(found.high / found.low);
    }
    assert!(held * 10 >= CASES * 9, "{held} of {CASES}");
    widths.sort_by(f64::total_cmp);
    assert!(widths[CASES / 2] < 1.5, "{}", widths[CASES / 2]);
}
