//! The functions of the language: names, numbers of arguments, values.

use dataset::{permute, random::Range};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    hash,
    scalar::{EvalError, Scalar},
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Double,
    Exp,
    Fnv1a,
    Greatest,
    Int,
    Least,
    Ln,
    Mod,
    Murmur2,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// Most arguments of `least` and `greatest`.
const ARGUMENTS_MAX: usize = 100;

/// A name with its function, the lowest and the highest number of arguments.
type Entry = (&'static str, Function, usize, usize);

const FUNCTIONS: [Entry; 20] = [
    ("abs", Function::Abs, 1, 1),
    ("double", Function::Double, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("greatest", Function::Greatest, 1, ARGUMENTS_MAX),
    ("hash", Function::Murmur2, 1, 2),
    ("hash_fnv1a", Function::Fnv1a, 1, 2),
    ("hash_murmur2", Function::Murmur2, 1, 2),
    ("int", Function::Int, 1, 1),
    ("least", Function::Least, 1, ARGUMENTS_MAX),
    ("ln", Function::Ln, 1, 1),
    ("mod", Function::Mod, 2, 2),
    ("permute", Function::Permute, 2, 3),
    ("pi", Function::Pi, 0, 0),
    ("pow", Function::Power, 2, 2),
    ("power", Function::Power, 2, 2),
    ("random", Function::Random, 2, 2),
    ("random_exponential", Function::RandomExponential, 3, 3),
    ("random_gaussian", Function::RandomGaussian, 3, 3),
    ("random_zipfian", Function::RandomZipfian, 3, 3),
    ("sqrt", Function::Sqrt, 1, 1),
];

/// The names of all functions.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, ..)| *name)
}

/// The function of this name, and its lowest and highest number of arguments.
pub(super) fn named(name: &str) -> Option<(Function, usize, usize)> {
    let mut functions = FUNCTIONS.iter();
    let found = functions.find(|(known, ..)| *known == name);
    found.map(|(_, function, min, max)| (*function, *min, *max))
}

impl Function {
    /// Whether the last argument, which may be missing, is a seed.
    pub(super) fn is_seeded(self) -> bool {
        matches!(self, Self::Murmur2 | Self::Fnv1a | Self::Permute)
    }

    /// Whether its value varies from draw to draw.
    pub(super) fn is_random(self) -> bool {
        matches!(
            self,
            Self::Random | Self::RandomExponential | Self::RandomGaussian | Self::RandomZipfian
        )
    }

    /// The value for these arguments, of which there are as many as the table says; NULL if one of them is NULL.
    pub(super) fn call(
        self,
        arguments: &[Scalar],
        random: &mut Xoshiro256PlusPlus,
    ) -> Result<Scalar, EvalError> {
        if arguments.contains(&Scalar::Null) {
            return Ok(Scalar::Null);
        }
        let double = |function: fn(f64) -> f64| {
            let argument = arguments[0].double()?;
            Ok(Scalar::Double(function(argument)))
        };
        match self {
            Self::Pi => Ok(Scalar::Double(std::f64::consts::PI)),
            Self::Abs => match arguments[0] {
                Scalar::Double(double) => Ok(Scalar::Double(double.abs())),
                other => {
                    let abs = other.int()?.checked_abs();
                    abs.map(Scalar::Int).ok_or(EvalError::OutOfRange("abs"))
                }
            },
            Self::Int => arguments[0].int().map(Scalar::Int),
            Self::Double => double(|it| it),
            Self::Exp => double(f64::exp),
            Self::Ln => double(f64::ln),
            Self::Sqrt => double(f64::sqrt),
            Self::Power => {
                let (base, exponent) = (arguments[0].double()?, arguments[1].double()?);
                Ok(Scalar::Double(base.powf(exponent)))
            }
            Self::Mod => remainder(arguments[0].int()?, arguments[1].int()?),
            Self::Least => extreme(arguments, i64::min, f64::min),
            Self::Greatest => extreme(arguments, i64::max, f64::max),
            Self::Murmur2 | Self::Fnv1a => {
                let (value, seed) = (arguments[0].int()?, arguments[1].int()?);
                let hash = match self {
                    Self::Fnv1a => hash::fnv1a(value, seed),
                    _ => hash::murmur2(value, seed),
                };
                Ok(Scalar::Int(hash))
            }
            Self::Permute => {
                let size = arguments[1].int()?;
                if size < 1 {
                    return Err(EvalError::PermuteSize(size));
                }
                let place = permute(arguments[0].int()?, size, arguments[2].int()?);
                Ok(Scalar::Int(place))
            }
            Self::Random | Self::RandomExponential | Self::RandomGaussian | Self::RandomZipfian => {
                let range = Range::new(arguments[0].int()?, arguments[1].int()?)?;
                let parameter = || arguments[2].double();
                let drawn = match self {
                    Self::RandomExponential => range.exponential(parameter()?, random)?,
                    Self::RandomGaussian => range.gaussian(parameter()?, random)?,
                    Self::RandomZipfian => range.zipfian(parameter()?, random)?,
                    _ => range.uniform(random),
                };
                Ok(Scalar::Int(drawn))
            }
        }
    }
}

/// The remainder of a division, with the sign of the dividend.
pub(super) fn remainder(dividend: i64, divisor: i64) -> Result<Scalar, EvalError> {
    match divisor {
        0 => Err(EvalError::DivisionByZero),
        // The remainder of the smallest integer has no quotient that fits.
        _ => Ok(Scalar::Int(dividend.wrapping_rem(divisor))),
    }
}

/// The lowest or highest argument: a double if one of them is a double.
fn extreme(
    arguments: &[Scalar],
    of_ints: fn(i64, i64) -> i64,
    of_doubles: fn(f64, f64) -> f64,
) -> Result<Scalar, EvalError> {
    let (first, others) = (arguments[0], &arguments[1..]);
    let is_double = |value: &Scalar| matches!(value, Scalar::Double(_));
    if arguments.iter().any(is_double) {
        let mut found = first.double()?;
        for other in others {
            found = of_doubles(found, other.double()?);
        }
        return Ok(Scalar::Double(found));
    }
    let mut found = first.int()?;
    for other in others {
        found = of_ints(found, other.int()?);
    }
    Ok(Scalar::Int(found))
}
