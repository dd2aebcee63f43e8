//! What the command line says otherwise than the file.

use std::collections::BTreeMap;

use settings::Factor;

use crate::{
    error::Error,
    file::{defaults::Defaults, template::Levels},
    plan::matrix::RUNS_AT_MOST,
};

/// What the command line says otherwise than the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overrides {
    /// Shrinks runs, rows and caches; above 0 and at most 1.
    pub scale: Option<f64>,
    /// Executions per combination.
    pub repeats: Option<u32>,
    /// Seed of all randomness.
    pub seed: Option<u64>,
    /// Runs against a server that does nothing.
    pub simulate: bool,
    /// Factors, each with the levels that are run; of the others all are.
    pub only: BTreeMap<String, Vec<String>>,
    /// What counts where the file says nothing: results of a former dbdyno go on as they began.
    pub defaults: Defaults,
}

impl Overrides {
    /// An error for a value that cannot be meant.
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
    /// Leaves the combinations that `only` names, and the levels that they have; an error for a factor or a level that
    /// the file has not, and where nothing is left.
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
            let only: Vec<String> = self
                .only
                .iter()
                .map(|(name, levels)| format!("{name}={}", levels.join(",")))
                .collect();
            let expected = "combinations that [[exclude]] leaves".to_owned();
            return Err(wrong(only.join(" "), expected));
        }
        for factor in &mut factors {
            let levels = &mut factor.levels;
            levels.retain(|level| combinations.iter().any(|it| it[&factor.name] == *level));
        }
        Ok((factors, combinations))
    }
}
