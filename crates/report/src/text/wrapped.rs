//! Text broken into lines of a width.

use samples::printable_within;

/// Maximum length of one word, characters: names and paths are untrusted.
const WORD_AT_MOST: usize = 400;

/// The text after a head; its further lines are indented to the same column.
pub fn wrapped_behind(head: &str, text: &str, width: usize) -> String {
    let indent = head.chars().count();
    let text = wrapped(text, width.saturating_sub(indent).max(20));
    let margin = format!("\n{}", " ".repeat(indent));
    format!("{head}{}", text.replace('\n', &margin))
}

/// Text broken between words into lines of at most `width` characters.
pub(crate) fn wrapped(text: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let word = &*printable_within(word, WORD_AT_MOST);
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}
