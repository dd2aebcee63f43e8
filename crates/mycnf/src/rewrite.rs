//! The rewriting of an option file line by line; everything else stays as it is, comments in any encoding included.

use crate::rule::Rewrite;

/// A change of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Edit {
    /// Another text for the line, or none.
    Line {
        /// Number of the line, from 1.
        line: u32,
        rewrite: Rewrite,
        /// The reason, for the comment.
        reason: String,
    },
    /// New lines after a line; after 0 they are the first.
    After {
        /// Number of the line, from 1.
        line: u32,
        lines: Vec<String>,
    },
}

/// The text with the edits. A removed line becomes a comment with its reason; a replaced line gets its reason behind it.
pub fn rewritten_text(text: &[u8], edits: &[Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    insert(0, edits, b"\n", &mut out);
    for (number, line) in (1_u32..).zip(text.split_inclusive(|byte| *byte == b'\n')) {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let end = &line[content.len()..];
        let edit = edits.iter().find_map(|edit| match edit {
            Edit::Line {
                line,
                rewrite,
                reason,
            } if *line == number => Some((rewrite, reason)),
            _ => None,
        });
        match edit {
            None => out.extend_from_slice(content),
            Some((Rewrite::Remove, reason)) => {
                out.extend_from_slice(b"# ");
                out.extend_from_slice(content.trim_ascii());
                out.extend_from_slice(format!("    # left out: {}", one_line(reason)).as_bytes());
            }
            Some((Rewrite::Replace(new), reason)) => {
                let mut lines = new.split('\n');
                let first = lines.next().unwrap_or_default();
                out.extend_from_slice(format!("{first}    # {}", one_line(reason)).as_bytes());
                for line in lines {
                    out.extend_from_slice(if end.is_empty() { b"\n" } else { end });
                    out.extend_from_slice(line.as_bytes());
                }
            }
        }
        out.extend_from_slice(end);
        let end = if end.is_empty() { b"\n" } else { end };
        if end.len() > line.len() - content.len() && has_insert(number, edits) {
            out.extend_from_slice(end);
        }
        insert(number, edits, end, &mut out);
    }
    out
}

fn one_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ")
}

fn has_insert(after: u32, edits: &[Edit]) -> bool {
    edits
        .iter()
        .any(|edit| matches!(edit, Edit::After { line, .. } if *line == after))
}

/// Writes the new lines that come after a line.
fn insert(after: u32, edits: &[Edit], end: &[u8], out: &mut Vec<u8>) {
    for edit in edits {
        if let Edit::After { line, lines } = edit
            && *line == after
        {
            for new in lines {
                out.extend_from_slice(new.as_bytes());
                out.extend_from_slice(end);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(line: u32, rewrite: Rewrite, reason: &str) -> Edit {
        Edit::Line {
            line,
            rewrite,
            reason: reason.to_owned(),
        }
    }

    #[test]
    fn lines_change_and_the_rest_stays() {
        let text = b"# \xa4\xca\xa4\xc9\r\n[mysqld]\r\n a = 1\r\nb = 2\r\nc=3";
        let edits = [
            line(3, Rewrite::Remove, "unknown\nhere"),
            line(4, Rewrite::Replace("b2 = 2\nb3 = 3".to_owned()), "was b"),
            Edit::After {
                line: 2,
                lines: vec!["x = 1".to_owned()],
            },
            Edit::After {
                line: 5,
                lines: vec!["y = 1".to_owned()],
            },
        ];
        let expected =
            b"# \xa4\xca\xa4\xc9\r\n[mysqld]\r\nx = 1\r\n# a = 1    # left out: unknown here\r\n\
                         b2 = 2    # was b\r\nb3 = 3\r\nc=3\ny = 1\n";
        assert_eq!(rewritten_text(text, &edits), expected);
        assert_eq!(rewritten_text(text, &[]), text);
        assert_eq!(rewritten_text(b"", &[]), b"");
    }
}
