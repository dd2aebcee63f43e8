//! Words at the start of a sentence.

/// The text with an initial capital: `Throughput`.
pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}
