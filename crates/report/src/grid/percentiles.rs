//! The marking of percentiles that are based on few operations.

/// The explanation of the mark.
pub(crate) const MARKED: &str = "~: fewer than ten independent operations are beyond this percentile; the next run may give a very different value.";

/// The same in a line of a terminal.
pub(crate) const MARKED_IN_SHORT: &str = "~: fewer than ten independent operations beyond it";
/// The mark behind a percentile.
pub(crate) const MARK: char = '~';

/// A percentile in words, with the mark if it is thin.
pub(crate) fn marked(words: String, is_thin: bool) -> String {
    if is_thin {
        format!("{words} {MARK}")
    } else {
        words
    }
}
