//! A value of an expression, and how pgbench's language converts one type into another.
//!
//! Source: PostgreSQL manual, "pgbench", built-in operators and functions.

use dataset::random::DrawError;

/// A value of an expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
}

/// Why an expression has no value.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub(super) enum EvalError {
    #[error("division by zero")]
    DivisionByZero,
    #[error("the result of {0} is out of range for a 64-bit integer")]
    OutOfRange(&'static str),
    #[error("{0} does not fit into a 64-bit integer")]
    NoInteger(f64),
    #[error("a pause cannot last {0}")]
    Pause(f64),
    #[error("{found} cannot be used as {wanted}")]
    Type {
        found: &'static str,
        wanted: &'static str,
    },
    #[error(transparent)]
    Draw(#[from] DrawError),
    #[error("the size of permute must be above 0, not {0}")]
    PermuteSize(i64),
    /// The variable in this slot holds a text that is no number, boolean or NULL.
    #[error("a variable contains a text, which an expression cannot use")]
    Text(u32),
    /// The variable in this slot has no value.
    #[error("a variable is not set")]
    Unset(u32),
}

impl Scalar {
    fn type_name(self) -> &'static str {
        match self {
            Self::Null => "NULL",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Double(_) => "a double",
        }
    }

    fn wrong_type(self, wanted: &'static str) -> EvalError {
        EvalError::Type {
            found: self.type_name(),
            wanted,
        }
    }

    /// As an integer: a double is rounded, a half to the even neighbour.
    pub(super) fn int(self) -> Result<i64, EvalError> {
        match self {
            Self::Int(int) => Ok(int),
            Self::Double(double) => {
                let rounded = double.round_ties_even();
                // 2^63 itself is the first double that does not fit.
                if (-TWO_TO_63..TWO_TO_63).contains(&rounded) {
                    Ok(rounded as i64)
                } else {
                    Err(EvalError::NoInteger(double))
                }
            }
            other => Err(other.wrong_type("an integer")),
        }
    }

    pub(super) fn double(self) -> Result<f64, EvalError> {
        match self {
            Self::Int(int) => Ok(int as f64),
            Self::Double(double) => Ok(double),
            other => Err(other.wrong_type("a number")),
        }
    }

    /// As a boolean; numbers are none.
    pub(super) fn bool(self) -> Result<bool, EvalError> {
        match self {
            Self::Bool(bool) => Ok(bool),
            other => Err(other.wrong_type("a boolean")),
        }
    }

    /// Whether a condition holds: TRUE, or a number other than 0.
    pub(super) fn is_true(self) -> bool {
        match self {
            Self::Null => false,
            Self::Bool(bool) => bool,
            Self::Int(int) => int != 0,
            Self::Double(double) => double != 0.0,
        }
    }

    /// The value that a text stands for in an expression: `null`, a boolean word, an integer or a double.
    pub(super) fn of_text(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let words: [(&str, Self); 7] = [
            ("null", Self::Null),
            ("true", Self::Bool(true)),
            ("yes", Self::Bool(true)),
            ("on", Self::Bool(true)),
            ("false", Self::Bool(false)),
            ("no", Self::Bool(false)),
            ("off", Self::Bool(false)),
        ];
        let word = words
            .iter()
            .find(|(word, _)| word.eq_ignore_ascii_case(text));
        word.map(|(_, value)| *value)
            .or_else(|| Self::number_of(text))
    }

    /// The number that a text is written as; `None` for any other text, also `inf` and `nan`.
    pub(super) fn number_of(text: &str) -> Option<Self> {
        if let Ok(int) = text.parse() {
            return Some(Self::Int(int));
        }
        let starts_as_number = text
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.'));
        let double = text.parse::<f64>().ok().filter(|double| double.is_finite());
        double.filter(|_| starts_as_number).map(Self::Double)
    }
}

const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_round_to_the_even_neighbour_or_are_refused() {
        for (double, int) in [(2.5, 2), (3.5, 4), (-2.5, -2), (1e18, 10_i64.pow(18))] {
            assert_eq!(Scalar::Double(double).int(), Ok(int));
        }
        for double in [TWO_TO_63, -1e19, f64::INFINITY, f64::NAN] {
            assert!(Scalar::Double(double).int().is_err(), "{double}");
        }
        assert!(Scalar::Double(-TWO_TO_63).int().is_ok());
        assert!(Scalar::Bool(true).int().is_err());
    }

    #[test]
    fn texts_stand_for_values() {
        for (text, value) in [
            ("null", Some(Scalar::Null)),
            ("TRUE", Some(Scalar::Bool(true))),
            ("off", Some(Scalar::Bool(false))),
            ("-7", Some(Scalar::Int(-7))),
            ("1e3", Some(Scalar::Double(1000.0))),
            ("9223372036854775808", Some(Scalar::Double(TWO_TO_63))),
            ("inf", None),
            ("Zoe", None),
            ("", None),
        ] {
            assert_eq!(Scalar::of_text(text.as_bytes()), value, "{text}");
        }
    }
}
