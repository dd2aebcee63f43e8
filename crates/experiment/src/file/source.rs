//! The text of an experiment file, parsed to tables with positions.

use std::{collections::BTreeSet, ops::Range, path::Path};

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::{
    error::Error,
    file::{
        defaults::Defaults,
        position::SourcePosition,
        problem::Problem,
        template::{self, TemplateSegment},
    },
};

/// Maximum length of a text before it is parsed, bytes.
const BYTES_AT_MOST: usize = 1 << 20;

/// The text of an experiment file and the path for errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) text: &'a str,
    /// The directory of the copies that are read instead of the files that it names.
    pub(crate) kept: Option<&'a Path>,
    /// The defaults for values that the file does not set.
    pub(crate) defaults: Defaults,
}

impl<'a> Source<'a> {
    /// The file's tables.
    pub(crate) fn parse(self) -> Result<Spanned<DeTable<'a>>, Error> {
        if self.text.len() > BYTES_AT_MOST {
            let problem = Problem::FileTooLong {
                bytes: self.text.len(),
                at_most: BYTES_AT_MOST,
            };
            return Err(self.error(0..0, problem));
        }
        DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let is_twice = error.message() == "duplicate key";
            let problem = match self.text.get(span.clone()) {
                Some("load") if is_twice => Problem::LoadTwice,
                _ => Problem::Syntax(error.message().to_owned()),
            };
            self.error(span, problem)
        })
    }

    /// An error at a range of the text's bytes.
    pub(crate) fn error(self, span: Range<usize>, problem: Problem) -> Error {
        Error::File {
            place: Box::new(SourcePosition::new(self.path, self.text, span)),
            problem: Box::new(problem),
        }
    }

    /// The factors in the placeholders of `value`; an error for a placeholder that is not in `factors`.
    pub(crate) fn named_factors<'v>(
        self,
        value: &'v Spanned<DeValue<'_>>,
        factors: &[&str],
    ) -> Result<BTreeSet<&'v str>, Error> {
        let mut named = BTreeSet::new();
        match value.get_ref() {
            DeValue::String(text) => {
                let pieces =
                    template::pieces(text).map_err(|problem| self.error(value.span(), problem))?;
                for piece in pieces {
                    let TemplateSegment::Factor(name) = piece else {
                        continue;
                    };
                    if !factors.contains(&name) {
                        let problem = Problem::UnknownFactor {
                            name: name.to_owned(),
                            factors: factors.iter().map(|&name| name.to_owned()).collect(),
                        };
                        return Err(self.error(self.placeholder(value.span(), name), problem));
                    }
                    named.insert(name);
                }
            }
            DeValue::Array(values) => {
                for value in values.iter() {
                    named.extend(self.named_factors(value, factors)?);
                }
            }
            DeValue::Table(table) => {
                for value in table.values() {
                    named.extend(self.named_factors(value, factors)?);
                }
            }
            _ => {}
        }
        Ok(named)
    }

    /// The position of `{name}` within a value; the whole value when escapes hide it.
    fn placeholder(self, span: Range<usize>, name: &str) -> Range<usize> {
        let within = self.text.get(span.clone()).unwrap_or_default();
        match within.find(&format!("{{{name}}}")) {
            Some(at) => span.start + at..span.start + at + name.len() + 2,
            None => span,
        }
    }
}
