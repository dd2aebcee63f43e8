//! The levels of one factor as `[matrix]` writes them: values, labels for values, and ranges of numbers.

use std::ops::Range;

use toml::{Spanned, de::DeValue};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section, source::Source},
};

/// Maximum number of levels of a factor, of combinations, and of runs in a plan.
pub(crate) const RUNS_AT_MOST: u32 = 100_000;

const EXPECTED: &str = "a list of strings and whole numbers, or a range such as \"1..64 x2\"";
const RANGE: &str =
    "a growing range of at most 100000 numbers, such as \"1..64 x2\" or \"10..50 +20\"";

/// A factor of the file.
#[derive(Debug)]
pub(crate) struct WrittenFactor<'a> {
    pub(crate) name: &'a str,
    /// The position of its key.
    pub(crate) at: Range<usize>,
    pub(crate) levels: Vec<WrittenLevel>,
}

/// A level of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenLevel {
    /// Its name in the plan, the record and the report: the value, unless it has a label.
    pub(crate) label: String,
    /// What `{name}` becomes.
    pub(crate) value: String,
    pub(crate) at: Range<usize>,
}

/// The factors of `[matrix]` in the file's order.
pub(crate) fn read<'a>(
    source: Source<'_>,
    section: &Section<'a>,
) -> Result<Vec<WrittenFactor<'a>>, Error> {
    section
        .entries()
        .map(|(key, value)| {
            let name: &str = key.get_ref();
            let mut levels = Vec::new();
            match value.get_ref() {
                DeValue::Array(items) => {
                    for item in items.iter() {
                        levels.extend(level(source, section, name, item)?);
                    }
                }
                DeValue::String(text) if range(text).is_some() => {
                    levels = level(source, section, name, value)?;
                }
                _ => return Err(section.wrong_type(name, value, EXPECTED)),
            }
            let at = key.span();
            Ok(WrittenFactor { name, at, levels })
        })
        .collect()
}

/// The level of an item, or the levels of a range.
fn level<'a>(
    source: Source<'_>,
    section: &Section<'a>,
    name: &'a str,
    item: &'a Spanned<DeValue<'a>>,
) -> Result<Vec<WrittenLevel>, Error> {
    let at = item.span();
    if let Some(table) = section.nested(item, format!("this level of `{name}`")) {
        table.allow(&["label", "value"])?;
        let label = table.parsed("label", "a few words", |text| {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        })?;
        let label = table.required("label", label, "{ label = \"durable\", value = 1 }")?;
        let value = table.parsed("value", "a string or a whole number", |text| {
            Some(text.to_owned())
        })?;
        let value = table.required("value", value, "{ label = \"durable\", value = 1 }")?;
        return Ok(vec![WrittenLevel { label, value, at }]);
    }
    let (text, at) = section.level(name, item, EXPECTED)?;
    let numbers = match range(&text) {
        None => vec![text],
        Some(Some(numbers)) => numbers,
        Some(None) => {
            let problem = Problem::BadValue {
                key: name.to_owned(),
                written: format!("{text:?}"),
                expected: RANGE.to_owned(),
            };
            return Err(source.error(at, problem));
        }
    };
    let levels = numbers.into_iter().map(|number| WrittenLevel {
        label: number.clone(),
        value: number,
        at: at.clone(),
    });
    Ok(levels.collect())
}

/// The numbers of a range, `1..64 x2` or `10..50 +20`, whose last number is at most its end. The outer `None`: no range;
/// the inner one: a range without an end, or of more numbers than a plan has runs.
fn range(text: &str) -> Option<Option<Vec<String>>> {
    let (ends, step) = text.split_once(' ')?;
    let (first, last) = ends.split_once("..")?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let step = step.trim_start();
    let is_product = step.starts_with('x');
    let step = step.strip_prefix(['x', '+'])?;
    if ![first, last, step].into_iter().all(is_number) {
        return None;
    }
    Some(numbers(first, last, step, is_product))
}

fn numbers(first: &str, last: &str, step: &str, is_product: bool) -> Option<Vec<String>> {
    let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
    let step: u64 = step.parse().ok()?;
    let moves = if is_product {
        step > 1 && first > 0
    } else {
        step > 0
    };
    if !moves || first >= last {
        return None;
    }
    let next = |number: &u64| {
        let next = if is_product {
            number.checked_mul(step)
        } else {
            number.checked_add(step)
        };
        next.filter(|next| *next <= last)
    };
    let at_most = RUNS_AT_MOST as usize;
    let numbers: Vec<String> = std::iter::successors(Some(first), next)
        .take(at_most + 1)
        .map(|number| number.to_string())
        .collect();
    (numbers.len() <= at_most).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_numbers() {
        for (text, expected) in [
            ("1..64 x2", Some(Some("1 2 4 8 16 32 64"))),
            ("1..100 x10", Some(Some("1 10 100"))),
            ("1..10 +3", Some(Some("1 4 7 10"))),
            ("0..5 +2", Some(Some("0 2 4"))),
            ("3..10  x3", Some(Some("3 9"))),
            ("64..1 x2", Some(None)),
            ("1..1 x2", Some(None)),
            ("0..8 x2", Some(None)),
            ("1..8 x1", Some(None)),
            ("1..8 +0", Some(None)),
            ("1..99999999 +1", Some(None)),
            ("1..18446744073709551616 x2", Some(None)),
            ("1..8", None),
            ("a..b x2", None),
            ("1..8 y2", None),
            ("10:1", None),
        ] {
            let found = range(text).map(|it| it.map(|numbers| numbers.join(" ")));
            let expected = expected.map(|it| it.map(str::to_owned));
            assert_eq!(found, expected, "{text}");
        }
    }
}
