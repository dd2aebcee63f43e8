//! The value of a benchmark's option, read as its kind says.

use settings::{Kind, NamedTable, OptionSpec, Value, WeightedFile, quantity};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::Section;
use crate::{error::Error, file::text::Text};

impl Section<'_> {
    /// The value of an option; `None` where the key is absent.
    pub(crate) fn option(&self, option: &OptionSpec) -> Result<Option<Value>, Error> {
        let (name, kind) = (option.name, option.kind);
        let parse = |text: Text<'_>| text.parsed(&kind.expected(), |text| kind.parse(text));
        match kind {
            Kind::File(what) => {
                let file = self.string(name)?;
                let file = file.map(|file| file.own_file(what)).transpose()?;
                Ok(file.map(Value::File))
            }
            Kind::Flag => match self.value(name).map(Spanned::get_ref) {
                Some(DeValue::Boolean(on)) => Ok(Some(Value::Flag(*on))),
                _ => self.string(name)?.map(parse).transpose(),
            },
            Kind::Script(what) => {
                let Some(text) = self.string(name)? else {
                    return Ok(None);
                };
                let is_file = text.is_own_file() || text.value.ends_with(".sql");
                if is_file {
                    Ok(Some(Value::File(text.own_file(what)?)))
                } else {
                    parse(text).map(Some)
                }
            }
            Kind::Directory(what) => {
                let directory = self.string(name)?;
                let directory = directory.map(|text| text.directory(what)).transpose()?;
                Ok(directory.map(Value::Directory))
            }
            Kind::Choice(_) => self.string(name)?.map(parse).transpose(),
            Kind::WeightedFiles(what) => self.weighted_files(name, kind, what),
            Kind::Pairs => self.pairs(name),
            Kind::DataFile(what) => {
                let file = self.string(name)?;
                let file = file.map(|file| file.data_file(what)).transpose()?;
                Ok(file.map(Value::DataFile))
            }
            Kind::DataFiles(what) => self.data_files(name, what),
            Kind::Tables(_) => self.tables(name, &kind.expected()),
            Kind::Text
            | Kind::Count(..)
            | Kind::Bytes(..)
            | Kind::Number(..)
            | Kind::Rows
            | Kind::Mix => self.parsed(name, &kind.expected(), |text| kind.parse(text)),
        }
    }

    /// Files, each with its weight: one string, or a list of them.
    fn weighted_files(
        &self,
        key: &'static str,
        kind: Kind,
        what: &'static str,
    ) -> Result<Option<Value>, Error> {
        let expected = kind.expected();
        let Some(value) = self.value(key) else {
            return Ok(None);
        };
        let texts = match value.get_ref() {
            DeValue::String(_) => vec![self.text(key, value, &expected)?],
            DeValue::Array(items) if !items.is_empty() => (items.iter())
                .map(|item| self.text(key, item, &expected))
                .collect::<Result<_, _>>()?,
            _ => return Err(self.wrong_type(key, value, &expected)),
        };
        let files = texts.into_iter().map(|text| {
            let file = text.parsed(&expected, quantity::weighted_file)?;
            let named = Text {
                value: file.path.to_string_lossy().into_owned(),
                ..text
            };
            Ok(WeightedFile {
                path: named.own_file(what)?,
                ..file
            })
        });
        let files = files.collect::<Result<_, Error>>()?;
        Ok(Some(Value::WeightedFiles(files)))
    }

    /// Names with their values: a table.
    fn pairs(&self, key: &'static str) -> Result<Option<Value>, Error> {
        if self.value(key).is_none() {
            return Ok(None);
        }
        let table = self.section(key, format!("{} {key}", self.title))?;
        let values = table.scalars()?.into_iter();
        let pairs = values.map(|text| (text.key.to_owned(), text.value));
        Ok(Some(Value::Pairs(pairs.collect())))
    }

    /// Names with their files of data: a table.
    fn data_files(&self, key: &'static str, what: &'static str) -> Result<Option<Value>, Error> {
        if self.value(key).is_none() {
            return Ok(None);
        }
        let table = self.section(key, format!("{} {key}", self.title))?;
        let files = table.scalars()?.into_iter();
        let files = files.map(|text| Ok((text.key.to_owned(), text.data_file(what)?)));
        Ok(Some(Value::DataFiles(files.collect::<Result<_, Error>>()?)))
    }

    /// Tables by name, each with values and with tables of values.
    fn tables(&self, key: &'static str, expected: &str) -> Result<Option<Value>, Error> {
        if self.value(key).is_none() {
            return Ok(None);
        }
        let all = self.section(key, format!("{} {key}", self.title))?;
        let entries = all.table.into_iter().flat_map(DeTable::iter);
        let tables = entries.map(|(name, value)| {
            let name: &str = name.get_ref();
            if !value.get_ref().is_table() {
                return Err(all.wrong_type(name, value, expected));
            }
            let table = all.section(name, format!("{} {name}", all.title))?;
            let mut read = NamedTable {
                name: name.to_owned(),
                ..NamedTable::default()
            };
            for (key, value) in table.table.into_iter().flat_map(DeTable::iter) {
                let key: &str = key.get_ref();
                if value.get_ref().is_table() {
                    let inner = table.section(key, format!("{} {key}", table.title))?;
                    let pairs = inner.scalars()?.into_iter();
                    let pairs = pairs.map(|text| (text.key.to_owned(), text.value));
                    read.inner.push((key.to_owned(), pairs.collect()));
                } else {
                    let text = table.text(key, value, "a string, a number or a table")?;
                    read.values.push((key.to_owned(), text.value));
                }
            }
            Ok(read)
        });
        Ok(Some(Value::Tables(tables.collect::<Result<_, Error>>()?)))
    }
}
