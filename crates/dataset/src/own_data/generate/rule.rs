//! The rule of a column as the experiment file writes it: `zipf 1..50k 1.1`, `text 20..200 null 5%`.

use settings::quantity;

use super::{date, law::Law};

/// Characters of a text at most.
pub(super) const TEXT_AT_MOST: u64 = 16 << 20;
/// Digits behind the point at most.
const SCALE_AT_MOST: usize = 12;

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rule {
    pub(super) values: Values,
    pub(super) null_share: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    /// 1, 2, 3, or from another number.
    Sequence {
        first: i64,
    },
    /// Numbers with `scale` digits behind the point, in units of the last of them; both ends belong to the range.
    Numbers {
        first: i64,
        last: i64,
        scale: u32,
        law: Law,
    },
    /// Moments in seconds from 1970-01-01; both ends belong to the range.
    Moments {
        first: i64,
        last: i64,
        with_time: bool,
        law: Law,
    },
    /// Words of letters.
    Text {
        min: u64,
        max: u64,
    },
    /// One of a few texts; the sums of the weights up to each.
    OneOf(Vec<(String, u64)>),
    Constant(String),
    /// A UUID of version 4.
    Uuid,
    TimeOfDay,
    /// This number of bits, as bytes.
    Bits(u32),
    /// A small JSON document.
    Json,
    /// The key of a row of another table.
    References {
        table: String,
        column: String,
        law: Law,
    },
}

impl Rule {
    /// Reads a rule; the error says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (text, null_share) = without_null(text.trim())?;
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim();
        let values = match word {
            "sequence" => Values::Sequence {
                first: match rest {
                    "" => 1,
                    rest => whole(rest).ok_or(format!("`{rest}` is not a number to begin with"))?,
                },
            },
            "text" => text_lengths(rest)?,
            "one" => one_of(rest.strip_prefix("of ").ok_or("write \"one of a, b, c\"")?)?,
            "constant" if !rest.is_empty() => Values::Constant(rest.to_owned()),
            "constant" => return Err("`constant` needs a value".to_owned()),
            "uuid" if rest.is_empty() => Values::Uuid,
            "references" => references(rest)?,
            "uniform" | "zipf" | "exponential" | "normal" => {
                let (range, parameter) = with_parameter(rest);
                range_of(range, Law::of(word, parameter)?)?
            }
            _ if text.contains("..") => range_of(text, Law::Uniform)?,
            _ => {
                return Err(format!(
                    "{text:?} is not a rule: sequence, a range such as 1..100 or 2024-01-01..2025-01-01, \
                     zipf 1..50k 1.1, exponential, normal, text 20..200, one of a, b, constant x, uuid, \
                     references table.column"
                ));
            }
        };
        Ok(Self { values, null_share })
    }
}

/// A rule without its ending `null 5%`, and the share.
fn without_null(text: &str) -> Result<(&str, f64), String> {
    let Some((before, after)) = text.rsplit_once(" null ") else {
        return Ok((text, 0.0));
    };
    // Of a constant or a list, the word can be a part.
    if !after.trim_end().ends_with('%') {
        return Ok((text, 0.0));
    }
    let share = quantity::percent(after.trim());
    let share = share.ok_or(format!("{after:?} is not a share between 0 % and 100 %"))?;
    Ok((before.trim_end(), share))
}

/// A whole number, perhaps negative or with a unit: `-5`, `50k`.
fn whole(text: &str) -> Option<i64> {
    let plain = text.parse().ok();
    plain.or_else(|| quantity::count(text).and_then(|count| i64::try_from(count).ok()))
}

/// A range and the parameter behind it.
fn with_parameter(text: &str) -> (&str, Option<f64>) {
    match text.rsplit_once(char::is_whitespace) {
        Some((range, last)) if range.contains("..") && !last.contains(':') => {
            match last.parse().ok() {
                Some(parameter) => (range.trim_end(), Some(parameter)),
                None => (text, None),
            }
        }
        _ => (text, None),
    }
}

fn ends(text: &str) -> Result<(&str, &str), String> {
    let ends = text.split_once("..");
    let (first, last) = ends.ok_or(format!("{text:?} is not a range such as 1..100"))?;
    Ok((first.trim(), last.trim()))
}

fn range_of(text: &str, law: Law) -> Result<Values, String> {
    let (from, to) = ends(text)?;
    if let (Some(first), Some(last)) = (whole(from), whole(to)) {
        check_order(first, last, text)?;
        return Ok(Values::Numbers {
            first,
            last,
            scale: 0,
            law,
        });
    }
    if let (Some(first), Some(last)) = (date::seconds_of(from), date::seconds_of(to)) {
        check_order(first, last, text)?;
        return Ok(Values::Moments {
            first,
            last,
            with_time: from.contains(':') || to.contains(':'),
            law,
        });
    }
    let scale = digits_behind(from).max(digits_behind(to));
    let scaled = |text: &str| scaled(text, scale);
    match (scaled(from), scaled(to)) {
        (Some(first), Some(last)) if scale <= SCALE_AT_MOST => {
            check_order(first, last, text)?;
            Ok(Values::Numbers {
                first,
                last,
                scale: scale as u32,
                law,
            })
        }
        _ => Err(format!(
            "{text:?} is not a range of numbers, dates (2024-01-31) or times (2024-01-31 12:00:00)"
        )),
    }
}

fn check_order(first: i64, last: i64, text: &str) -> Result<(), String> {
    if first > last {
        return Err(format!("the range {text} ends before it begins"));
    }
    let is_countable = last.checked_sub(first).and_then(|it| it.checked_add(1));
    is_countable
        .map(drop)
        .ok_or(format!("the range {text} is too large"))
}

fn digits_behind(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, behind)| behind.len())
}

/// A number in units of its last digit: 1250 for `12.5` with two digits behind the point.
fn scaled(text: &str, scale: usize) -> Option<i64> {
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if digits.is_empty() || !is_plain(digits) || !is_plain(behind) {
        return None;
    }
    format!("{whole}{behind:0<scale$}").parse().ok()
}

fn text_lengths(text: &str) -> Result<Values, String> {
    let length = |text: &str| match text {
        "0" => Some(0),
        text => quantity::count(text),
    };
    let (min, max) = match text.split_once("..") {
        Some((min, max)) => (length(min.trim()), length(max.trim())),
        None => (length(text), length(text)),
    };
    match (min, max) {
        (Some(min), Some(max)) if min <= max && max <= TEXT_AT_MOST => {
            Ok(Values::Text { min, max })
        }
        _ => Err(format!(
            "{text:?} is not a number of characters: write text 20 or text 20..200, up to 16M"
        )),
    }
}

fn one_of(text: &str) -> Result<Values, String> {
    let mut sum = 0_u64;
    let choices = text.split(',').map(|choice| {
        let choice = choice.trim();
        let (value, weight) = match choice.rsplit_once('@') {
            Some((value, weight)) => match weight.parse::<u64>() {
                Ok(weight) => (value, weight),
                Err(_) => (choice, 1),
            },
            None => (choice, 1),
        };
        if weight == 0 {
            return Err(format!("the weight of {value:?} must be above 0"));
        }
        sum = sum.checked_add(weight).ok_or("the weights are too large")?;
        Ok((value.to_owned(), sum))
    });
    choices.collect::<Result<_, String>>().map(Values::OneOf)
}

fn references(text: &str) -> Result<Values, String> {
    let (target, law) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let target = target.split_once('.');
    let (table, column) = target.ok_or("write \"references table.column\"")?;
    let law = match law.trim() {
        "" => Law::Uniform,
        law => {
            let (name, parameter) = law.split_once(char::is_whitespace).unwrap_or((law, ""));
            let parameter = match parameter.trim() {
                "" => None,
                text => Some(
                    text.parse()
                        .map_err(|_| format!("{text:?} is not a number"))?,
                ),
            };
            Law::of(name, parameter)?
        }
    };
    Ok(Values::References {
        table: table.to_owned(),
        column: column.to_owned(),
        law,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rules_are_read() {
        let numbers = |first, last, scale, law| Values::Numbers {
            first,
            last,
            scale,
            law,
        };
        for (text, values, null_share) in [
            ("sequence", Values::Sequence { first: 1 }, 0.0),
            ("sequence 1000", Values::Sequence { first: 1000 }, 0.0),
            ("1..100", numbers(1, 100, 0, Law::Uniform), 0.0),
            (
                "-5..50k null 5%",
                numbers(-5, 50_000, 0, Law::Uniform),
                0.05,
            ),
            (
                "zipf 1..50k 1.1",
                numbers(1, 50_000, 0, Law::Zipf(1.1)),
                0.0,
            ),
            ("0.50..99.9", numbers(50, 9990, 2, Law::Uniform), 0.0),
            (
                "normal -1.5..1.5",
                numbers(-15, 15, 1, Law::Normal(2.5)),
                0.0,
            ),
            (
                "2024-01-01..2024-01-02",
                Values::Moments {
                    first: 1_704_067_200,
                    last: 1_704_153_600,
                    with_time: false,
                    law: Law::Uniform,
                },
                0.0,
            ),
            (
                "exponential 2024-01-01 00:00:00..2024-01-02 00:00:00 3",
                Values::Moments {
                    first: 1_704_067_200,
                    last: 1_704_153_600,
                    with_time: true,
                    law: Law::Exponential(3.0),
                },
                0.0,
            ),
            ("text 20..200", Values::Text { min: 20, max: 200 }, 0.0),
            ("text 7", Values::Text { min: 7, max: 7 }, 0.0),
            (
                "one of new@70, it's paid@30",
                Values::OneOf(vec![("new".to_owned(), 70), ("it's paid".to_owned(), 100)]),
                0.0,
            ),
            ("constant a b", Values::Constant("a b".to_owned()), 0.0),
            ("uuid null 50 %", Values::Uuid, 0.5),
            (
                "references customer.id zipf 1.2",
                Values::References {
                    table: "customer".to_owned(),
                    column: "id".to_owned(),
                    law: Law::Zipf(1.2),
                },
                0.0,
            ),
        ] {
            let rule = Rule { values, null_share };
            assert_eq!(Rule::parse(text), Ok(rule), "{text}");
        }
    }

    #[test]
    fn faults_are_named() {
        for (text, fault) in [
            ("", "is not a rule"),
            ("sequence x", "`x` is not a number"),
            ("5..1", "ends before it begins"),
            ("1..x", "is not a range of numbers"),
            ("-9223372036854775808..9223372036854775807", "too large"),
            ("zipf 1..10", "`zipf` takes a parameter from 1.001"),
            ("zipf 1..10 1", "`zipf` takes a parameter from 1.001"),
            ("text", "is not a number of characters"),
            ("text 5..1", "is not a number of characters"),
            ("one of a@0", "must be above 0"),
            ("one a", "one of a, b, c"),
            ("constant", "needs a value"),
            ("references customer", "references table.column"),
            ("1..5 null 100%", "is not a share"),
            ("2023-02-29..2024-01-01", "is not a range"),
        ] {
            let found = Rule::parse(text).unwrap_err();
            assert!(found.contains(fault), "{text}: {found}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_rule_or_a_fault(text in "(zipf |text |one of |references |sequence )?[-0-9a-z.,@% :]{0,30}") {
            let _ = Rule::parse(&text);
        }
    }
}
