//! One table of the experiment file, read key by key.

mod option;

use std::{borrow::Cow, ops::Range};

use settings::{OptionSpec, Value};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    error::Error,
    file::{
        defaults::Defaults,
        problem::Problem,
        source::Source,
        template::{self, Levels},
        text::Text,
    },
};

/// One table of the file, read for one combination.
#[derive(Debug, Clone)]
pub(crate) struct Section<'a> {
    source: Source<'a>,
    /// The name in errors: `[load]`.
    title: Cow<'static, str>,
    span: Range<usize>,
    table: Option<&'a DeTable<'a>>,
    /// `None` if braces are plain text.
    levels: Option<&'a Levels>,
    /// True if keys may be written with `-` for `_`, as on a command line.
    takes_dashes: bool,
}

impl<'a> Section<'a> {
    /// The file's top level, where braces are plain text.
    pub(crate) fn top(source: Source<'a>, root: &'a DeTable<'a>) -> Self {
        Self {
            source,
            title: "the experiment".into(),
            span: 0..0,
            table: Some(root),
            levels: None,
            takes_dashes: false,
        }
    }

    /// The table `key` of this one; if it is missing, all its keys are absent.
    pub(crate) fn section(
        &self,
        key: &str,
        title: impl Into<Cow<'static, str>>,
    ) -> Result<Self, Error> {
        let mut section = Self {
            source: self.source,
            title: title.into(),
            span: self.span.clone(),
            table: None,
            levels: self.levels,
            takes_dashes: false,
        };
        if let Some((at, value)) = self.entry(key) {
            let table = value.get_ref().as_table();
            section.table = Some(table.ok_or_else(|| self.wrong_type(key, value, "a table"))?);
            section.span = at;
        }
        Ok(section)
    }

    /// The same table with the levels of one combination.
    pub(crate) fn with_levels(mut self, levels: &'a Levels) -> Self {
        self.levels = Some(levels);
        self
    }

    /// The same table with keys that may be written with `-` for `_`.
    pub(crate) fn with_dashes(mut self) -> Self {
        self.takes_dashes = true;
        self
    }

    /// The name in errors.
    pub(crate) fn title(&self) -> &str {
        &self.title
    }

    pub(crate) fn is_table(&self, key: &str) -> bool {
        let value = self.value(key);
        value.is_some_and(|value| value.get_ref().is_table())
    }

    /// True when the file has this table.
    pub(crate) fn is_there(&self) -> bool {
        self.table.is_some()
    }

    /// An error for the first key that is not in `known`.
    pub(crate) fn allow(&self, known: &[&'static str]) -> Result<(), Error> {
        let unknown = self.table.into_iter().flat_map(DeTable::keys).find(|key| {
            let key: &str = key.get_ref();
            !known.contains(&key) && !self.is_dashed(key, known)
        });
        match unknown {
            None => Ok(()),
            Some(key) => Err(self.source.error(
                key.span(),
                Problem::UnknownKey {
                    key: key.get_ref().to_string(),
                    table: self.title.to_string(),
                    known: known.to_vec(),
                },
            )),
        }
    }

    /// An error at the position of the table.
    pub(crate) fn error(&self, problem: Problem) -> Error {
        self.source.error(self.span.clone(), problem)
    }

    /// An error at the position of the value of `key`, or of the table if the key is absent.
    pub(crate) fn error_at(&self, key: &str, problem: Problem) -> Error {
        let span = self
            .entry(key)
            .map_or_else(|| self.span.clone(), |(_, value)| value.span());
        self.source.error(span, problem)
    }

    /// The value; an error if the key is absent.
    pub(crate) fn required<T>(
        &self,
        key: &str,
        value: Option<T>,
        example: &'static str,
    ) -> Result<T, Error> {
        value.ok_or_else(|| {
            self.error(Problem::MissingKey {
                key: key.to_owned(),
                table: self.title.to_string(),
                example,
            })
        })
    }

    /// A string value; `None` when the key is absent.
    pub(crate) fn string(&self, key: &'static str) -> Result<Option<Text<'a>>, Error> {
        self.value(key)
            .map(|value| match value.get_ref() {
                DeValue::String(_) => self.text(key, value, "a string"),
                _ => Err(self.wrong_type(key, value, "a string")),
            })
            .transpose()
    }

    /// A string or a whole number, parsed; `expected` describes the valid values.
    pub(crate) fn parsed<T>(
        &self,
        key: &'static str,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, Error> {
        self.value(key)
            .map(|value| self.text(key, value, expected)?.parsed(expected, parse))
            .transpose()
    }

    /// `true` or `false`, also from a factor's level.
    pub(crate) fn flag(&self, key: &'static str) -> Result<Option<bool>, Error> {
        let expected = "true or false";
        match self.value(key).map(Spanned::get_ref) {
            Some(DeValue::Boolean(on)) => Ok(Some(*on)),
            _ => self.parsed(key, expected, |text| text.parse().ok()),
        }
    }

    /// One of several words, converted to its value.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, Error> {
        let Some(text) = self.string(key)? else {
            return Ok(None);
        };
        let words: Vec<String> = choices
            .iter()
            .map(|(word, _)| format!("{word:?}"))
            .collect();
        text.parsed(&words.join(" or "), |text| {
            let found = choices.iter().find(|(word, _)| *word == text);
            found.map(|(_, choice)| *choice)
        })
        .map(Some)
    }

    /// The value of an option that is not set.
    pub(crate) fn default(&self, option: &OptionSpec) -> Option<Value> {
        if self.source.defaults < Defaults::OPTIONS {
            option.former_default()
        } else {
            option.default()
        }
    }

    /// A list of strings and whole numbers; `None` when the key is absent.
    pub(crate) fn list(&self, key: &'static str) -> Result<Option<Vec<Text<'a>>>, Error> {
        const EXPECTED: &str = "a list of strings";
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let items = value.get_ref().as_array();
        let items = items.ok_or_else(|| self.wrong_type(key, value, EXPECTED))?;
        items
            .iter()
            .map(|item| self.text(key, item, EXPECTED))
            .collect::<Result<_, _>>()
            .map(Some)
    }

    /// All keys of this table with their scalar values: strings, numbers, and `ON` or `OFF` for booleans.
    pub(crate) fn scalars(&self) -> Result<Vec<Text<'a>>, Error> {
        self.entries()
            .map(|(key, value)| match value.get_ref() {
                DeValue::Boolean(on) => Ok(Text {
                    source: self.source,
                    key: key.get_ref(),
                    value: if *on { "ON" } else { "OFF" }.to_owned(),
                    filled: false,
                    span: value.span(),
                }),
                _ => self.text(key.get_ref(), value, "a string, a number or a boolean"),
            })
            .collect()
    }

    /// The keys of this table with their values.
    pub(crate) fn entries(
        &self,
    ) -> impl Iterator<Item = (&'a Spanned<Cow<'a, str>>, &'a Spanned<DeValue<'a>>)> {
        self.table.into_iter().flat_map(DeTable::iter)
    }

    /// Each key of this table with its position and its value as a list of levels; a single level is a list of one.
    pub(crate) fn level_lists(&self) -> Result<Vec<LevelList<'a>>, Error> {
        const EXPECTED: &str = "a list of strings and whole numbers";
        self.entries()
            .map(|(key, value)| {
                let levels = match value.get_ref() {
                    DeValue::Array(items) => items
                        .iter()
                        .map(|item| self.level(key.get_ref(), item, EXPECTED))
                        .collect::<Result<_, _>>()?,
                    _ => vec![self.level(key.get_ref(), value, EXPECTED)?],
                };
                Ok(LevelList {
                    name: key.get_ref(),
                    at: key.span(),
                    levels,
                })
            })
            .collect()
    }

    /// The tables of the array of tables `key`.
    pub(crate) fn sections(
        &self,
        key: &'static str,
        title: &'static str,
    ) -> Result<Vec<Self>, Error> {
        let Some(value) = self.value(key) else {
            return Ok(Vec::new());
        };
        let wrong = || self.wrong_type(key, value, "an array of tables");
        let items = value.get_ref().as_array().ok_or_else(wrong)?;
        items
            .iter()
            .map(|item| self.nested(item, title).ok_or_else(wrong))
            .collect()
    }

    /// A table that is a value in this one; `None` if the value is no table.
    pub(crate) fn nested(
        &self,
        value: &'a Spanned<DeValue<'a>>,
        title: impl Into<Cow<'static, str>>,
    ) -> Option<Self> {
        Some(Self {
            source: self.source,
            title: title.into(),
            span: value.span(),
            table: Some(value.get_ref().as_table()?),
            levels: self.levels,
            takes_dashes: false,
        })
    }

    /// True for a known key that is written with `-`; one that is written both ways is unknown.
    fn is_dashed(&self, key: &str, known: &[&'static str]) -> bool {
        let plain = key.replace('-', "_");
        let is_twice = self
            .table
            .is_some_and(|table| table.contains_key(plain.as_str()));
        self.takes_dashes && known.contains(&plain.as_str()) && !is_twice
    }

    fn entry(&self, key: &str) -> Option<(Range<usize>, &'a Spanned<DeValue<'a>>)> {
        let table = self.table?;
        let found = table.get_key_value(key);
        let dashed = || table.get_key_value(key.replace('_', "-").as_str());
        let (key, value) = if self.takes_dashes {
            found.or_else(dashed)
        } else {
            found
        }?;
        Some((key.span(), value))
    }

    /// The value of `key` in the file.
    pub(crate) fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.entry(key).map(|(_, value)| value)
    }

    /// A string or a whole number with its position.
    pub(crate) fn level(
        &self,
        key: &'a str,
        value: &'a Spanned<DeValue<'a>>,
        expected: &str,
    ) -> Result<(String, Range<usize>), Error> {
        let level = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(_) => self.text(key, value, expected)?.value,
            _ => return Err(self.wrong_type(key, value, expected)),
        };
        Ok((level, value.span()))
    }

    fn text(
        &self,
        key: &'a str,
        value: &'a Spanned<DeValue<'a>>,
        expected: &str,
    ) -> Result<Text<'a>, Error> {
        let mut is_filled = false;
        let text = match (value.get_ref(), self.levels) {
            (DeValue::String(text), Some(levels)) => {
                let filled = template::fill(text, levels)
                    .map_err(|problem| self.source.error(value.span(), problem))?;
                is_filled = filled != **text;
                filled
            }
            (DeValue::String(text), None) => text.to_string(),
            // The value of a whole number is kept, not its notation, such as 0x10 or 1_000.
            (DeValue::Integer(number), _) => i64::from_str_radix(number.as_str(), number.radix())
                .map_err(|_| self.wrong_type(key, value, expected))?
                .to_string(),
            (DeValue::Float(number), _) => number.as_str().to_owned(),
            _ => return Err(self.wrong_type(key, value, expected)),
        };
        Ok(Text {
            source: self.source,
            key,
            value: text,
            filled: is_filled,
            span: value.span(),
        })
    }

    /// The error for a value of another type than `expected`.
    pub(crate) fn wrong_type(
        &self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        expected: &str,
    ) -> Error {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a decimal point",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date or time",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.source.error(
            value.span(),
            Problem::WrongType {
                key: key.to_owned(),
                found: found.to_owned(),
                expected: expected.to_owned(),
            },
        )
    }
}

/// A factor's name with a list of its levels, each with its position.
#[derive(Debug)]
pub(crate) struct LevelList<'a> {
    pub(crate) name: &'a str,
    /// The position of the key.
    pub(crate) at: Range<usize>,
    /// Each level with its position.
    pub(crate) levels: Vec<(String, Range<usize>)>,
}
