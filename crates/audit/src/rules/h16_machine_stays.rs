//! Rule H16: the machine was set up otherwise at the end of a run than at its start.

use samples::Property;

use crate::{
    finding::{Finding, Level, Outcome, missing},
    rule::{Judge, Rule},
    run::Run,
    words::listed,
};

pub(super) const RULE: Rule = Rule {
    id: "H16",
    name: "the machine's setup did not change",
    found: "the machine's setup changed during a run",
    measures: "The machine's setup at the start and at the end of each run: number of CPUs, their governor and turbo mode, transparent huge pages, swappiness, clock source and control group limits. Rule C11 judges the disks' write caches, schedulers and read-ahead.",
    threshold: "warn if any part of this setup changed",
    source: "proposed here",
    consequence: "Some of the figures belong to one setup of the machine, and the rest belong to another setup.",
    remedy: "Set the machine up before the run. Make sure that neither power management nor another administrator changes it, and repeat the run.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    // Written at an end only.
    if run.record.end.is_none() || run.record.machines.is_empty() {
        return Err(missing("the machine at the start and at the end"));
    }
    let changed = run.record.changed.iter();
    let changed = changed.filter(|it| matches!(it.what, Property::Machine(_)));
    let changed: Vec<String> = changed
        .map(|it| {
            let or_nothing = |value: &str| {
                if value.is_empty() {
                    "nothing".to_owned()
                } else {
                    value.to_owned()
                }
            };
            format!(
                "{} from {} to {}",
                it.what,
                or_nothing(&it.from),
                or_nothing(&it.to)
            )
        })
        .collect();
    Ok(if changed.is_empty() {
        Finding::new(
            Level::Pass,
            "the setup was the same at the start and at the end",
        )
    } else {
        Finding::new(Level::Warn, format!("changed: {}", listed(&changed, 8)))
    })
}

#[cfg(test)]
mod tests {
    use samples::{Changed, Record};

    use super::*;
    use crate::fixture::*;

    fn changed(what: &str, from: &str, to: &str) -> impl Fn(&mut Record) {
        let line = Changed {
            what: what.to_owned().into(),
            from: from.to_owned(),
            to: to.to_owned(),
            ..Changed::default()
        };
        move |record| record.changed.push(line.clone())
    }

    #[test]
    fn found() {
        let outcome = judged(&RULE, changed("CPU governor", "performance", "powersave"));
        assert_found(
            &outcome,
            Level::Warn,
            "CPU governor from performance to powersave",
        );
        let outcome = judged(&RULE, changed("control group of the server", "", "CPU 2"));
        assert_found(
            &outcome,
            Level::Warn,
            "control group of the server from nothing to CPU 2",
        );
    }

    #[test]
    fn passes() {
        assert_eq!(level(&judged(&RULE, |_| {})), Level::Pass);
        let outcome = judged(&RULE, changed("scheduler of sda", "none", "bfq"));
        assert_eq!(level(&outcome), Level::Pass, "{outcome:?}");
        assert_missing(&judged(&RULE, |record| record.end = None), "at the end");
    }
}
