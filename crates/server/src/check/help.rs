//! The answer to `--verbose --help`: every option that the server knows, with its value.

use std::collections::{BTreeMap, BTreeSet};

/// A server's options and values. Names are spelt in small letters with `_`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Help {
    /// The options that can be given.
    pub(crate) names: BTreeSet<String>,
    /// The values after the options were read.
    pub(crate) values: BTreeMap<String, String>,
}

impl Help {
    /// Reads the two parts of the answer:
    ///
    /// ```text
    ///   -a, --ansi          Use ANSI SQL syntax
    ///   --sort-buffer-size=#
    ///
    /// Variables (--variable-name=value)
    /// and boolean options {FALSE|TRUE}         Value (after reading options)
    /// ---------------------------------------- -----------------------------
    /// sort-buffer-size                         2097152
    /// ```
    pub(crate) fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        let options = lines
            .by_ref()
            .take_while(|line| !line.starts_with("Variables (--"));
        let names = options.filter_map(option_name).collect();
        let rows = lines
            .skip_while(|line| !line.starts_with("-----"))
            .skip(1)
            .take_while(|line| !line.trim().is_empty());
        let values = rows.filter_map(|row| {
            let (name, value) = row.split_once(char::is_whitespace)?;
            Some((folded(name), value.trim().to_owned()))
        });
        Self {
            names,
            values: values.collect(),
        }
    }
}

/// `  -a, --ansi   Use ANSI` and `  --sort-buffer-size=#`
fn option_name(line: &str) -> Option<String> {
    let rest = line.strip_prefix("  ")?;
    let rest = match rest.as_bytes() {
        [b'-', _, b',', b' ', ..] => rest.get(4..)?,
        _ => rest,
    };
    let rest = rest.strip_prefix("--")?;
    let is_part = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    let end = rest
        .find(|character| !is_part(character))
        .unwrap_or(rest.len());
    (end > 0).then(|| folded(&rest[..end]))
}

fn folded(name: &str) -> String {
    name.replace('-', "_").to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_are_read() {
        let text = "mysqld  Ver 5.6.24\n\nUsage: mysqld [OPTIONS]\n  -a, --ansi  Use ANSI\n  --log-bin[=name] \n\
                    \x20                     Log to --nowhere\n  -#, --debug\n\n\
                    Variables (--variable-name=value)\nand boolean options {FALSE|TRUE}   Value (after reading options)\n\
                    --------------------------------- -----------------------------\n\
                    ansi                              FALSE\nlog-bin                           (No default value)\n\
                    init-file                         \nsql-mode                          A,B C\n\nTo see more\nx y\n";
        let help = Help::parse(text);
        let names: Vec<&str> = help.names.iter().map(String::as_str).collect();
        assert_eq!(names, ["ansi", "debug", "log_bin"]);
        let values: Vec<_> = help.values.iter().collect();
        let pairs = [
            ("ansi", "FALSE"),
            ("init_file", ""),
            ("log_bin", "(No default value)"),
            ("sql_mode", "A,B C"),
        ];
        let pairs: Vec<_> = pairs
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        assert_eq!(
            values,
            pairs.iter().map(|(n, v)| (n, v)).collect::<Vec<_>>()
        );
    }

    proptest::proptest! {
        #[test]
        fn no_answer_makes_the_parser_panic(text in "\\PC*") {
            Help::parse(&text);
            Help::parse(&format!("  {text}\nVariables (--x)\n-----\n{text}"));
        }
    }
}
