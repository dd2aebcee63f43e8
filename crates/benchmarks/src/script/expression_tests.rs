//! Expressions and their values, with pgbench as the oracle.

use std::process::Command;

use proptest::prelude::*;
use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::SeedableRng};

use super::*;
use crate::script::{lexer::tokens, op::Scope, scalar::EvalError};

/// Expressions with the values that pgbench 15.18 prints by debug(); `error` where it refuses one.
const PGBENCH: &[(&str, &str)] = &[
    ("1 + 2 * 3", "int 7"),
    ("- 2 * 3 % 4", "int -2"),
    ("-7 / 2", "int -3"),
    ("-7 % 3", "int -1"),
    ("7 % -3", "int 1"),
    ("7.0 / 2", "double 3.5"),
    ("1.0 / 0", "double Infinity"),
    ("2 - 3 - 4", "int -5"),
    ("~ 1 + 2", "int -4"),
    ("~ 1 | 2", "int -2"),
    ("1 | 2 # 3 & 4 << 1", "int 0"),
    ("5 & 3 | 8", "int 9"),
    ("1 << 62", "int 4611686018427387904"),
    ("-1 >> 3", "int -1"),
    ("5 # 1", "int 4"),
    ("not 1 = 2 and 3 > 2", "boolean true"),
    ("not false or true", "boolean true"),
    ("not (1 = 1) or null is null", "boolean true"),
    ("false and 1 / 0 = 1", "boolean false"),
    ("true or 1 / 0 = 1", "boolean true"),
    ("null and true", "null"),
    ("null or true", "null"),
    ("true and null", "null"),
    ("false or null", "null"),
    ("1 = 1.0", "boolean true"),
    ("1 <> 2", "boolean true"),
    ("1 != 1", "boolean false"),
    ("1.5 <= 1.5", "boolean true"),
    ("2 >= 3", "boolean false"),
    ("null = null", "null"),
    ("null + 1", "null"),
    ("1 is null", "boolean false"),
    ("null isnull", "boolean true"),
    ("1 notnull", "boolean true"),
    ("true is not null", "boolean true"),
    ("(1 = 1) is true", "boolean true"),
    ("(1 = 1) is not true", "boolean false"),
    ("1 is true", "boolean false"),
    ("null is false", "boolean false"),
    ("case when null then 1 else 2 end", "int 2"),
    ("case when 0 then 1 when 0.5 then 2 else 3 end", "int 2"),
    ("case when false then 1 end", "null"),
    ("case when 1 > 2 then 1 / 0 else 10 end", "int 10"),
    ("abs(-17)", "int 17"),
    ("abs(-17.5)", "double 17.5"),
    ("double(5432)", "double 5432"),
    ("exp(1.0)", "double 2.71828182845905"),
    ("greatest(5, 4, 3, 2)", "int 5"),
    ("greatest(5, 4.5, 3, 2)", "double 5"),
    ("least(5, 4, 3, 2.1)", "double 2.1"),
    ("least(1)", "int 1"),
    ("hash(10, 5432)", "int -5817877081768721676"),
    ("hash_fnv1a(10, 5432)", "int -7793829335365542153"),
    ("hash_murmur2(-3, 7)", "int -2864142148802779623"),
    ("hash(null, 1)", "null"),
    ("int(5.4 + 3.8)", "int 9"),
    ("int(2.5)", "int 2"),
    ("int(-3.5)", "int -4"),
    ("ln(2.718281828459045)", "double 1"),
    ("mod(54, 32)", "int 22"),
    ("mod(-54, 32)", "int -22"),
    ("pi()", "double 3.14159265358979"),
    ("pow(2.0, 10)", "double 1024"),
    ("power(2, 0.5)", "double 1.4142135623731"),
    ("sqrt(2.0)", "double 1.4142135623731"),
    ("permute(0, 4, 1)", "int 0"),
    ("permute(5, 1000, 42)", "int 387"),
    ("permute(-5, 1000, 42)", "int 153"),
    ("permute(123456789, 1000000007, 7)", "int 354990864"),
    ("permute(12, 1024, -9)", "int 973"),
    (
        "permute(3, 9223372036854775807, 99)",
        "int 5958582178497338288",
    ),
    ("-9223372036854775808", "int -9223372036854775808"),
    ("9223372036854775807", "int 9223372036854775807"),
    ("1e3", "double 1000"),
    (".5 + 1.", "double 1.5"),
    ("1E-2 * 3", "double 0.03"),
    ("+ 4", "int 4"),
    ("- - 4", "int 4"),
    ("2 * -3", "int -6"),
    ("TRUE", "boolean true"),
    ("Null", "null"),
    ("1 between_error", "error"),
    ("1 + true", "error"),
    ("9223372036854775807 + 1", "error"),
    ("-9223372036854775807 - 2", "error"),
    ("4611686018427387904 * 2", "error"),
    ("1 / 0", "error"),
    ("1 % 0", "error"),
    ("int(1e30)", "error"),
    ("not 1", "error"),
    ("random(2, 1)", "error"),
    ("permute(1, 0, 1)", "error"),
    ("1 < 2 < 3", "error"),
    ("1 is null is null", "boolean false"),
    ("abs(1, 2)", "error"),
    ("nofunc(1)", "error"),
    ("(1", "error"),
    ("9223372036854775808", "error"),
    ("1 = true", "error"),
    ("sqrt(null)", "null"),
    ("1 + 2 << 1", "int 6"),
    ("2 + 3 & 4", "int 4"),
    ("1 << 2 + 1", "int 8"),
    ("not 1 = 1", "boolean false"),
    ("1 > 2 or 2 > 1 and false", "boolean false"),
    ("1 + not 2 = 3", "error"),
];

/// The value of an expression as debug() prints it.
fn value(text: &str) -> Result<Scalar, String> {
    let tokens = tokens(text.as_bytes(), 0..text.len()).map_err(|fault| fault.1)?;
    let slot = &mut |name: &str| match name {
        "seven" => Ok(7),
        _ => Err(name.to_owned()),
    };
    let parsed = parse(&tokens, 1, slot).map_err(|fault| fault.1)?;
    let mut scope = Scope {
        load: |slot| match slot {
            7 => Ok(Scalar::Int(7)),
            slot => Err(EvalError::Unset(slot)),
        },
        random: &mut Xoshiro256PlusPlus::seed_from_u64(1),
        stack: &mut Vec::new(),
    };
    scope
        .evaluate(&parsed.code)
        .map_err(|error| error.to_string())
}

/// Whether a value is the one that pgbench prints, which has 15 digits of a double.
fn is_printed_as(value: &Result<Scalar, String>, printed: &str) -> bool {
    match (value, printed.split_once(' ')) {
        (Err(_), _) => printed == "error",
        (Ok(Scalar::Null), _) => printed == "null",
        (Ok(Scalar::Int(int)), Some(("int", text))) => text == int.to_string(),
        (Ok(Scalar::Bool(bool)), Some(("boolean", text))) => text == bool.to_string(),
        (Ok(Scalar::Double(double)), Some(("double", text))) => {
            let theirs: f64 = text.to_lowercase().parse().unwrap();
            theirs == *double || (theirs - double).abs() <= 1e-13 * theirs.abs()
        }
        (Ok(_), _) => false,
    }
}

#[test]
fn values_are_those_of_pgbench() {
    for (text, printed) in PGBENCH {
        let value = value(text);
        assert!(
            is_printed_as(&value, printed),
            "{text}: {value:?}, not {printed}"
        );
    }
}

/// Asks pgbench itself where DBDYNO_PGBENCH has its options of the connection: `-h /run/pg -U postgres postgres`.
#[test]
fn pgbench_says_the_same() {
    let Ok(options) = std::env::var("DBDYNO_PGBENCH") else {
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    let script = dir.path().join("one.sql");
    for (text, _) in PGBENCH {
        std::fs::write(&script, format!("\\set x debug({text})\n")).unwrap();
        let output = Command::new("pgbench")
            .args(["-n", "-t", "1", "-f"])
            .arg(&script)
            .args(options.split_whitespace())
            .output()
            .unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        let mut lines = errors.lines();
        let printed = lines.find_map(|line| line.split_once("command=1): "));
        let printed = printed.map_or("error", |(_, value)| value);
        let value = value(text);
        assert!(
            is_printed_as(&value, printed),
            "{text}: {value:?}, not {printed}"
        );
    }
}

#[test]
fn what_is_added_to_pgbench() {
    for (text, printed) in [
        ("1 = 1 && ! (1 = 2)", "boolean true"),
        ("1 = 2 || 2 = 2", "boolean true"),
        (":seven * 6", "int 42"),
        ("abs(-9223372036854775807 - 1)", "error"),
    ] {
        let value = value(text);
        assert!(is_printed_as(&value, printed), "{text}: {value:?}");
    }
}

#[test]
fn draws_stay_in_their_range() {
    for text in [
        "random(5, 7)",
        "random_exponential(5, 7, 2.0)",
        "random_gaussian(5, 7, 2.0)",
        "random_zipfian(5, 7, 1.5)",
    ] {
        assert!(matches!(value(text), Ok(Scalar::Int(5..=7))), "{text}");
    }
}

#[test]
fn nesting_has_a_limit() {
    let deep = "(".repeat(100_000) + "1";
    assert!(value(&deep).unwrap_err().contains("deeper"));
    assert!(value(&"-".repeat(100_000)).unwrap_err().contains("deeper"));
    let wide = "1 + ".repeat(10_000) + "1";
    assert_eq!(value(&wide), Ok(Scalar::Int(10_001)));
}

proptest! {
    #[test]
    fn any_text_has_a_value_or_an_error(
        text in "\\PC*|([0-9.e+*/%()<>=!|&~#,: -]|and|or|not|case|when|then|else|end|is|null|true|random|permute|:seven)*"
    ) {
        let _ = value(&text);
    }
}
