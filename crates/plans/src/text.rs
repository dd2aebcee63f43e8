//! Text broken into lines of a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The text in lines of at most `room` columns, broken at spaces where there are some; one line at least.
pub(crate) fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word;
        loop {
            let last = lines.last_mut().expect("there is one from the start");
            let gap = usize::from(!last.is_empty());
            if last.width() + gap + word.width() <= room {
                if gap == 1 {
                    last.push(' ');
                }
                last.push_str(word);
                break;
            }
            if !last.is_empty() {
                lines.push(String::new());
                continue;
            }
            let (head, tail) = word.split_at(bytes_within(word, room));
            last.push_str(head);
            lines.push(String::new());
            word = tail;
            if word.is_empty() {
                lines.pop();
                break;
            }
        }
    }
    lines
}

/// Bytes of the longest beginning within `room` columns, one letter at least.
fn bytes_within(word: &str, room: usize) -> usize {
    let mut columns = 0;
    let over = word.char_indices().skip(1).find(|(at, _)| {
        let before = word[..*at]
            .chars()
            .next_back()
            .and_then(UnicodeWidthChar::width);
        columns += before.unwrap_or(0);
        let next = word[*at..].chars().next().and_then(UnicodeWidthChar::width);
        columns + next.unwrap_or(0) > room
    });
    over.map_or(word.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_where_they_must() {
        assert_eq!(wrapped("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrapped("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
