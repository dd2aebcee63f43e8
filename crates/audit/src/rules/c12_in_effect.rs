//! Rule C12: a setting did not take effect, or it changed during the run.

use mycnf::UNKNOWN_TO_THIS_VERSION;
use samples::is_of_the_instance;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    words::listed,
};

pub(super) const RULE: Rule = Rule {
    id: "C12",
    name: "the settings took effect and did not change",
    found: "a setting did not take effect, or it changed during the run",
    measures: "Settings of a private server that differ from the requested settings: the server replaced or rounded a value, or its version does not know the option. Variables that changed between the start and the end of a run.",
    threshold: "fail if a setting differs from the requested setting, or if a variable changed. An option with the prefix loose- that this version does not know is only a note. A deprecated option that took effect is also only a note",
    source: "MySQL 5.6 parameter review (MyNA, 2013); dbdyno's check of option files, docs/my-cnf-check.md",
    consequence: "The figures belong to settings other than those reported.",
    remedy: "Request the value that the server actually uses. Find out what changes variables during a run.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let [start, .., end] = run.record.servers.as_slice() else {
        return Err(missing(
            "the server's variables at the start and at the end",
        ));
    };
    let (harmless, mut problems): (Vec<String>, _) = start
        .settings_changed
        .iter()
        .cloned()
        .partition(|told| is_loose(told) || is_only_deprecated(told));
    for (name, before) in &start.variables {
        match end.variables.get(name) {
            Some(after) if after != before && !is_of_the_instance(name) => {
                problems.push(format!(
                    "{name} was {before} at the start and {after} at the end"
                ));
            }
            _ => {}
        }
    }
    let count = problems.len() as f64;
    let finding = match (problems.is_empty(), harmless.is_empty()) {
        (true, false) => Finding::new(Level::Note, listed(&harmless, 8)),
        (true, true) => {
            let asked = if start.private {
                "as requested, and "
            } else {
                ""
            };
            Finding::new(
                Level::Pass,
                format!(
                    "{} variables were {asked}the same at the start and at the end",
                    start.variables.len()
                ),
            )
        }
        (false, _) => Finding::new(Level::Fail, listed(&problems, 8)),
    };
    Ok(finding.with("settings", count))
}

/// Whether the message is about an option with the prefix `loose-`, which versions without that option ignore:
/// `set: loose-innodb_redo_log_capacity=8M: unknown to this version`.
fn is_loose(told: &str) -> bool {
    told.split(": ").any(|part| {
        let is_option = part.starts_with("loose-") || part.starts_with("loose_");
        is_option && told.contains(UNKNOWN_TO_THIS_VERSION)
    })
}

/// Whether the message is that of a server which takes an option and will not for ever:
/// `set: innodb_flush_method=O_DIRECT: --innodb-flush-method is deprecated and will be removed in a future release`.
fn is_only_deprecated(told: &str) -> bool {
    const WITHOUT_EFFECT: [&str; 4] = ["ignored", "does nothing", "no effect", "adjusted"];
    let is_said = |words: &str| told.to_ascii_lowercase().contains(words);
    is_said("deprecated") && !WITHOUT_EFFECT.iter().any(|words| is_said(words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            let told = "innodb_flush_log_at_trx_commit: asked for 9, the server has 3";
            record.servers[0].settings_changed = vec![told.to_owned()];
        });
        assert_found(&outcome, Level::Fail, "asked for 9");
        let outcome = judged(&RULE, |record| {
            record.servers[1]
                .variables
                .insert("sync_binlog".to_owned(), "1".to_owned());
        });
        assert_found(
            &outcome,
            Level::Fail,
            "sync_binlog was 0 at the start and 1 at the end",
        );
    }

    #[test]
    fn what_may_be_ignored_is_no_failure() {
        let loose =
            "set: loose-innodb_redo_log_capacity=8M: unknown to this version, an option of MySQL";
        let outcome = judged(&RULE, |record| {
            record.servers[0].settings_changed = vec![loose.to_owned()];
        });
        assert_found(&outcome, Level::Note, "loose-innodb_redo_log_capacity");
        let outcome = judged(&RULE, |record| {
            let other = "my.cnf line 2: skip-log-bin=ON: unknown to this version";
            record.servers[0].settings_changed = vec![loose.to_owned(), other.to_owned()];
        });
        assert_found(&outcome, Level::Fail, "skip-log-bin");
        // Known, but with another value than the requested one.
        let outcome = judged(&RULE, |record| {
            let rounded = "loose-innodb_log_file_size: asked for 1M, the server has 4M";
            record.servers[0].settings_changed = vec![rounded.to_owned()];
        });
        assert_found(&outcome, Level::Fail, "asked for 1M");
    }

    #[test]
    fn a_deprecated_option_took_effect() {
        let told = |message: &str| {
            judged(&RULE, |record| {
                record.servers[0].settings_changed = vec![message.to_owned()];
            })
        };
        let deprecated = "set: innodb_flush_method=O_DIRECT: --innodb-flush-method is deprecated and will be removed in a \
            future release";
        assert_found(&told(deprecated), Level::Note, "innodb_flush_method");
        let ignored = "set: innodb_page_cleaners=4: deprecated, and ignored";
        assert_found(&told(ignored), Level::Fail, "innodb_page_cleaners");
    }

    #[test]
    fn passes() {
        let outcome = judged(&RULE, |record| {
            record.servers[1]
                .variables
                .insert("timestamp".to_owned(), "7".to_owned());
        });
        assert_found(&outcome, Level::Pass, "as requested");
    }

    #[test]
    fn a_run_without_an_end_is_not_evaluated() {
        assert_missing(
            &judged(&RULE, |record| record.servers.truncate(1)),
            "at the end",
        );
    }
}
