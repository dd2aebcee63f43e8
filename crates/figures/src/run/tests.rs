//! Tests of figures from records with known content.

use std::collections::BTreeMap;

use samples::{
    LateOperations, Line, MachineUse, OfferedLoad, Phase, ProcessUse, RunHeader, StatementInterval,
    Telemetry,
};

use super::*;

fn durations(values_ns: &[u64]) -> Durations {
    let mut durations = Durations::default();
    for ns in values_ns {
        durations.record(*ns);
    }
    durations
}

fn operation(responses_ns: &[u64], errors: u64) -> OperationInterval {
    let mut histogram = Histogram::new();
    for ns in responses_ns {
        histogram.record(*ns);
    }
    OperationInterval {
        load: "smacker".to_owned(),
        operation: "select_index".to_owned(),
        count: responses_ns.len() as u64,
        errors,
        sum_ns: responses_ns.iter().sum(),
        min_ns: responses_ns.iter().copied().min().unwrap_or(0),
        max_ns: responses_ns.iter().copied().max().unwrap_or(0),
        histogram,
        service: None,
        returned: samples::ReturnedRows::default(),
    }
}

fn interval(t_s: f64, phase: Phase, responses_ns: &[u64], errors: u64) -> Line {
    Line::Interval(Interval {
        t_s,
        length_s: 1.0,
        phase,
        stage: None,
        slice: None,
        operations: vec![operation(responses_ns, errors)],
        statements: Vec::new(),
        send_lag: Some(durations(responses_ns)),
        client_lag: None,
        pace: None,
        carried: Vec::new(),
    })
}

/// An interval in which only operations due earlier were completed.
fn late(t_s: f64, phase: Phase, due_in: Phase, responses_ns: &[u64]) -> Line {
    Line::Interval(Interval {
        t_s,
        length_s: 1.0,
        phase,
        stage: None,
        slice: None,
        operations: Vec::new(),
        statements: Vec::new(),
        send_lag: None,
        client_lag: None,
        pace: None,
        carried: vec![LateOperations {
            due_in,
            stage: None,
            slice: None,
            operations: vec![operation(responses_ns, 0)],
            statements: Vec::new(),
            send_lag: durations(responses_ns),
            client_lag: None,
        }],
    })
}

fn telemetry(t_s: f64, server_s: f64, host: Host) -> Line {
    let process = |user_s| ProcessUse {
        user_s,
        system_s: 0.0,
        resident_bytes: 1,
        ..ProcessUse::default()
    };
    Line::Telemetry(Box::new(Telemetry {
        t_s,
        length_s: 1.0,
        host,
        machine: Some(MachineUse {
            user_s: 1.0,
            system_s: 0.5,
            iowait_s: 0.1,
            steal_s: 0.0,
            idle_s: 0.4,
        }),
        server: (host != Host::Client).then(|| process(server_s)),
        client: Some(process(0.3)),
        ..Telemetry::default()
    }))
}

fn record(lines: &[Line]) -> Record {
    let header = RunHeader {
        format: 1,
        dbdyno_version: String::new(),
        experiment: String::new(),
        experiment_sha256: String::new(),
        seed: 0,
        run: 1,
        block: 1,
        combination: BTreeMap::new(),
        beside: Vec::new(),
        started_at: String::new(),
        connections: 1,
        loops: 1,
        io: "epoll".to_owned(),
        transport: "unix socket".to_owned(),
    };
    let mut text = serde_json::to_string(&Line::Run(header)).unwrap() + "\n";
    for line in lines {
        text += &(serde_json::to_string(line).unwrap() + "\n");
    }
    Record::read(text.as_bytes()).unwrap()
}

#[test]
fn only_the_measurement_counts() {
    let record = record(&[
        interval(0.0, Phase::WarmUp, &[9_000_000_000], 5),
        interval(
            1.0,
            Phase::Measurement,
            &[10_000_000, 300_000_000, 20_000_000],
            0,
        ),
        interval(2.0, Phase::Measurement, &[20_000_000], 1),
        interval(3.0, Phase::Drain, &[8_000_000_000], 2),
    ]);
    let figures = RunFigures::of(&record);
    assert_eq!(
        (figures.count, figures.errors, figures.measured_s),
        (4, 1, 2.0)
    );
    assert_eq!(figures.throughput_per_s, Some(2.0));
    let response = figures.response.clone().unwrap();
    assert_eq!(
        (response.min_ns, response.max_ns),
        (10_000_000, 300_000_000)
    );
    assert_eq!(
        response.measured_ns(0.99),
        None,
        "one operation in a hundred is not enough of 4"
    );
}

#[test]
fn nothing_measured_gives_no_figure() {
    let figures = RunFigures::of(&record(&[interval(0.0, Phase::WarmUp, &[1], 0)]));
    assert_eq!(figures.throughput_per_s, None);
    assert_eq!(figures.response, None);
    assert_eq!(figures.server_cpu, None);
}

#[test]
fn cpu_shares_add_up_to_the_machine() {
    let record = record(&[
        telemetry(0.0, 9.0, Host::Both),
        interval(1.0, Phase::Measurement, &[1], 0),
        telemetry(1.0, 0.8, Host::Both),
    ]);
    let cpu = RunFigures::of(&record).server_cpu.unwrap();
    let (server, client) = (cpu.server.unwrap(), cpu.client.unwrap());
    assert!(
        (server - 0.4).abs() < 1e-9,
        "the warm-up's sample is left out"
    );
    assert!((client - 0.15).abs() < 1e-9);
    let sum = server + client + cpu.rest + cpu.iowait + cpu.steal + cpu.idle;
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

#[test]
fn the_clients_cpu_is_never_shown_as_the_servers() {
    let record = record(&[
        interval(1.0, Phase::Measurement, &[1], 0),
        telemetry(1.0, 0.8, Host::Client),
    ]);
    assert_eq!(RunFigures::of(&record).server_cpu, None);
}

#[test]
fn an_operation_counts_for_the_phase_in_which_it_was_due_and_the_throughput_when_it_came_back() {
    const S: u64 = 1_000_000_000;
    let figures = RunFigures::of(&record(&[
        interval(0.0, Phase::WarmUp, &[5 * S], 0),
        late(1.0, Phase::Measurement, Phase::WarmUp, &[7 * S]),
        interval(2.0, Phase::Measurement, &[1], 0),
        late(3.0, Phase::Drain, Phase::Measurement, &[2 * S, 2 * S]),
    ]));
    assert_eq!((figures.count, figures.measured_s), (3, 2.0));
    assert_eq!(
        figures.throughput_per_s,
        Some(1.0),
        "the drain is no throughput"
    );
    let response = figures.response.clone().unwrap();
    assert_eq!((response.min_ns, response.max_ns), (1, 2 * S));
    assert_eq!(figures.send_lag.as_ref().unwrap().max_ns, 2 * S);
    assert_eq!(figures.operations[0].response, Some(response));
}

#[test]
fn what_never_came_back_is_in_the_percentiles() {
    let offered = Line::Offered(OfferedLoad {
        process: "constant".to_owned(),
        rate_per_s: Some(100.0),
        spin: false,
        ends_by_itself: false,
        due: 100,
        behind: 60,
        late: 60,
        waiting_max: 60,
        not_started: 59,
        in_flight: 0,
        unfinished: 1,
        waits: durations(&[3_000_000_000; 60]),
        shortfall: None,
    });
    let figures = RunFigures::of(&record(&[
        interval(0.0, Phase::Measurement, &[1_000; 40], 0),
        offered,
    ]));
    assert_eq!((figures.count, figures.offered_per_s), (40, Some(100.0)));
    let response = figures.response.clone().unwrap();
    assert_eq!(response.measured_ns(0.5), Some(3_000_000_000));
    assert_eq!(figures.operations[0].response, Some(response));
}

#[test]
fn pauses_are_no_part_of_the_figures() {
    let figures = RunFigures::of(&record(&[
        interval(0.0, Phase::Measurement, &[1_000; 40], 0),
        interval(1.0, Phase::Pause, &[9_000; 5], 0),
        interval(2.0, Phase::Measurement, &[1_000; 60], 0),
    ]));
    assert_eq!((figures.measured_s, figures.count), (2.0, 100));
    assert_eq!(figures.throughput_per_s, Some(50.0));
}

#[test]
fn statements_keep_their_classes() {
    let statement = |statement: &str, reads, writes, times_ns: &[u64]| {
        let times = durations(times_ns);
        StatementInterval {
            load: "terminals".to_owned(),
            statement: statement.to_owned(),
            reads,
            writes,
            others: times.count - reads - writes,
            sum_ns: times.sum_ns,
            min_ns: times.min_ns,
            max_ns: times.max_ns,
            histogram: times.histogram,
            returned: samples::ReturnedRows::default(),
        }
    };
    let with = |statements| match interval(0.0, Phase::Measurement, &[10], 0) {
        Line::Interval(interval) => Line::Interval(Interval {
            statements,
            ..interval
        }),
        _ => panic!("it is an interval"),
    };
    let figures = RunFigures::of(&record(&[
        with(vec![
            statement("commit", 0, 0, &[4]),
            statement("read", 2, 0, &[1, 2]),
        ]),
        with(vec![
            statement("update", 0, 1, &[3, 3]),
            statement("read", 1, 0, &[3]),
        ]),
    ]));
    let classes: Vec<_> = figures
        .statements
        .iter()
        .map(|one| {
            (
                one.statement.as_str(),
                one.classes.reads,
                one.classes.writes,
                one.classes.others,
            )
        })
        .collect();
    assert_eq!(
        classes,
        [("commit", 0, 0, 1), ("read", 3, 0, 0), ("update", 0, 1, 1)]
    );
    assert_eq!(figures.statements[1].throughput_per_s, Some(1.5));
    assert_eq!(figures.statements[1].times.as_ref().unwrap().max_ns, 3);
}

#[test]
fn new_orders_are_told_by_the_minute() {
    let new_order = OperationInterval {
        operation: "New-Order".to_owned(),
        ..operation(&[1_000, 2_000, 3_000], 0)
    };
    let mut measured = interval(0.0, Phase::Measurement, &[500], 0);
    if let Line::Interval(interval) = &mut measured {
        interval.operations.push(new_order);
    }
    assert_eq!(
        RunFigures::of(&record(&[measured])).new_orders_per_min,
        Some(180.0)
    );
    let other = interval(0.0, Phase::Measurement, &[500], 0);
    assert_eq!(RunFigures::of(&record(&[other])).new_orders_per_min, None);
}
