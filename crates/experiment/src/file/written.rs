//! Keys and values as they are written into an experiment file.

use toml_edit::{Key, Value};

/// A string of the file with this text, where braces mean nothing: a level, a question.
pub fn string(text: &str) -> Value {
    let quoted = quoted(text);
    quoted.parse().expect("every quoted text is a string")
}

/// A string of the file with this text, where braces would be placeholders.
pub fn literal(text: &str) -> Value {
    string(&text.replace('{', "{{").replace('}', "}}"))
}

/// A whole number of the file; one beyond TOML's own is a text, which is read as the same number.
pub fn number(number: u64) -> Value {
    i64::try_from(number).map_or_else(|_| string(&number.to_string()), Value::from)
}

/// A key in quotes, which may have any text: the name of a table.
pub fn quoted_key(text: &str) -> Key {
    let quoted = quoted(text);
    quoted.parse().expect("every quoted text is a key")
}

/// A key with comments in front of it, each a line; a line feed in a comment becomes a blank.
pub fn commented_key(key: &str, comments: &[&str]) -> Key {
    let lines = comments.iter().map(|comment| {
        let comment = comment.replace(char::is_control, " ");
        format!("# {comment}\n")
    });
    let mut key = Key::new(key);
    key.leaf_decor_mut().set_prefix(lines.collect::<String>());
    key
}

/// The text in double quotes. The writer itself would choose between four kinds of quotes by the text.
fn quoted(text: &str) -> String {
    // JSON escapes as TOML does, but for DEL, which TOML does not take as it is.
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file::template::{Levels, fill};

    fn read(written: &Value) -> String {
        let file = format!("key = {written}");
        let table = toml::de::DeTable::parse(&file).unwrap();
        let (_, value) = table.get_ref().iter().next().unwrap();
        value.get_ref().as_str().unwrap().to_owned()
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_it_was(text in any::<String>()) {
            prop_assert_eq!(read(&string(&text)), text.as_str());
            let key = quoted_key(&text);
            prop_assert_eq!(key.get(), text.as_str());
            prop_assert_eq!(fill(&read(&literal(&text)), &Levels::new()).unwrap(), text);
        }
    }

    #[test]
    fn every_number_is_written() {
        assert_eq!(number(7).to_string(), "7");
        assert_eq!(number(u64::MAX).to_string(), "\"18446744073709551615\"");
    }

    #[test]
    fn a_comment_ends_with_its_line() {
        let mut file = toml_edit::DocumentMut::new();
        let key = commented_key("format", &["one", "two\nseed = 2"]);
        file.insert_formatted(&key, toml_edit::value(1));
        assert_eq!(file.to_string(), "# one\n# two seed = 2\nformat = 1\n");
    }

    #[test]
    fn what_rust_or_json_would_write_otherwise() {
        for text in [
            "/run/{a}",
            "e\u{301}.sock",
            "\u{7f}",
            "\u{1b}[0m",
            "\"\\\n\t\0",
            "\u{2028}",
        ] {
            assert_eq!(read(&string(text)), text);
            assert_eq!(fill(&read(&literal(text)), &Levels::new()).unwrap(), text);
        }
    }
}
