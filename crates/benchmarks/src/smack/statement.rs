//! A statement's text with placeholders for words: `select * from t where name = '$word'`.

use bstr::BString;

/// A statement's text, split at its placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatementText {
    pub(super) pieces: Vec<Segment>,
}

/// A piece of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Literal(BString),
    /// A word of the dictionary with this index, drawn again for each placeholder.
    Word(usize),
}

impl StatementText {
    /// A text without words.
    pub(super) fn plain(text: &[u8]) -> Self {
        Self {
            pieces: vec![Segment::Literal(text.into())],
        }
    }

    /// A text in which `$name` is a placeholder; an error with the name if `dictionary` returns no index for it.
    ///
    /// A backslash keeps its meaning in SQL and escapes the next character, so `\$` starts no placeholder.
    pub(super) fn with_words(
        text: &[u8],
        dictionary: impl Fn(&str) -> Option<usize>,
    ) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut literal = BString::default();
        let mut rest: &[u8] = text;
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            if byte == b'\\' {
                literal.push(byte);
                if let Some((&protected, behind)) = rest.split_first() {
                    literal.push(protected);
                    rest = behind;
                }
                continue;
            }
            let length = rest
                .iter()
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                .count();
            if byte != b'$' || length == 0 {
                literal.push(byte);
                continue;
            }
            let name = String::from_utf8_lossy(&rest[..length]).into_owned();
            let index = dictionary(&name).ok_or(name)?;
            if !literal.is_empty() {
                pieces.push(Segment::Literal(std::mem::take(&mut literal)));
            }
            pieces.push(Segment::Word(index));
            rest = &rest[length..];
        }
        if !literal.is_empty() || pieces.is_empty() {
            pieces.push(Segment::Literal(literal));
        }
        Ok(Self { pieces })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Result<Vec<String>, String> {
        let names = ["a", "word_2"];
        let text = StatementText::with_words(text.as_bytes(), |name| {
            names.iter().position(|known| *known == name)
        })?;
        Ok(text
            .pieces
            .into_iter()
            .map(|piece| match piece {
                Segment::Literal(text) => text.to_string(),
                Segment::Word(index) => format!("<{}>", names[index]),
            })
            .collect())
    }

    #[test]
    fn words_anywhere() {
        for (text, expected) in [
            ("x = '$a'", &["x = '", "<a>", "'"][..]),
            // Super Smack dropped a word at the very end.
            ("select $a", &["select ", "<a>"]),
            ("$word_2$a", &["<word_2>", "<a>"]),
            // Super Smack stopped at the first backslash.
            (r"like '\%$a'", &[r"like '\%", "<a>", "'"]),
            (r"'\\$a'", &[r"'\\", "<a>", "'"]),
            (r"'\$a'", &[r"'\$a'"]),
            ("cost $ 5", &["cost $ 5"]),
            ("$", &["$"]),
            (r"\", &[r"\"]),
            ("", &[""]),
        ] {
            assert_eq!(pieces(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn unknown_words() {
        assert_eq!(pieces("x = $ab"), Err("ab".to_owned()));
        assert_eq!(pieces("x = $1"), Err("1".to_owned()));
    }

    #[test]
    fn a_long_text_is_not_cut() {
        let text = format!("{}$a", "x".repeat(20_000));
        assert_eq!(pieces(&text).unwrap()[0].len(), 20_000);
    }
}
