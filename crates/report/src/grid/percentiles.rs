//! The marking of percentiles that are based on few operations.

/// The explanation of the mark.
pub(crate) const MARKED: &str = "~: fewer than ten independent operations lie beyond this percentile; the next run may give quite another.";

/// A percentile in words, with the mark if it is thin.
pub(crate) fn marked(words: String, is_thin: bool) -> String {
    if is_thin { format!("{words} ~") } else { words }
}
