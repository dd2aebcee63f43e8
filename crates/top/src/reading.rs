//! The newest figures as plain numbers, for programs that collect them.

use crate::{
    model::{Model, Presence},
    plain::{times, transactions_per_s},
};

/// One figure of now.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its name without the unit.
    pub name: &'static str,
    /// The unit, as OpenMetrics names it; empty for a plain number.
    pub unit: &'static str,
    pub help: &'static str,
    /// What tells figures of one name apart: a label and its value.
    pub label: Option<(&'static str, &'static str)>,
    pub value: f64,
}

type Value = fn(&Model, f64) -> Option<f64>;

/// Name, unit, help, value.
const READINGS: [(&str, &str, &str, Value); 23] = [
    (
        "operations",
        "per_second",
        "Operations of the load; of a server without one, COMMIT and ROLLBACK.",
        transactions_per_s,
    ),
    (
        "errors",
        "per_second",
        "Operations of the load that failed for good.",
        |model, at_s| Some(model.load.at(at_s)?.errors_per_s),
    ),
    (
        "queries",
        "per_second",
        "Statements that the server counts.",
        |model, at_s| model.server.at(at_s)?.queries_per_s,
    ),
    (
        "threads_running",
        "",
        "Connections that run a statement.",
        |model, at_s| model.server.at(at_s)?.threads_running,
    ),
    ("threads_connected", "", "Connections.", |model, at_s| {
        model.server.at(at_s)?.threads_connected
    }),
    (
        "rows_read",
        "per_second",
        "Rows that the server read.",
        |model, at_s| model.server.at(at_s)?.innodb.rows_read_per_s,
    ),
    (
        "rows_changed",
        "per_second",
        "Rows inserted, updated and deleted.",
        |model, at_s| model.server.at(at_s)?.innodb.rows_changed_per_s,
    ),
    (
        "buffer_pool_hits",
        "ratio",
        "Share of page requests served without a disk.",
        |model, at_s| model.server.at(at_s)?.innodb.hits,
    ),
    (
        "buffer_pool_dirty",
        "ratio",
        "Share of the buffer pool that is modified.",
        |model, at_s| model.server.at(at_s)?.innodb.dirty,
    ),
    (
        "checkpoint_age",
        "bytes",
        "Redo log since the last checkpoint.",
        |model, at_s| model.server.at(at_s)?.innodb.checkpoint_age_bytes,
    ),
    (
        "history_list",
        "",
        "Undo logs that wait for purge.",
        |model, at_s| model.server.at(at_s)?.innodb.history_list,
    ),
    (
        "lock_waits",
        "per_second",
        "Waits for a row lock.",
        |model, at_s| model.server.at(at_s)?.innodb.lock_waits_per_s,
    ),
    ("deadlocks", "per_second", "Deadlocks.", |model, at_s| {
        model.server.at(at_s)?.innodb.deadlocks_per_s
    }),
    (
        "redo_written",
        "bytes_per_second",
        "Redo log written.",
        |model, at_s| model.server.at(at_s)?.innodb.redo_bytes_per_s,
    ),
    (
        "cpu",
        "ratio",
        "Share of the machine's CPUs in use.",
        |model, at_s| Some(model.machine().at(at_s)?.cpu?.busy()),
    ),
    (
        "cpu_iowait",
        "ratio",
        "Share of the machine's CPUs that wait for a disk.",
        |model, at_s| Some(model.machine().at(at_s)?.cpu?.iowait),
    ),
    (
        "cpu_steal",
        "ratio",
        "Share of the machine's CPUs that the hypervisor withholds.",
        |model, at_s| Some(model.machine().at(at_s)?.cpu?.steal),
    ),
    (
        "server_cpus",
        "",
        "CPUs that the server uses.",
        |model, at_s| model.machine().at(at_s)?.server_cpus,
    ),
    (
        "client_cpus",
        "",
        "CPUs that the client uses.",
        Model::client_cpus_at,
    ),
    (
        "server_resident",
        "bytes",
        "Memory of the server's process.",
        |model, at_s| model.machine().at(at_s)?.server_resident_bytes,
    ),
    (
        "disk_read",
        "bytes_per_second",
        "Read from the disk of the data.",
        |model, at_s| Some(model.disk_at(at_s)?.read_bytes_per_s),
    ),
    (
        "disk_written",
        "bytes_per_second",
        "Written to the disk of the data.",
        |model, at_s| Some(model.disk_at(at_s)?.written_bytes_per_s),
    ),
    (
        "disk_busy",
        "ratio",
        "Share of the time in which the disk of the data had a request.",
        |model, at_s| model.disk_at(at_s)?.busy,
    ),
];

const QUANTILES: [&str; 3] = ["0.5", "0.95", "0.99"];

impl Model {
    /// The newest figures, one after the other; those that are not known are left out.
    pub fn readings(&self) -> Vec<Reading> {
        let at_s = self.end_s();
        let is_here = self.presence == Presence::Here;
        let up = Reading {
            name: "server_up",
            unit: "",
            help: "1 where the server answers.",
            label: None,
            value: f64::from(u8::from(is_here)),
        };
        let plain = READINGS.iter().filter_map(|(name, unit, help, value)| {
            Some(Reading {
                name,
                unit,
                help,
                label: None,
                value: value(self, at_s)?,
            })
        });
        let times = QUANTILES.into_iter().zip(times(self, at_s));
        let times = times.filter_map(|(quantile, ns)| {
            Some(Reading {
                name: "response",
                unit: "seconds",
                help: "Response time of the last interval; of a server without a load, its own statement times.",
                label: Some(("of_quantile", quantile)),
                value: ns? / 1e9,
            })
        });
        [up].into_iter().chain(plain).chain(times).collect()
    }

    /// What the figures are of, as labels: the run that is followed, or the server that is polled.
    pub fn labels(&self) -> Vec<(String, String)> {
        let Some(header) = &self.header else {
            return vec![("server".to_owned(), self.subject.name.clone())];
        };
        vec![
            ("experiment".to_owned(), header.experiment.clone()),
            ("run".to_owned(), header.run.to_string()),
            ("block".to_owned(), header.block.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use samples::{Line, ServerStatus};

    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let mut model = Model::default();
        model.take(Line::ServerStatus(ServerStatus {
            t_s: 0.0,
            length_s: 2.0,
            counters: [("Questions".to_owned(), 10.0)].into(),
            ..ServerStatus::default()
        }));
        let readings = model.readings();
        let names: Vec<_> = readings.iter().map(|it| it.name).collect();
        assert_eq!(names, ["server_up", "queries"]);
        assert_eq!(readings[1].value, 5.0);
        model.lose(3.0, "gone".to_owned());
        assert_eq!(model.readings()[0].value, 0.0);
    }
}
