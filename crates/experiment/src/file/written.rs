//! Text as it is written into an experiment file.

/// A string of the file with this text, where braces mean nothing: a level, a question.
pub fn string(text: &str) -> String {
    // JSON escapes as TOML does, but for DEL, which TOML does not take as it is.
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{7f}', "\\u007f")
}

/// A string of the file with this text, where braces would be placeholders.
pub fn literal(text: &str) -> String {
    string(&text.replace('{', "{{").replace('}', "}}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::file::template::{Levels, fill};

    fn read(written: &str) -> String {
        let file = format!("key = {written}");
        let table = toml::de::DeTable::parse(&file).unwrap();
        let (_, value) = table.get_ref().iter().next().unwrap();
        value.get_ref().as_str().unwrap().to_owned()
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_it_was(text in any::<String>()) {
            prop_assert_eq!(read(&string(&text)), text.as_str());
            prop_assert_eq!(fill(&read(&literal(&text)), &Levels::new()).unwrap(), text);
        }
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
