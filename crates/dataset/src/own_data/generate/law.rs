//! How often each value of a range is drawn.

use rand_xoshiro::Xoshiro256PlusPlus;

use crate::random::Range;

/// How often each value of a range is drawn; the distributions are those of pgbench's language.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Law {
    Uniform,
    /// The first values most often.
    Zipf(f64),
    /// The first values most often.
    Exponential(f64),
    /// The middle values most often.
    Normal(f64),
}

impl Law {
    pub(super) fn of(name: &str, parameter: Option<f64>) -> Result<Self, String> {
        let wrong = |needed: &str| Err(format!("`{name}` takes a parameter {needed}"));
        match (name, parameter) {
            ("uniform", None) => Ok(Self::Uniform),
            ("uniform", Some(_)) => Err("`uniform` takes no parameter".to_owned()),
            ("zipf", Some(it)) if (1.001..=1000.0).contains(&it) => Ok(Self::Zipf(it)),
            ("zipf", _) => wrong("from 1.001 to 1000"),
            ("exponential", Some(it)) if it > 0.0 && it <= 1000.0 => Ok(Self::Exponential(it)),
            ("exponential", _) => wrong("above 0, up to 1000"),
            ("normal", Some(it)) if (2.0..=1000.0).contains(&it) => Ok(Self::Normal(it)),
            ("normal", None) => Ok(Self::Normal(2.5)),
            ("normal", _) => wrong("from 2 to 1000"),
            _ => Err(format!(
                "`{name}` is not a distribution: uniform, zipf, exponential, normal"
            )),
        }
    }

    /// A number from 0 to `count` - 1; `count` is from 1 to 2^63 - 1.
    pub(super) fn draw(self, count: u64, random: &mut Xoshiro256PlusPlus) -> u64 {
        let last = i64::try_from(count - 1).unwrap_or(i64::MAX - 1);
        let range = Range::new(0, last).expect("there is at least one number");
        let drawn = match self {
            Self::Uniform => Ok(range.uniform(random)),
            Self::Zipf(parameter) => range.zipfian(parameter, random),
            Self::Exponential(parameter) => range.exponential(parameter, random),
            Self::Normal(parameter) => range.gaussian(parameter, random),
        };
        let drawn = drawn.expect("the parameter was checked when the rule was read");
        u64::try_from(drawn).expect("the range begins at 0")
    }
}
