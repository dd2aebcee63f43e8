//! What the command line says otherwise than the file.

use crate::{error::Error, matrix::RUNS_AT_MOST};

/// What the command line says otherwise than the file.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Overrides {
    /// Shrinks runs, rows and caches; above 0 and at most 1.
    pub scale: Option<f64>,
    /// Executions per combination.
    pub repeats: Option<u32>,
    /// Seed of all randomness.
    pub seed: Option<u64>,
    /// Runs against a server that does nothing.
    pub simulate: bool,
}

impl Overrides {
    /// An error for a value that cannot be meant.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let wrong = |option, value: String, expected| {
            Err(Error::Override {
                option,
                value,
                expected,
            })
        };
        match *self {
            Self {
                scale: Some(scale), ..
            } if !(scale > 0.0 && scale <= 1.0) => {
                wrong("scale", scale.to_string(), "a number above 0 and at most 1")
            }
            Self {
                repeats: Some(repeats),
                ..
            } if !(1..=RUNS_AT_MOST).contains(&repeats) => {
                wrong("repeats", repeats.to_string(), "a count from 1 to 100000")
            }
            _ => Ok(()),
        }
    }
}
