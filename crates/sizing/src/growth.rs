//! How fast data grows, and the time until it has a size.

use crate::target::positive;

/// For messages.
const EXAMPLES: &str = "for example 4%/month or 2G/month";

/// The growth of data over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Growth {
    amount: Amount,
    period: Period,
    /// As it was given, for answers.
    text: String,
}

/// What is added in a period.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    /// A share of the data, so that it grows exponentially.
    Share(f64),
    /// Bytes, so that it grows linearly.
    Bytes(f64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Period {
    Day,
    Week,
    Month,
    Year,
}

impl Period {
    const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Year];

    fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// Mean length in the Gregorian calendar: a year has 365.2425 days.
    fn days(self) -> f64 {
        match self {
            Self::Day => 1.0,
            Self::Week => 7.0,
            Self::Month => DAYS_OF_MONTH,
            Self::Year => 12.0 * DAYS_OF_MONTH,
        }
    }
}

/// Mean length of a month, days.
pub(crate) const DAYS_OF_MONTH: f64 = 365.2425 / 12.0;

/// A growth in the form `4%/month` (of the data at that time) or `2G/month`; the period is day, week, month or year.
pub fn parse_growth(text: &str) -> Result<Growth, String> {
    let text = text.trim();
    let Some((amount, period)) = text.split_once('/') else {
        return Err(format!("{text:?} has no period; {EXAMPLES}"));
    };
    let (amount, period) = (amount.trim(), period.trim());
    let mut periods = Period::ALL.into_iter();
    let Some(period) = periods.find(|it| it.name() == period) else {
        return Err(format!(
            "no period {period:?}; the periods are day, week, month and year"
        ));
    };
    Ok(Growth {
        amount: parse_amount(amount)?,
        period,
        text: format!("{amount}/{}", period.name()),
    })
}

fn parse_amount(text: &str) -> Result<Amount, String> {
    let is_unit = |it: char| it.is_ascii_alphabetic() || it == '%' || it == ' ';
    let number = text.trim_end_matches(is_unit);
    let value: Option<f64> = number.parse().ok();
    if value.is_some_and(|value| value <= 0.0) {
        return Err(format!(
            "{text} is not above 0: only data that grows reaches a limit"
        ));
    }
    if value.is_some() && number == text {
        return Err(format!("{text} has no unit; {EXAMPLES}"));
    }
    let amount = match text.strip_suffix('%') {
        Some(percent) => positive(percent.trim_end()).map(|it| Amount::Share(it / 100.0)),
        None => settings::quantity::bytes(text).map(|it| Amount::Bytes(it as f64)),
    };
    amount.ok_or_else(|| format!("not an amount such as 4% or 2G: {text:?}"))
}

impl Growth {
    /// Days until data has grown from one size to another one; 0 if it is as large already.
    ///
    /// With the share g in each period, n periods multiply the size by (1 + g)ⁿ (compound growth), so that
    /// n = ln(to / from) / ln(1 + g). With an amount in each period, n = (to - from) / amount.
    pub(crate) fn days(&self, from_bytes: f64, to_bytes: f64) -> f64 {
        let periods = match self.amount {
            Amount::Share(share) => (to_bytes / from_bytes).ln() / share.ln_1p(),
            Amount::Bytes(bytes) => (to_bytes - from_bytes) / bytes,
        };
        (periods * self.period.days()).max(0.0)
    }

    /// As it was given: `4%/month`.
    pub fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_compound_and_of_linear_growth() {
        for (growth, to, expected) in [
            // 1.1² = 1.21.
            ("10%/day", 121.0, 2.0),
            ("100%/week", 800.0, 21.0),
            // 12 months are a year.
            ("12%/month", 100.0 * 1.12_f64.powi(12), 365.2425),
            ("50 %/year", 150.0, 365.2425),
            ("25k/day", 100.0 + 102_400.0, 4.0),
            ("100%/day", 100.0, 0.0),
            ("100%/day", 50.0, 0.0),
        ] {
            let days = parse_growth(growth).unwrap().days(100.0, to);
            assert!((days - expected).abs() < 1e-9, "{growth}: {days}");
        }
    }

    #[test]
    fn what_is_no_growth_is_named() {
        for (text, problem) in [
            (
                "4%",
                "\"4%\" has no period; for example 4%/month or 2G/month",
            ),
            ("4%/fortnight", "no period \"fortnight\"; the periods are"),
            ("4%/", "no period \"\""),
            ("4/month", "4 has no unit; for example 4%/month"),
            ("-4%/month", "-4% is not above 0"),
            ("0%/month", "0% is not above 0"),
            ("-2G/month", "-2G is not above 0"),
            ("0G/month", "0G is not above 0"),
            ("x%/month", "not an amount such as 4% or 2G: \"x%\""),
            ("1e9%/month", "not an amount"),
            ("2.5G/month", "not an amount"),
            ("2X/month", "not an amount"),
            ("/month", "not an amount"),
        ] {
            let refused = parse_growth(text).unwrap_err();
            assert!(refused.contains(problem), "{text}: {refused}");
        }
        assert_eq!(parse_growth(" 4% / month ").unwrap().text(), "4%/month");
    }
}
