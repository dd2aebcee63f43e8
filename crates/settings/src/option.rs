//! One option: its name, its kind with bounds, and what is meant where it is not given.

use crate::{
    quantity,
    value::{Rows, Value, Values},
};

/// One option of a benchmark. Its command line, its table in the experiment file and the defaults of its front door come
/// from here.
#[derive(Debug, Clone, Copy)]
pub struct OptionSpec {
    /// As the experiment file spells it: `table_size`.
    pub name: &'static str,
    pub kind: Kind,
    pub absent: Absent,
    /// What it does, in one sentence.
    pub help: &'static str,
    /// What help calls its value: `ROWS`.
    pub value_name: &'static str,
}

/// What the value of an option can be.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// `on` or `off`.
    Flag,
    /// A whole number within bounds, also with a unit: `250k`.
    Count(u64, u64),
    /// A number of bytes within bounds, as `my.cnf` writes it: `16k` is 16,384.
    Bytes(u64, u64),
    /// A number within bounds.
    Number(f64, f64),
    /// One of a few words.
    Choice(&'static [&'static str]),
    Text,
    /// A file; what errors call it, such as `smack file`.
    File(&'static str),
    /// A directory that has to exist; what errors call it.
    Directory(&'static str),
    /// SQL, or a file of it: what errors call that.
    Script(&'static str),
    /// A number of rows, or a multiple of the buffer pool.
    Rows,
    /// Counts for the queries of a barrel.
    Mix,
    /// Files, each with a weight or without; what errors call one.
    WeightedFiles(&'static str),
    /// Names with their values.
    Pairs,
    /// A file of data, or a directory of such files: what errors call it. It may be large, and is not copied.
    DataFile(&'static str),
    /// Names with their files of data; what errors call one.
    DataFiles(&'static str),
    /// Named tables of values: an example of one.
    Tables(&'static str),
}

/// What is meant by an option that is not given.
#[derive(Debug, Clone, Copy)]
pub enum Absent {
    /// It must be given; an example: `warehouses = 10`.
    Required(&'static str),
    /// This value, as one writes it.
    Default(&'static str),
    /// A value that has changed, as one writes it: results of before keep what they had.
    Changed {
        now: &'static str,
        formerly: &'static str,
    },
    /// It has no value.
    Unset,
}

impl Kind {
    /// What a value has to be, for an error.
    pub fn expected(self) -> String {
        match self {
            Self::Flag => "\"on\" or \"off\"".to_owned(),
            Self::Count(min, max) => format!("a count from {min} to {max}"),
            Self::Bytes(min, max) => format!(
                "a size such as \"16k\" or \"1G\", from {min} to {max} bytes"
            ),
            Self::Number(min, max) => format!("a number from {min} to {max}"),
            Self::Choice(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("{word:?}")).collect();
                words.join(" or ")
            }
            Self::Text => "a string".to_owned(),
            Self::File(what) | Self::Directory(what) | Self::DataFile(what) => format!("a {what}"),
            Self::DataFiles(what) => format!("a table of names, each with its {what}"),
            Self::Tables(example) => format!("a table of tables such as {example}"),
            Self::Script(what) => format!("SQL, or a {what}"),
            Self::Rows => {
                "a count such as \"250k\" or \"1M\", or a multiple of the buffer pool such as \"0.5x\""
                    .to_owned()
            }
            Self::WeightedFiles(what) => {
                format!("a {what}, or a list of them, each with or without a weight above 0: \"a.sql@70\"")
            }
            Self::Pairs => "a table of names with their values: { id = 5 }".to_owned(),
            Self::Mix => {
                "counts such as \"10:1\", at least one of them above 0".to_owned()
            }
        }
    }

    /// The value that a text stands for; `None` where it stands for none.
    pub fn parse(self, text: &str) -> Option<Value> {
        match self {
            Self::Flag => match text {
                "on" | "true" => Some(Value::Flag(true)),
                "off" | "false" => Some(Value::Flag(false)),
                _ => None,
            },
            Self::Count(min, max) => {
                let count = match text {
                    "0" => Some(0),
                    text => quantity::count(text),
                };
                count
                    .filter(|count| (min..=max).contains(count))
                    .map(Value::Count)
            }
            Self::Bytes(min, max) => {
                let bytes = quantity::bytes(text).filter(|bytes| (min..=max).contains(bytes));
                bytes.map(Value::Count)
            }
            Self::Number(min, max) => {
                let number = text.parse::<f64>().ok();
                number
                    .filter(|number| (min..=max).contains(number))
                    .map(Value::Number)
            }
            Self::Choice(words) => {
                let word = words.iter().find(|word| **word == text);
                word.map(|word| Value::Choice(word))
            }
            Self::Text | Self::Script(_) => Some(Value::Text(text.to_owned())),
            Self::File(_) => Some(Value::File(text.into())),
            Self::Directory(_) => Some(Value::Directory(text.into())),
            Self::DataFile(_) => Some(Value::DataFile(text.into())),
            // Only a table of the experiment file has names.
            Self::DataFiles(_) | Self::Tables(_) => None,
            Self::Rows => match quantity::ratio(text) {
                Some(ratio) => Some(Value::Rows(Rows::TimesBufferPool(ratio))),
                None => quantity::count(text).map(|count| Value::Rows(Rows::Count(count))),
            },
            Self::Mix => quantity::mix(text).map(Value::Mix),
            Self::WeightedFiles(_) => {
                quantity::weighted_file(text).map(|file| Value::WeightedFiles(vec![file]))
            }
            Self::Pairs => {
                let pair = quantity::pair(text);
                pair.map(|(name, value)| Value::Pairs([(name, value)].into()))
            }
        }
    }
}

pub fn defaults(options: &[OptionSpec]) -> Values {
    let mut values = Values::default();
    for option in options {
        if let Some(value) = option.default() {
            values.set(option.name, value);
        }
    }
    values
}

impl OptionSpec {
    /// An option whose value has the name that is usual for its kind.
    pub const fn new(name: &'static str, kind: Kind, absent: Absent, help: &'static str) -> Self {
        let value_name = match kind {
            Kind::Flag => "ON|OFF",
            Kind::Count(..) => "N",
            Kind::Bytes(..) => "SIZE",
            Kind::Number(..) => "NUMBER",
            Kind::Choice(_) => "CHOICE",
            Kind::Text => "TEXT",
            Kind::File(_) => "FILE",
            Kind::Directory(_) => "DIR",
            Kind::Script(_) => "SQL",
            Kind::Rows => "ROWS",
            Kind::Mix => "COUNTS",
            Kind::WeightedFiles(_) => "FILE[@WEIGHT]",
            Kind::Pairs => "NAME=VALUE",
            Kind::DataFile(_) => "FILE|DIR",
            Kind::DataFiles(_) => "NAME=FILE",
            Kind::Tables(_) => "TABLES",
        };
        Self {
            name,
            kind,
            absent,
            help,
            value_name,
        }
    }

    /// An option with a default, as one writes it.
    pub const fn with_default(
        name: &'static str,
        kind: Kind,
        default: &'static str,
        help: &'static str,
    ) -> Self {
        Self::new(name, kind, Absent::Default(default), help)
    }

    /// An option that has no value unless it is given.
    pub const fn without_default(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self::new(name, kind, Absent::Unset, help)
    }

    /// The same with another name for its value.
    pub const fn of(self, value_name: &'static str) -> Self {
        Self { value_name, ..self }
    }

    /// Its default; `None` where it has none.
    pub fn default(&self) -> Option<Value> {
        match self.absent {
            Absent::Default(text) | Absent::Changed { now: text, .. } => {
                Some(self.of_its_kind(text))
            }
            Absent::Required(_) | Absent::Unset => None,
        }
    }

    /// The default that it had before it changed, if it did; otherwise its default.
    pub fn former_default(&self) -> Option<Value> {
        match self.absent {
            Absent::Changed { formerly, .. } => Some(self.of_its_kind(formerly)),
            _ => self.default(),
        }
    }

    fn of_its_kind(&self, default: &str) -> Value {
        let value = self.kind.parse(default);
        value.expect("a test holds that every default is a value of its option")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_typed_and_bounded() {
        let words = Kind::Choice(&["none", "spec"]);
        for (kind, text, value) in [
            (Kind::Flag, "on", Some(Value::Flag(true))),
            (Kind::Flag, "false", Some(Value::Flag(false))),
            (Kind::Flag, "1", None),
            (Kind::Count(0, 5), "0", Some(Value::Count(0))),
            (Kind::Count(1, 5), "0", None),
            (Kind::Count(1, 5), "6", None),
            (
                Kind::Count(1, 1_000_000),
                "250k",
                Some(Value::Count(250_000)),
            ),
            (
                Kind::Bytes(512, 1 << 20),
                "16k",
                Some(Value::Count(16 << 10)),
            ),
            (Kind::Bytes(512, 1 << 20), "2M", None),
            (Kind::Number(0.001, 1.0), "0.5", Some(Value::Number(0.5))),
            (Kind::Number(0.001, 1.0), "nan", None),
            (words, "spec", Some(Value::Choice("spec"))),
            (words, "Spec", None),
            (Kind::Rows, "4", Some(Value::Rows(Rows::Count(4)))),
            (
                Kind::Rows,
                "4x",
                Some(Value::Rows(Rows::TimesBufferPool(4.0))),
            ),
            (Kind::Rows, "many", None),
            (Kind::Mix, "10:1", Some(Value::Mix(vec![10, 1]))),
            (Kind::Mix, "0:0", None),
        ] {
            assert_eq!(kind.parse(text), value, "{kind:?} {text}");
        }
    }

    #[test]
    fn an_option_that_is_not_given_has_its_default_or_no_value() {
        let option = |name, absent| OptionSpec::new(name, Kind::Count(1, 10), absent, "");
        let values = defaults(&[
            option("with", Absent::Default("3")),
            option("without", Absent::Unset),
            option("needed", Absent::Required("needed = 1")),
        ]);
        assert_eq!(values.count("with"), Some(3));
        assert_eq!(
            (values.count("without"), values.count("needed")),
            (None, None)
        );
    }
}
