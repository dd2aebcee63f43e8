//! What a proxy counts, as pages for Prometheus and for programs.

use std::sync::Arc;

use exposition::{Labels, Metric, MetricKind};
use web::{Content, Kind, Site};

use crate::{BackendFigures, ChangeFigures, HookFigures, Metrics, RuleFigures, Snapshot};

/// The counters of a proxy as pages.
pub(crate) struct MetricsSite(Arc<Metrics>);

impl MetricsSite {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self(metrics)
    }
}

impl Site for MetricsSite {
    fn at(&mut self, path: &str) -> Option<Content> {
        match path {
            "/metrics" => {
                let text = exposition::extended("", &metrics(&self.0.snapshot()));
                Some(Content::new(Kind::Metrics, text))
            }
            "/metrics.json" => {
                let text = serde_json::to_string(&self.0.snapshot()).ok()?;
                Some(Content::new(Kind::Json, text + "\n"))
            }
            _ => None,
        }
    }
}

type Samples = Vec<(Labels, f64)>;

/// A sample with labels.
fn sample(labels: &[(&str, &str)], value: f64) -> (Labels, f64) {
    let labels = labels.iter();
    let labels = labels.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    (labels.collect(), value)
}

/// What was counted, as metrics.
fn metrics(snapshot: &Snapshot) -> Vec<Metric> {
    use MetricKind::{Counter, Gauge};
    let metric = |kind, name: &str, unit, help: &str, samples: Samples| Metric {
        kind,
        name: format!("proxy_{name}"),
        unit,
        help: help.to_owned(),
        samples,
    };
    let one = |value: f64| vec![sample(&[], value)];
    let mut all = vec![
        metric(
            Gauge,
            "uptime",
            "seconds",
            "Time since the start.",
            one(snapshot.uptime_s),
        ),
        metric(
            Counter,
            "cpu",
            "seconds",
            "CPU time of the process, user and system together.",
            one(snapshot.cpu_s),
        ),
        metric(
            Gauge,
            "open_sessions",
            "",
            "Clients now.",
            one(snapshot.sessions.open as f64),
        ),
        metric(
            Counter,
            "sessions",
            "",
            "Clients since the start.",
            one(snapshot.sessions.total as f64),
        ),
        metric(
            Counter,
            "commands",
            "",
            "Commands of clients.",
            one(snapshot.commands as f64),
        ),
    ];
    let hooks = |value: fn(&HookFigures) -> f64| -> Samples {
        let hooks = snapshot.hooks.iter();
        hooks
            .map(|it| sample(&[("hook", &it.hook)], value(it)))
            .collect()
    };
    let rules = |value: fn(&RuleFigures) -> u64| -> Samples {
        let rules = snapshot.rules.iter();
        rules
            .map(|it| sample(&[("rule", &it.rule)], value(it) as f64))
            .collect()
    };
    let backends = |value: fn(&BackendFigures) -> u64| -> Samples {
        let backends = snapshot.backends.iter();
        let labels = |it: &BackendFigures, value| {
            sample(&[("backend", &it.address), ("kind", &it.kind)], value)
        };
        backends.map(|it| labels(it, value(it) as f64)).collect()
    };
    all.extend([
        metric(
            Counter,
            "hook_calls",
            "",
            "Calls of script hooks.",
            hooks(|it| it.calls as f64),
        ),
        metric(
            Counter,
            "hook_errors",
            "",
            "Calls of script hooks that ended with an error.",
            hooks(|it| it.errors as f64),
        ),
        metric(
            Counter,
            "hook",
            "seconds",
            "Time spent in script hooks.",
            hooks(|it| it.seconds),
        ),
        metric(
            Counter,
            "rule_matches",
            "",
            "Commands that matched a rule.",
            rules(|it| it.matches),
        ),
        metric(
            Counter,
            "rule_dropped",
            "",
            "Copies that were not sent, and statements that did not reach their rule's backend.",
            rules(|it| it.dropped),
        ),
        metric(
            Counter,
            "changes",
            "",
            "Changed statements, by digest.",
            changes(snapshot),
        ),
        metric(
            Gauge,
            "backend_state",
            "",
            "State of a backend: 1 for the current state, else 0.",
            states(snapshot),
        ),
        metric(
            Gauge,
            "backend_clients",
            "",
            "Clients whose session uses a backend now.",
            backends(|it| it.clients),
        ),
        metric(
            Counter,
            "backend_commands",
            "",
            "Commands that were sent to a backend.",
            backends(|it| it.commands),
        ),
        metric(
            Counter,
            "backend_failures",
            "",
            "Connections to a backend that could not be opened.",
            backends(|it| it.failures),
        ),
        metric(
            Gauge,
            "backend_idle_connections",
            "",
            "Idle connections to a backend in the pool.",
            backends(|it| it.idle),
        ),
    ]);
    all
}

fn changes(snapshot: &Snapshot) -> Samples {
    let labels = |it: &ChangeFigures| {
        let labels = [
            ("digest", it.digest.as_str()),
            ("change", it.change.as_str()),
        ];
        sample(&labels, it.count as f64)
    };
    snapshot.changes.iter().map(labels).collect()
}

fn states(snapshot: &Snapshot) -> Samples {
    let backends = snapshot.backends.iter().flat_map(|backend| {
        ["unknown", "up", "down"].map(|state| {
            let labels = [
                ("backend", backend.address.as_str()),
                ("kind", backend.kind.as_str()),
                ("state", state),
            ];
            sample(&labels, f64::from(u8::from(backend.state == state)))
        })
    });
    backends.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of everything, as JSON has it.
    const JSON: &str = r#"{"uptime_s":1.5,"cpu_s":0.25,"sessions":{"open":1,"total":5},"commands":10,"hooks":[{"hook":"read_query","calls":10,"errors":0,"seconds":0.001}],"rules":[{"rule":"name","matches":3,"dropped":0}],"changes":[{"digest":"SELECT \"x\"","change":"replaced","count":3}],"backends":[{"address":"127.0.0.1:3307","kind":"rw","state":"up","clients":1,"commands":10,"failures":0,"idle":0}]}"#;

    #[test]
    fn the_snapshot_as_json_has_its_documented_form() {
        let snapshot: Snapshot = serde_json::from_str(JSON).unwrap();
        assert_eq!(serde_json::to_string(&snapshot).unwrap(), JSON);
    }

    #[test]
    fn the_snapshot_as_openmetrics() {
        let snapshot: Snapshot = serde_json::from_str(JSON).unwrap();
        let text = exposition::extended("", &metrics(&snapshot));
        let golden = include_str!("metrics_golden.txt");
        assert_eq!(text, golden, "{text}");
    }
}
