//! Command-line overrides of the experiment file.

use std::{collections::BTreeMap, time::Duration};

use settings::{Factor, WarmUp, quantity};

use crate::{
    error::Error,
    file::{defaults::Defaults, template::Levels},
    plan::levels::RUNS_AT_MOST,
    spec::{load::LoadSpec, warm_up::WARMUP_AT_MOST},
};

/// Command-line overrides of the experiment file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Factor for the length of runs, rows and caches; above 0 and at most 1.
    pub scale: Option<f64>,
    /// Executions per combination.
    pub repeats: Option<u32>,
    /// Seed of all randomness.
    pub seed: Option<u64>,
    /// Runs with a server that does nothing.
    pub simulate: bool,
    /// Length of every measurement, such as `30s`.
    pub duration: Option<String>,
    /// Warm-up of every run, such as `5s`, or `auto`.
    pub warmup: Option<String>,
    /// Factors with their selected levels; the other factors keep all levels.
    pub only: BTreeMap<String, Vec<String>>,
    /// The defaults for values that the file does not set: results of an older dbdyno continue with theirs.
    pub defaults: Defaults,
    /// The time budget of an experiment that runs until decided, in place of its own. It is not part of the identity:
    /// results continue with another one.
    pub time_at_most: Option<Duration>,
}

impl Overrides {
    /// An error for a value out of its range.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |option, value: String, expected: &str| {
            Err(Error::Override {
                option,
                value,
                expected: expected.to_owned(),
            })
        };
        match self {
            Self {
                scale: Some(scale), ..
            } if !(*scale > 0.0 && *scale <= 1.0) => {
                wrong("scale", scale.to_string(), "a number above 0 and at most 1")
            }
            Self {
                repeats: Some(repeats),
                ..
            } if !(1..=RUNS_AT_MOST).contains(repeats) => {
                wrong("repeats", repeats.to_string(), "a count from 1 to 100000")
            }
            _ => Ok(()),
        }
    }

    /// Gives a load the times that are set; an error where they mean nothing for it.
    pub(crate) fn time(&self, load: &mut LoadSpec) -> Result<(), Error> {
        let wrong = |option, value: &str, expected: &str| Error::Override {
            option,
            value: value.to_owned(),
            expected: expected.to_owned(),
        };
        let no_times = |option, value: &str| {
            let why = if load.ends_by_itself() {
                "a load with a duration; this one ends by itself"
            } else {
                "a load of one stage; the stages of this one have their own lengths"
            };
            let is_timed = !load.ends_by_itself() && load.stages.is_empty();
            (!is_timed).then(|| wrong(option, value, why))
        };
        let mut duration = load.duration;
        if let Some(text) = &self.duration {
            if let Some(error) = no_times("duration", text) {
                return Err(error);
            }
            let read = quantity::duration(text);
            duration = read.ok_or_else(|| wrong("duration", text, "a duration such as 30s"))?;
        }
        let mut warmup = load.warmup;
        if let Some(text) = &self.warmup {
            if let Some(error) = no_times("warmup", text) {
                return Err(error);
            }
            let is_set = load.source.kind.has_set_times();
            let expected = if is_set {
                "a duration such as 5s"
            } else {
                "a duration such as 5s, or auto"
            };
            warmup = match (text.as_str(), load.warmup) {
                ("auto", WarmUp::UntilSteady { at_most }) => WarmUp::UntilSteady { at_most },
                ("auto", _) if !is_set => WarmUp::UntilSteady {
                    at_most: WARMUP_AT_MOST,
                },
                (text, _) => {
                    let read = quantity::pause(text).map(WarmUp::fixed);
                    read.ok_or_else(|| wrong("warmup", text, expected))?
                }
            };
        }
        (load.duration, load.warmup) = (duration, warmup);
        Ok(())
    }

    /// Keeps the combinations and levels that `only` selects; an error for a factor or a level that the file does not
    /// have, and if nothing is left.
    pub(crate) fn narrow(
        &self,
        mut factors: Vec<Factor>,
        mut combinations: Vec<Levels>,
    ) -> Result<(Vec<Factor>, Vec<Levels>), Error> {
        if self.only.is_empty() {
            return Ok((factors, combinations));
        }
        let wrong = |value: String, expected: String| Error::Override {
            option: "only",
            value,
            expected,
        };
        for (name, levels) in &self.only {
            let Some(factor) = factors.iter().find(|factor| factor.name == *name) else {
                let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
                let expected = format!("a factor of the file: {}", names.join(", "));
                return Err(wrong(name.clone(), expected));
            };
            if let Some(level) = levels.iter().find(|level| !factor.levels.contains(level)) {
                let expected = format!("levels of {name}: {}", factor.levels.join(", "));
                return Err(wrong(format!("{name}={level}"), expected));
            }
        }
        combinations.retain(|combination| {
            let mut only = self.only.iter();
            only.all(|(name, levels)| levels.contains(&combination[name]))
        });
        if combinations.is_empty() {
            let expected = "combinations that [[exclude]] leaves".to_owned();
            return Err(wrong(self.only_in_words(), expected));
        }
        for factor in &mut factors {
            let levels = &mut factor.levels;
            levels.retain(|level| combinations.iter().any(|it| it[&factor.name] == *level));
        }
        Ok((factors, combinations))
    }

    /// The values of `--only`, `clients=1,4 mix=1:0`.
    pub(crate) fn only_in_words(&self) -> String {
        let only = self.only.iter();
        let only = only.map(|(name, levels)| format!("{name}={}", levels.join(",")));
        only.collect::<Vec<_>>().join(" ")
    }

    /// What comparisons start from where `only` leaves a level of the baseline out: the first level that it names and that
    /// runs. The factors that run are given, and say which levels these are.
    ///
    /// Returns each change in words: `version mariadb-10.11, since --only leaves out mysql-9.7`.
    pub(crate) fn move_baseline(
        &self,
        baseline: &mut [(String, String)],
        run: &[Factor],
    ) -> Vec<String> {
        let mut moved = Vec::new();
        for (name, level) in baseline {
            let Some(factor) = run.iter().find(|factor| factor.name == *name) else {
                continue;
            };
            let named = self.only.get(name).into_iter().flatten();
            let mut named = named.filter(|named| factor.levels.contains(named));
            if let (false, Some(first)) = (factor.levels.contains(level), named.next()) {
                moved.push(format!("{name} {first}, since --only leaves out {level}"));
                level.clone_from(first);
            }
        }
        moved
    }
}
