//! A comparison that an experiment asks for, with what its answer says about it.

/// A comparison with the baseline, as it was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct AskedComparison {
    /// In the words of the answer: `flush 2 against 1 at mix 1:1`.
    pub words: String,
    pub is_decided: bool,
    /// The smallest difference that its executions detect with 80 % power, as a share; `None` if it is not known.
    pub smallest_effect: Option<f64>,
    /// If it is not decided: the executions of each side that would detect a difference with 80 % power, and that
    /// difference as a share.
    pub needed: Option<(usize, f64)>,
}
