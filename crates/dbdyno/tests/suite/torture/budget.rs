//! Duration, seed and selected case of a torture run, from the environment.

use std::time::Duration;

/// Default duration, seconds, of the cases: half a minute in all, because a case that has begun is brought to its end.
const SECONDS: u64 = 2;
/// A round of more seconds is a long one.
const SHORT_SECONDS_MAX: u64 = 80;
const SEED: u64 = 1;

/// The parameters that `make torture` passes.
#[derive(Debug, Clone)]
pub(crate) struct Budget {
    pub(crate) time: Duration,
    pub(crate) seed: u64,
    /// Only the kind with this name.
    pub(crate) only: Option<String>,
    /// Only the case with this number.
    pub(crate) case: Option<u64>,
}

impl Budget {
    /// Reads the environment.
    pub(crate) fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        let number = |name: &str| {
            text(name).map(|text| {
                text.parse::<u64>()
                    .unwrap_or_else(|_| panic!("{name}={text} is no whole number"))
            })
        };
        Self {
            time: Duration::from_secs(number("DBDYNO_TORTURE_SECONDS").unwrap_or(SECONDS)),
            seed: number("DBDYNO_TORTURE_SEED").unwrap_or(SEED),
            only: text("DBDYNO_TORTURE_ONLY"),
            case: number("DBDYNO_TORTURE_CASE"),
        }
    }

    /// True for more than the short rounds of an ordinary test run.
    pub(crate) fn is_long(&self) -> bool {
        self.time.as_secs() > SHORT_SECONDS_MAX || self.case.is_some()
    }
}
