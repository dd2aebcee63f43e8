//! A stage of a search for the highest rate: one constant rate, measured for some time.

/// What a stage had: `RateStage { rate_per_s: 770.0, operations: 7_689, over: 81, is_offered: true }`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateStage {
    /// The requested rate, operations per second.
    pub rate_per_s: f64,
    /// Operations that were due in the stage, whatever became of them.
    pub operations: u64,
    /// Those over the limit: their response time, from the scheduled start, exceeds it, they failed, or they never
    /// started or ended.
    pub over: u64,
    /// False if the client did not send at this rate: the stage then tells nothing about the server.
    pub is_offered: bool,
}

/// Operations over the limit that each estimated parameter adds to those measured, with as many others as make their share
/// that of the limit. Without any operation over the limit, the log-odds are thus finite, and the rate at which the limit is
/// reached does not move.
///
/// Source: F. J. Anscombe, "On estimating binomial response relations", Biometrika 43 (1956), which adds a half.
pub(super) const ADDED_OVER: f64 = 0.5;

/// Operations of one or several stages, with those that estimates add.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counts {
    pub(super) operations: f64,
    pub(super) over: f64,
}

impl Counts {
    /// The counts of these stages together; `allowed` is the share of operations that may exceed the limit.
    pub(super) fn of(stages: &[RateStage], allowed: f64) -> Self {
        let operations: f64 = stages.iter().map(|it| it.operations as f64).sum();
        let over: f64 = stages.iter().map(|it| it.over as f64).sum();
        Self {
            operations: operations + ADDED_OVER / allowed,
            over: over + ADDED_OVER,
        }
    }

    /// The counts of one stage with this number of added operations over the limit.
    pub(super) fn with_added(stage: &RateStage, allowed: f64, added: f64) -> Self {
        Self {
            operations: stage.operations as f64 + added / allowed,
            over: stage.over as f64 + added,
        }
    }

    /// The log-odds of an operation over the limit, less those of the allowed share: negative where the limit is kept.
    pub(super) fn log_odds(self, allowed: f64) -> f64 {
        log_odds(self.over / self.operations) - log_odds(allowed)
    }
}

/// The logarithm of the odds of a share between 0 and 1, both excluded.
pub(super) fn log_odds(share: f64) -> f64 {
    (share / (1.0 - share)).ln()
}

/// The log-odds of one stage, less those of the allowed share.
pub(super) fn log_odds_of(stage: &RateStage, allowed: f64) -> f64 {
    Counts::of(&[*stage], allowed).log_odds(allowed)
}

/// The number of these stages that exceed the limit.
pub(super) fn exceeding(stages: &[RateStage], allowed: f64) -> usize {
    let exceeding = stages.iter().filter(|it| log_odds_of(it, allowed) > 0.0);
    exceeding.count()
}

/// The stages at this rate.
pub(super) fn at_rate(stages: &[RateStage], rate_per_s: f64) -> Vec<RateStage> {
    let at_rate = stages.iter().filter(|it| it.rate_per_s == rate_per_s);
    at_rate.copied().collect()
}
