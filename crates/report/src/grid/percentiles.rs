//! How percentiles are shown that rest on few operations.

/// What the mark of a percentile means.
pub(crate) const MARKED: &str = "~: fewer than ten independent operations lie beyond this percentile; the next run may give quite another.";

/// A percentile in words, with its mark where it is thin.
pub(crate) fn marked(words: String, is_thin: bool) -> String {
    if is_thin { format!("{words} ~") } else { words }
}
