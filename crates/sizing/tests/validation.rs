//! Predictions tested by executions that emulate a target, with figures computed by hand.

#![expect(clippy::unwrap_used, reason = "a test may end in a panic")]

use std::collections::BTreeMap;

use samples::{Histogram, Record};
use sizing::{
    CheckRequest, Demands, EmulatedExecution, Execution, Executions, MemoryUse, Prediction,
    PredictionRequest, ServerCpus, ServiceDemand, check_lines, check_target, parse_target, predict,
    predict_validated, prediction_csv, prediction_json, prediction_lines,
};

/// A tenth of the data.
const TENTH: u64 = 100_000_000;
const WANTED: &str = "cpus=2,buffer_pool=600000K,read_iops=300,fsync=1ms";

/// An operation on 1 GB of data takes 500 µs of CPU time, half a flush, and a tenth of a page read for each tenth of the
/// data that is not in memory.
fn execution(tenths: u64, connections: u32, block: u32, throughput_per_s: f64) -> Execution {
    let page_reads = 1.0 - tenths as f64 / 10.0;
    Execution {
        name: format!("run-{block}.jsonl"),
        results: 0,
        block,
        levels: BTreeMap::new(),
        concurrency: connections,
        throughput_per_s,
        demands: Demands::from_fn(|demand| match demand {
            ServiceDemand::Cpu => Some(500e-6),
            ServiceDemand::PageReads => Some(page_reads),
            ServiceDemand::Fsyncs => Some(0.5),
            _ => None,
        }),
        memory: Some(MemoryUse {
            data_bytes: 10 * TENTH,
            buffer_pool_bytes: tenths * TENTH,
        }),
        cpus: Some(ServerCpus {
            count: 2.0,
            available: 1.8,
        }),
        limited_by: None,
    }
}

/// Three buffer pools in two blocks.
fn measured() -> Executions {
    let blocks = (1..=2).flat_map(|block| [2, 4, 8].map(|tenths| (block, tenths)));
    let all = blocks.map(|(block, tenths)| execution(tenths, 16, block, 2000.0));
    Executions::of("shop on 10.11.18-MariaDB".to_owned(), all.collect())
}

/// Executions of six tenths in memory, limited to 300 reads per second.
fn emulated(connections: u32, all_per_s: &[f64]) -> Vec<EmulatedExecution> {
    let blocks = (1..).zip(all_per_s);
    let all = blocks.map(|(block, per_s)| EmulatedExecution {
        execution: execution(6, connections, block, *per_s),
        read_iops: Some(300.0),
        write_iops: None,
    });
    all.collect()
}

fn request(target: &str) -> PredictionRequest {
    PredictionRequest {
        target: parse_target(target).unwrap(),
        zipf: None,
        draws: 20,
    }
}

fn line(prediction: &Prediction, label: &str) -> Option<String> {
    let lines = prediction_lines(prediction);
    let line = lines.into_iter().find(|it| it.label == label);
    line.map(|it| it.text)
}

#[test]
fn the_highest_throughput_is_compared_with_the_prediction_of_the_emulated_target() {
    let all = [
        emulated(8, &[600.0, 610.0, 620.0]),
        emulated(32, &[715.0, 730.0, 745.0]),
    ];
    let executions = measured().with_emulated(all.concat());
    let prediction = predict_validated(&executions, &request(WANTED)).unwrap();
    let validation = prediction.validation.as_ref().unwrap();
    assert_eq!((validation.connections, validation.executions), (32, 3));
    // 300 reads/s / 0.4 page reads; 1.8 / 500 µs = 3600 is no limit.
    assert!((validation.predicted_per_s.estimate - 750.0).abs() < 1e-3);
    assert!((validation.measured_per_s.estimate - 730.0).abs() < 1e-9);
    // 750 / 730 - 1.
    let error = validation.error();
    assert!((error.estimate - 0.027_397).abs() < 1e-5, "{error:?}");
    assert!(error.low < 0.0 && error.high > 0.05, "{error:?}");
    // All executions have the same demands, so that the interval of the prediction is a point.
    assert!(!validation.is_in_interval() && !validation.is_at_most);
    assert_eq!(validation.not_emulated, ["fsync"]);
    assert_eq!(validation.emulated.cpus, Some(2.0));
    // The emulated executions are no part of the prediction.
    let untested = predict(&measured(), &request(WANTED)).unwrap();
    assert_eq!(prediction.throughput, untested.throughput);
    assert_eq!((prediction.executions, prediction.blocks), (6, 2));
}

#[test]
fn the_decision_about_a_target_has_the_test_of_its_prediction() {
    let executions = measured().with_emulated(emulated(32, &[715.0, 730.0, 745.0]));
    let question = CheckRequest {
        prediction: request(WANTED),
        per_s: Some(700.0),
        response_limit: None,
    };
    let check = check_target(&executions, &question).unwrap();
    assert!(check.prediction.validation.is_some());
    let lines = check_lines(&check);
    assert!(lines.iter().any(|it| it.label == "validated"), "{lines:?}");
    let measured = lines.iter().find(|it| it.label == "measured").unwrap();
    assert!(measured.text.ends_with("90 % intervals"), "{measured:?}");
}

#[test]
fn all_formats_have_the_test() {
    let executions = measured().with_emulated(emulated(32, &[715.0, 730.0, 745.0]));
    let prediction = predict_validated(&executions, &request(WANTED)).unwrap();
    let shown = line(&prediction, "validated").unwrap();
    for part in [
        "measured 730 (",
        ") with 32 connections on an emulated target (2 CPUs, 300 reads/s, 572 MiB of buffer pool)",
        ": the prediction for it, 750 (",
        "), is 2.7 % higher (-",
        "; its interval does not contain the measured throughput; fsync not emulated",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let measured = line(&prediction, "measured").unwrap();
    assert!(measured.ends_with("90 % intervals"), "{measured}");
    assert!(prediction_lines(&prediction).len() <= 12);
    let json: serde_json::Value = serde_json::from_str(&prediction_json(&prediction)).unwrap();
    assert_eq!(json["tested"], true);
    let validation = &json["validation"];
    assert_eq!(validation["emulated"]["read_iops"], 300.0);
    assert_eq!(validation["not_emulated"][0], "fsync");
    assert_eq!(validation["measured_per_s"]["estimate"], 730.0);
    assert_eq!(validation["in_interval"], false);
    let csv = prediction_csv(&prediction);
    let rows: Vec<&str> = csv.lines().filter(|it| it.starts_with("validat")).collect();
    assert!(rows[0].starts_with("validation,measured_per_s,,730,"));
    assert!(rows[0].ends_with(",not emulated: fsync"), "{}", rows[0]);
    assert!(rows[1].starts_with("validation,predicted_per_s,,"));
    assert!(
        rows[2].starts_with("validation,error,,0.027"),
        "{}",
        rows[2]
    );
    assert!(rows[3].starts_with("validated demand,cpu_s,0.000"));
}

/// The throughput is limited by the reads, so that it is predicted rightly: 300 reads/s / 0.4 page reads = 750. Limited
/// CPUs have cold caches: an operation takes 600 µs, and not 500 µs.
#[test]
fn a_demand_that_was_not_predicted_is_named() {
    let mut all = emulated(32, &[735.0, 750.0, 765.0]);
    let demands = |cpu_s: f64| {
        Demands::from_fn(move |demand| match demand {
            ServiceDemand::Cpu => Some(cpu_s),
            ServiceDemand::PageReads => Some(0.4),
            _ => None,
        })
    };
    for it in &mut all {
        it.execution.demands = demands(600e-6);
    }
    let prediction = predict_validated(&measured().with_emulated(all), &request(WANTED)).unwrap();
    let validation = prediction.validation.as_ref().unwrap();
    let [cpu, reads] = validation.demands.as_slice() else {
        panic!("{validation:?}");
    };
    assert_eq!(cpu.demand, ServiceDemand::Cpu);
    assert!(!cpu.is_in_interval(), "{cpu:?}");
    assert_eq!(reads.demand, ServiceDemand::PageReads);
    assert!(reads.is_in_interval(), "{reads:?}");
    let shown = line(&prediction, "validated").unwrap();
    let end = "; fsync not emulated; measured per operation: 600 µs of CPU time, outside of the predicted 500 µs (500 µs \
               to 500 µs), and 0.400 page reads, predicted 0.400 (0.400 to 0.400)";
    assert!(shown.ends_with(end), "{shown}");
    let json: serde_json::Value = serde_json::from_str(&prediction_json(&prediction)).unwrap();
    let demands = &json["validation"]["demands"];
    assert_eq!(demands[0]["demand"], "cpu_s");
    assert_eq!(demands[0]["in_interval"], false);
    assert_eq!(demands[1]["in_interval"], true);
    let csv = prediction_csv(&prediction);
    let mut rows = csv.lines().filter(|it| it.starts_with("validated demand,"));
    assert!(rows.next().unwrap().ends_with(",outside"), "{csv}");
    assert!(rows.next().unwrap().ends_with(','), "{csv}");
}

#[test]
fn what_cannot_be_tested_is_said() {
    let remark = |emulated: Vec<EmulatedExecution>| {
        let executions = measured().with_emulated(emulated);
        let prediction = predict_validated(&executions, &request(WANTED)).unwrap();
        assert_eq!(prediction.validation, None);
        let shown = line(&prediction, "measured").unwrap();
        assert!(shown.ends_with("; prediction not tested"), "{shown}");
        prediction.remarks.join("\n")
    };
    assert_eq!(remark(Vec::new()), "");
    let once = remark(emulated(32, &[730.0]));
    assert!(
        once.starts_with("prediction not tested: the emulated target has only one execution"),
        "{once}"
    );
    let mut small = emulated(32, &[730.0, 740.0]);
    for it in &mut small {
        it.execution.memory = Some(MemoryUse {
            data_bytes: 10 * TENTH,
            buffer_pool_bytes: TENTH,
        });
    }
    let small = remark(small);
    assert!(
        small.contains("emulated target: 10 % of the data in memory is less than measured"),
        "{small}"
    );
}

#[test]
fn another_limit_of_this_machine_is_named() {
    let limited = |name: &'static str| {
        let mut all = emulated(32, &[730.0, 740.0]);
        for it in &mut all {
            it.execution.limited_by = Some(name);
        }
        let executions = measured().with_emulated(all);
        let prediction = predict_validated(&executions, &request(WANTED)).unwrap();
        prediction.validation.unwrap().limited_by
    };
    assert_eq!(limited("client"), Some("client"));
    // The limit of the target itself.
    assert_eq!(limited("disk quota"), None);
}

/// A record of 100 operations per second, each with 500 µs of CPU time and 0.4 page reads, on a machine with two CPUs.
fn record(block: u32, emulated: &str, limit: &str) -> Record {
    let mut histogram = Histogram::new();
    (0..100).for_each(|_| histogram.record(1_000_000));
    let histogram = serde_json::to_string(&histogram).unwrap();
    let mut lines = vec![
        format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"shop","experiment_sha256":"","seed":1,"run":{block},"block":{block},"combination":{{"connections":"4","emulated":"{emulated}"}},"started_at":"2026-11-20T02:00:00Z","connections":4,"loops":1,"io":"epoll","transport":"unix socket"}}"#
        ),
        r#"{"line":"server","at":"start","version":"10.11.18-MariaDB","version_comment":"","address":"","private":true,"variables":{"innodb_buffer_pool_size":"536870912"}}"#.to_owned(),
        r#"{"line":"machine","host":"both","name":"vm","cpu_model":"x","cpus":2,"memory_bytes":8589934592,"kernel":"6","virtualised":false,"not_observed":[]}"#.to_owned(),
        r#"{"line":"dataset","source":"shop.smack","rows":1,"disk_bytes":1073741824,"buffer_pool_bytes":536870912,"load_s":null,"state":"restored"}"#.to_owned(),
    ];
    lines.extend((!limit.is_empty()).then(|| limit.to_owned()));
    for second in 0..4 {
        lines.push(format!(
            r#"{{"line":"interval","t_s":{second}.0,"length_s":1.0,"phase":"measurement","operations":[{{"load":"l","operation":"o","count":100,"errors":0,"sum_ns":100000000,"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#
        ));
        lines.push(format!(
            r#"{{"line":"telemetry","t_s":{second}.0,"length_s":1.0,"host":"both","machine":{{"user_s":0.15,"system_s":0.0,"iowait_s":0.0,"steal_s":0.0,"idle_s":1.85}},"server":{{"user_s":0.05,"system_s":0.0,"resident_bytes":1}},"client":{{"user_s":0.1,"system_s":0.0,"resident_bytes":1}},"memory":null,"disk":null}}"#
        ));
        lines.push(format!(
            r#"{{"line":"server_status","t_s":{second}.0,"length_s":1.0,"asked_s":0.0,"counters":{{"Innodb_data_reads":40.0}},"values":{{}}}}"#
        ));
    }
    lines.push(r#"{"line":"end","t_s":4.0,"complete":true,"why":"as planned"}"#.to_owned());
    Record::read((lines.join("\n") + "\n").as_bytes()).unwrap()
}

#[test]
fn records_of_an_emulated_target_are_found_by_their_level() {
    let limit = |read_iops: u32| {
        format!(
            r#"{{"line":"limit","disk":{{"read_iops":{read_iops},"write_iops":null,"read_bytes_per_s":null,"write_bytes_per_s":null,"cgroup_version":1,"device":"7:0","not_limited":[]}},"cpus":1.0,"memory_bytes":null,"cgroup_version":1}}"#
        )
    };
    let mut executions = Executions::default();
    let mut add = |record: &Record| executions.add("run.jsonl", 0, record).unwrap();
    // Of a random order, the first run can be one of the target.
    for block in [1, 2] {
        add(&record(block, "yes", &limit(50)));
        add(&record(block, "no", ""));
    }
    let prediction = predict_validated(&executions, &request("read_iops=50")).unwrap();
    assert_eq!(prediction.executions, 2);
    assert_eq!(prediction.subject, "shop on 10.11.18-MariaDB");
    let validation = prediction.validation.unwrap();
    assert_eq!(validation.emulated.read_iops, Some(50.0));
    assert_eq!(validation.emulated.cpus, Some(1.0));
    // 50 / 0.4 against 100.
    let error = validation.error().estimate;
    assert!((error - 0.25).abs() < 1e-9, "{error}");
    assert!(validation.not_emulated.is_empty());
}
