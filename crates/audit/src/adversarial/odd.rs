//! Honest records, however odd.

use samples::{DatasetState, ErrorCount, Record};

use super::{sample, thinned};
use crate::fixture::set;

/// Changes that leave a record honest, however odd.
pub(super) const ODD: [fn(&mut Vec<Record>); 40] = [
    |runs| {
        runs[3].errors.push(ErrorCount {
            number: 1213,
            count: 3,
            in_measurement: 2,
            ..ErrorCount::default()
        })
    },
    |runs| runs[3].ceiling = None,
    |runs| runs[3].ceiling.as_mut().unwrap().share = None,
    |runs| runs.iter_mut().for_each(|run| run.dataset = None),
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.dataset.as_mut().unwrap().disk_bytes = None)
    },
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.dataset.as_mut().unwrap().rows = 3_000_000)
    },
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.dataset.as_mut().unwrap().state = DatasetState::Kept)
    },
    |runs| runs[3].table_sizes.clear(),
    |runs| {
        runs[3]
            .table_sizes
            .iter_mut()
            .for_each(|it| it.left_out = 20)
    },
    |runs| runs[3].server_observation = None,
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.machines[0].placements.clear())
    },
    |runs| runs.iter_mut().for_each(|run| run.machines[0].cpu = None),
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.machines[0].settings = None)
    },
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.header.transport = "unix socket".to_owned())
    },
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.header.started_at = String::new())
    },
    |runs| sample(runs, |it| it.machine.as_mut().unwrap().idle_s = 0.0),
    |runs| sample(runs, |it| it.machine.as_mut().unwrap().iowait_s = 0.3),
    |runs| sample(runs, |it| it.server.as_mut().unwrap().user_s = 7.0),
    |runs| sample(runs, |it| it.client.as_mut().unwrap().user_s = 1.0),
    |runs| {
        sample(runs, |it| {
            it.memory.as_mut().unwrap().available_bytes = 1 << 20
        })
    },
    |runs| sample(runs, |it| it.pressure = None),
    |runs| sample(runs, |it| it.paging = None),
    |runs| sample(runs, |it| it.cgroup = None),
    |runs| runs[3].telemetry.truncate(130),
    |runs| runs[3].server_status[30].counters.clear(),
    |runs| runs[3].server_status[30].length_s = 1.4,
    |runs| runs[3].offered.as_mut().unwrap().due += 12,
    |runs| runs[3].intervals[50].length_s = 1.004,
    |runs| thinned(&mut runs[3].intervals[50], 0.0),
    |runs| thinned(&mut runs[3].intervals[50], 0.5),
    |runs| {
        runs[3]
            .intervals
            .iter_mut()
            .for_each(|it| it.send_lag = None)
    },
    |runs| runs[3].intervals.iter_mut().for_each(|it| it.pace = None),
    |runs| {
        runs.iter_mut()
            .for_each(|run| set(run, "version", "10.11.19-MariaDB"))
    },
    |runs| {
        runs.iter_mut()
            .for_each(|run| set(run, "innodb_buffer_pool_chunk_size", "0"))
    },
    |runs| {
        for run in runs.iter_mut() {
            let value = run.header.combination["flush"].clone();
            set(run, "innodb_thread_concurrency", &value);
        }
    },
    |runs| {
        // The factor's name and levels are of a variable that says the opposite.
        for run in runs.iter_mut() {
            let value = if run.header.combination["flush"] == "1" {
                "OFF"
            } else {
                "ON"
            };
            set(run, "skip_name_resolve", value);
        }
    },
    |runs| runs[3].end.as_mut().unwrap().why = "precision reached".to_owned(),
    |runs| runs[3].end.as_mut().unwrap().t_s += 3.0,
    |runs| {
        runs.iter_mut()
            .for_each(|run| run.header.dbdyno_version = "0.0.9".to_owned())
    },
    |runs| runs.iter_mut().for_each(|run| run.steadiness = None),
];
