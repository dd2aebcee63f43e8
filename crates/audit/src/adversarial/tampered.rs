//! Records that were made better than they were, or that contradict themselves.

use samples::{Changed, ErrorCount, Phase, Property, Record};

use super::{
    by_labels, copied, failing, measured, sample, side, stalled, thinned, thinned_from, warm,
};
use crate::fixture::set;

/// A change to the ten runs of an experiment, and the rule that has to find it.
pub(super) type Case = (&'static str, fn(&mut Vec<Record>));

pub(super) const CASES: [Case; 40] = [
    // Measurements are cut, falsified or copied.
    ("T06", |runs| drop(runs[3].intervals.remove(60))),
    ("T06", |runs| drop(runs[3].intervals.drain(50..90))),
    ("T06", |runs| runs[3].intervals.truncate(80)),
    ("T06", |runs| runs[3].intervals.swap(60, 61)),
    ("T06", |runs| runs[3].intervals[60].length_s = 0.0),
    ("T06", |runs| runs[3].intervals[60].length_s = f64::NAN),
    ("T06", |runs| runs[3].intervals[60].length_s = 0.5),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].count *= 2)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].count += 1)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].sum_ns /= 2)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].min_ns = 1)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].max_ns = u64::MAX)
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| it.operations[0].histogram.clear())
    }),
    ("T06", |runs| copied(runs, 2, 5)),
    ("T06", |runs| copied(runs, 1, 8)),
    ("T06", |runs| {
        runs[4].header.started_at = "2027-01-01T00:00:00Z".to_owned()
    }),
    ("T06", |runs| runs[3].end.as_mut().unwrap().t_s = 70.0),
    // Runs are missing, or belong to another experiment.
    ("M12", |runs| drop(runs.pop())),
    ("M12", |runs| drop(runs.drain(2..5))),
    ("M12", |runs| {
        runs[3].header.experiment_sha256 = "another".to_owned()
    }),
    ("M12", |runs| runs[3].end = None),
    // Failed operations, and clients at their limit.
    ("W10", |runs| failing(&mut runs[3], 6_000)),
    ("W10", |runs| {
        runs.iter_mut().for_each(|run| failing(run, 1_200))
    }),
    ("H12", |runs| {
        measured(runs, 3, |it| it.pace.as_mut().unwrap().loop_cpu = 0.97)
    }),
    ("H12", |runs| {
        runs[3].ceiling.as_mut().unwrap().share = Some(0.95)
    }),
    // Durability, settings and data.
    ("C01", |runs| {
        side(runs, "2", |run| {
            set(run, "innodb_flush_log_at_trx_commit", "2")
        })
    }),
    ("C01", |runs| {
        side(runs, "2", |run| set(run, "innodb_doublewrite", "OFF"))
    }),
    ("C01", |runs| {
        side(runs, "1", |run| set(run, "log_bin", "ON"))
    }),
    ("C12", |runs| {
        let variables = &mut runs[3].servers[1].variables;
        variables.insert("sync_binlog".to_owned(), "1".to_owned());
    }),
    ("W16", |runs| runs[3].dataset.as_mut().unwrap().rows /= 2),
    // The machine is disturbed.
    ("H14", |runs| {
        let samples = runs[3].telemetry.iter_mut();
        samples.for_each(|it| it.machine.as_mut().unwrap().user_s += 2.0);
    }),
    ("H14", |runs| {
        let samples = runs[3].telemetry.iter_mut();
        samples.for_each(|it| it.machine.as_mut().unwrap().steal_s = 0.4);
    }),
    ("T01", |runs| {
        runs[3]
            .telemetry
            .retain(|it| !(60.0..75.0).contains(&it.t_s))
    }),
    ("T01", |runs| {
        runs.iter_mut().for_each(|run| run.telemetry.clear())
    }),
    // The throughput is not steady.
    ("M03", |runs| side(runs, "2", |run| warm(run, 0.6, 12.0))),
    ("M03", |runs| side(runs, "1", |run| warm(run, 0.3, 60.0))),
    ("M06", |runs| stalled(&mut runs[3])),
    ("T03", |runs| {
        measured(runs, 3, |it| it.pace.as_mut().unwrap().busy = 0.5)
    }),
    ("T04", |runs| {
        for status in &mut runs[3].server_status {
            *status.counters.get_mut("Questions").unwrap() *= 1.3;
        }
    }),
    ("M07", |runs| {
        // All runs of one level first, then all of the other.
        runs.sort_by_key(|run| run.header.combination["flush"].clone());
        for (at, run) in runs.iter_mut().enumerate() {
            run.header.run = at as u32 + 1;
            run.header.started_at = format!("2026-11-21T01:{:02}:00Z", at * 5);
        }
    }),
];

/// Records that contradict themselves, or whose machine or load was not what the header says.
pub(super) const CONTRADICTIONS: [Case; 34] = [
    // Within one record.
    ("T06", |runs| {
        let copied = runs[3].intervals[40].operations.clone();
        runs[3].intervals[70].operations = copied;
    }),
    ("T06", |runs| runs[3].offered.as_mut().unwrap().due /= 2),
    ("T06", |runs| runs[3].offered.as_mut().unwrap().due *= 2),
    ("T06", |runs| {
        // A warm-up that was cut off afterwards: all phases agree, and what was due does not.
        runs[3].phases[1].t_s = 60.0;
        let early = runs[3].intervals.iter_mut().filter(|it| it.t_s < 60.0);
        early.for_each(|it| it.phase = Phase::WarmUp);
    }),
    ("T06", |runs| {
        let offered = runs[3].offered.as_mut().unwrap();
        (offered.process, offered.rate_per_s) = ("constant".to_owned(), Some(2_000.0));
    }),
    ("T06", |runs| {
        runs[3].ceiling.as_mut().unwrap().share = Some(0.001)
    }),
    ("T06", |runs| {
        runs[3].ceiling.as_mut().unwrap().calibrated_queries_per_s = Some(1e9)
    }),
    ("T06", |runs| {
        runs[3].errors.push(ErrorCount {
            count: 1,
            in_measurement: 10,
            ..ErrorCount::default()
        })
    }),
    ("T06", |runs| {
        let line = r#"{"load":"one","count":8,"errors":0,"min_ns":10,"max_ns":20,"sum_ns":800}"#;
        runs[3].connects.push(serde_json::from_str(line).unwrap());
    }),
    ("T06", |runs| {
        measured(runs, 3, |it| {
            let mut service = it.operations[0].response();
            service.sum_ns *= 2;
            it.operations[0].service = Some(service);
        })
    }),
    ("T06", |runs| runs[3].offered = None),
    ("T06", |runs| drop(runs[3].servers.pop())),
    ("T06", |runs| {
        runs[3].servers[1].version = "11.4.2-MariaDB".to_owned()
    }),
    ("T06", |runs| set(&mut runs[3], "version", "5.7.44")),
    ("T06", |runs| {
        runs[3].servers[1].address = "db2:3306".to_owned()
    }),
    ("T06", |runs| {
        runs[3].dataset.as_mut().unwrap().buffer_pool_bytes = Some(1 << 30)
    }),
    ("T06", |runs| {
        runs[3].dataset.as_mut().unwrap().disk_bytes = Some(900 << 30)
    }),
    ("T06", |runs| {
        runs[3].dataset.as_mut().unwrap().rows = 90_000_000_000
    }),
    ("T06", |runs| {
        runs[3].server_status[20]
            .counters
            .insert("Questions".to_owned(), -5.0);
    }),
    ("T06", |runs| {
        sample(runs, |it| it.machine.as_mut().unwrap().steal_s = -0.5)
    }),
    ("T06", |runs| {
        sample(runs, |it| it.machine.as_mut().unwrap().user_s = 30.0)
    }),
    ("T06", |runs| {
        sample(runs, |it| it.server.as_mut().unwrap().user_s = 25.0)
    }),
    ("T06", |runs| {
        sample(runs, |it| it.client.as_mut().unwrap().system_s = f64::NAN)
    }),
    ("T06", |runs| {
        sample(runs, |it| it.memory.as_mut().unwrap().total_bytes *= 4)
    }),
    ("T06", |runs| {
        sample(runs, |it| {
            it.memory.as_mut().unwrap().available_bytes = 64 << 30
        })
    }),
    ("T06", |runs| {
        let mut late = runs[3].telemetry[20].clone();
        late.t_s = 400.0;
        runs[3].telemetry.push(late);
    }),
    // Between records.
    ("T06", |runs| {
        for at in 40..60 {
            let copied = runs[2].intervals[at].operations.clone();
            runs[7].intervals[at].operations = copied;
        }
    }),
    ("T06", |runs| {
        let began = runs[3].header.started_at.clone();
        runs[4].header.started_at = began;
    }),
    ("T06", |runs| {
        by_labels(runs);
        let label = |run: &mut Record, to: &str| {
            run.header
                .combination
                .insert("flush".to_owned(), to.to_owned())
        };
        let was = runs[3].header.combination["flush"].clone();
        label(&mut runs[3], if was == "1" { "2" } else { "1" });
    }),
    ("T06", |runs| {
        by_labels(runs);
        for run in runs {
            let was = run.header.combination.remove("flush").unwrap();
            let other = if was == "1" { "2" } else { "1" };
            let factor = "innodb_flush_log_at_trx_commit".to_owned();
            run.header.combination.insert(factor, other.to_owned());
        }
    }),
    // What the machine and the load did.
    ("H16", |runs| {
        runs[3].changed.push(Changed {
            what: Property::Machine("CPU governor".to_owned()),
            from: "performance".to_owned(),
            to: "powersave".to_owned(),
            ..Changed::default()
        })
    }),
    ("H15", |runs| {
        side(runs, "2", |run| run.machines[0].placements[0].nice = 10)
    }),
    ("M03", |runs| {
        side(runs, "2", |run| thinned_from(run, 80.0, 0.7))
    }),
    ("M03", |runs| {
        side(runs, "2", |run| {
            let early = run.intervals.iter_mut().filter(|it| it.t_s < 60.0);
            early
                .enumerate()
                .for_each(|(at, it)| thinned(it, [0.6, 1.0, 0.7, 0.95][at % 4]));
        })
    }),
];
