//! The text of a query barrel: `"10 select_by_username -0.5 1 update_by_username"`.

use std::time::Duration;

use bstr::ByteSlice;

/// One entry of a barrel, fired in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BarrelEntry {
    /// `10 name`: the query, this number of times.
    Query { query: usize, times: u64 },
    /// `-0.5`: a pause of this length.
    Pause(Duration),
}

/// Why a barrel is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BarrelFault {
    /// Byte offset within the barrel's text.
    pub(super) offset: usize,
    pub(super) message: String,
}

/// Parses a barrel; any white space is a separator (Super Smack accepted spaces only).
pub(super) fn parse(
    text: &[u8],
    query: impl Fn(&str) -> Option<usize>,
) -> Result<Vec<BarrelEntry>, BarrelFault> {
    let mut entries = Vec::new();
    let mut words = words(text);
    while let Some((offset, word)) = words.next() {
        let fault = |offset, message| Err(BarrelFault { offset, message });
        if let Some(seconds) = word.strip_prefix('-') {
            match seconds.parse().map(Duration::try_from_secs_f64) {
                Ok(Ok(pause)) => entries.push(BarrelEntry::Pause(pause)),
                _ => return fault(offset, format!("pause '{word}' is not -SECONDS")),
            }
            continue;
        }
        let Ok(times) = word.parse() else {
            return fault(
                offset,
                format!("query_barrel expects a count or a pause, found '{word}'"),
            );
        };
        let Some((offset, name)) = words.next() else {
            return fault(offset, format!("no query follows the count {times}"));
        };
        match query(&name) {
            Some(query) => entries.push(BarrelEntry::Query { query, times }),
            None => {
                return fault(offset, format!("query '{name}' has not been defined"));
            }
        }
    }
    Ok(entries)
}

/// The words between blanks, each with its byte offset.
fn words(text: &[u8]) -> impl Iterator<Item = (usize, String)> {
    let start = text.as_ptr() as usize;
    text.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .map(move |word| {
            (
                word.as_ptr() as usize - start,
                word.to_str_lossy().into_owned(),
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Vec<BarrelEntry>, (usize, String)> {
        parse(text.as_bytes(), |name| {
            ["a", "b"].iter().position(|q| *q == name)
        })
        .map_err(|fault| (fault.offset, fault.message))
    }

    #[test]
    fn entries_in_order() {
        let expected = Ok(vec![
            BarrelEntry::Query { query: 0, times: 2 },
            BarrelEntry::Pause(Duration::from_millis(250)),
            BarrelEntry::Query { query: 1, times: 1 },
        ]);
        for text in ["2 a -0.25 1 b", "  2\ta\n-.25  1\r\nb "] {
            assert_eq!(parsed(text), expected, "{text:?}");
        }
        assert_eq!(parsed(" "), Ok(vec![]));
    }

    #[test]
    fn faults() {
        for (text, offset, message) in [
            ("1 nosuch", 2, "query 'nosuch' has not been defined"),
            (
                "1 a b",
                4,
                "query_barrel expects a count or a pause, found 'b'",
            ),
            ("1 a 2", 4, "no query follows the count 2"),
            ("1 a -x", 4, "pause '-x' is not -SECONDS"),
            ("-", 0, "pause '-' is not -SECONDS"),
            ("-inf", 0, "pause '-inf' is not -SECONDS"),
        ] {
            assert_eq!(parsed(text), Err((offset, message.to_owned())), "{text}");
        }
    }
}
