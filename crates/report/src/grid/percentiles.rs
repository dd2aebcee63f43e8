//! The marking of percentiles that are based on few operations.

/// The explanation of the mark.
pub(crate) const MARKED: &str = "~: fewer than ten independent operations are beyond this percentile; the next run may give a very different value.";

/// The same in a line of a terminal, at most as wide as the narrowest one.
const MARKED_IN_SHORT: &str = "~: fewer than ten independent operations beyond it";
/// The mark behind a percentile.
const MARK: char = '~';

/// A percentile in words, with the mark if it is thin.
pub(crate) fn marked(words: String, is_thin: bool) -> String {
    if is_thin {
        format!("{words} {MARK}")
    } else {
        words
    }
}

/// The line that explains the mark; `None` where these lines do not have it.
pub(crate) fn mark_explained(lines: &[String]) -> Option<String> {
    let is_marked = lines.iter().any(|line| line.contains(MARK));
    is_marked.then(|| MARKED_IN_SHORT.to_owned())
}
