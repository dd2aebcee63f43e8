//! What proxies between clients and servers did, in words.

use std::collections::BTreeMap;

use samples::{ProxyWork, Record};
use units::{counted, duration};

use crate::results::Results;

/// The work of all proxies with the same settings.
#[derive(Debug, Default)]
pub(crate) struct ProxyRuns<'a> {
    /// The settings: `script q0.lua`.
    pub(crate) name: String,
    pub(crate) runs: usize,
    /// Commands of all runs.
    pub(crate) commands: u64,
    /// CPU time of all runs, seconds.
    pub(crate) cpu_s: f64,
    /// Calls, errors and seconds of each hook.
    pub(crate) hooks: BTreeMap<&'a str, (u64, u64, f64)>,
    /// Statements by digest and change.
    pub(crate) changes: BTreeMap<(&'a str, &'a str), u64>,
    /// Statements by rule, and copies that were not sent.
    pub(crate) rules: BTreeMap<&'a str, (u64, u64)>,
}

impl<'a> ProxyRuns<'a> {
    /// The work of the proxies of all runs, by settings.
    pub(crate) fn all(results: &'a Results) -> Vec<Self> {
        let mut found: BTreeMap<String, Self> = BTreeMap::new();
        for work in results.first_loads().filter_map(|run| run.proxy.as_ref()) {
            let name = settings(work);
            let runs = found.entry(name.clone()).or_default();
            runs.name = name;
            runs.add(work);
        }
        found.into_values().collect()
    }

    fn add(&mut self, work: &'a ProxyWork) {
        self.runs += 1;
        self.commands += work.commands;
        self.cpu_s += work.cpu_s;
        for hook in &work.hooks {
            let sum = self.hooks.entry(&hook.hook).or_default();
            *sum = (
                sum.0 + hook.calls,
                sum.1 + hook.errors,
                sum.2 + hook.seconds,
            );
        }
        for change in &work.changes {
            *self
                .changes
                .entry((&change.digest, &change.change))
                .or_default() += change.count;
        }
        for rule in &work.rules {
            let sum = self.rules.entry(&rule.rule).or_default();
            *sum = (sum.0 + rule.matches, sum.1 + rule.dropped);
        }
    }

    /// CPU time of a command in words; `None` without commands.
    pub(crate) fn cpu_per_command(&self) -> Option<String> {
        (self.commands > 0).then(|| duration(self.cpu_s / self.commands as f64 * 1e9))
    }

    /// `Proxy in 6 runs (script q0.lua): changed 12 of 300 commands, 9.31 µs of CPU per command.`
    fn sentence(&self) -> String {
        let changed: u64 = self.changes.values().sum();
        let name = match self.name.as_str() {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        let cpu = self.cpu_per_command();
        let cpu = cpu.map_or_else(String::new, |cpu| format!(", {cpu} of CPU per command"));
        let errors: u64 = self.hooks.values().map(|hook| hook.1).sum();
        let failed = match errors {
            0 => String::new(),
            _ => format!(
                "; {} of its script failed",
                counted(errors as usize, "call")
            ),
        };
        format!(
            "Proxy in {}{name}: {} to {}{cpu}{failed}.",
            counted(self.runs, "run"),
            counted(changed as usize, "change"),
            counted(self.commands as usize, "command"),
        )
    }
}

fn settings(work: &ProxyWork) -> String {
    let settings = work
        .settings
        .iter()
        .map(|(key, value)| format!("{key} {value}"));
    settings.collect::<Vec<_>>().join(", ")
}

/// A sentence for the proxies of each settings; empty where no run had one.
pub(crate) fn sentences(results: &Results) -> Vec<String> {
    ProxyRuns::all(results)
        .iter()
        .map(ProxyRuns::sentence)
        .collect()
}

/// The same for one run.
pub(crate) fn in_words(record: &Record) -> Option<String> {
    let mut runs = ProxyRuns::default();
    let work = record.proxy.as_ref()?;
    runs.name = settings(work);
    runs.add(work);
    Some(runs.sentence())
}

#[cfg(test)]
mod tests {
    use samples::{ProxyChange, ProxyHook};

    use super::*;

    fn results(works: &[Option<ProxyWork>]) -> Results {
        let runs = works.iter().map(|work| {
            let text = r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;
            let mut record = Record::read(text.as_bytes()).unwrap();
            record.proxy.clone_from(work);
            record
        });
        Results::of_runs(runs.collect())
    }

    #[test]
    fn runs_with_the_same_settings_are_added_up() {
        let work = ProxyWork {
            settings: BTreeMap::from([("script".to_owned(), "q0.lua".to_owned())]),
            sessions: 1,
            commands: 50,
            cpu_s: 0.0005,
            hooks: vec![ProxyHook {
                hook: "read_query".to_owned(),
                calls: 50,
                errors: 1,
                seconds: 0.0001,
            }],
            changes: vec![ProxyChange {
                digest: "RESET QUERY CACHE".to_owned(),
                change: "replaced".to_owned(),
                count: 6,
            }],
            ..ProxyWork::default()
        };
        let plain = ProxyWork {
            commands: 10,
            ..ProxyWork::default()
        };
        let results = results(&[Some(work.clone()), None, Some(work), Some(plain)]);
        assert_eq!(
            sentences(&results),
            [
                "Proxy in 1 run: 0 changes to 10 commands, 0 s of CPU per command.",
                "Proxy in 2 runs (script q0.lua): 12 changes to 100 commands, 10.0 µs of CPU per command; 2 calls of its \
                 script failed.",
            ]
        );
        let all = ProxyRuns::all(&results);
        assert_eq!(all[1].changes[&("RESET QUERY CACHE", "replaced")], 12);
    }

    #[test]
    fn without_a_proxy_nothing_is_said() {
        let results = results(&[None]);
        assert!(sentences(&results).is_empty());
        assert_eq!(in_words(&results.runs[0]), None);
    }
}
