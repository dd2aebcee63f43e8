//! The errors of reading a plan.

/// Why a text is no plan.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{form}: not JSON: {source}")]
    NotJson {
        /// The form that was read.
        form: &'static str,
        /// The reader's message with line and column.
        source: serde_json::Error,
    },
    #[error("{form}: no plan in it")]
    NoPlan {
        /// The form that was read.
        form: &'static str,
    },
}
