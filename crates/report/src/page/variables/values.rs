//! Values of variables in words, and their defaults.

use std::collections::{BTreeMap, BTreeSet};

use mycnf::{Catalogue, Family};
use units::{bytes, counted};

/// The catalogue closest to a version such as `10.11.19-MariaDB-0+deb12u1`.
pub(super) fn catalogue(version: &str) -> Catalogue {
    let family = if version.contains("MariaDB") {
        Family::MariaDb
    } else {
        Family::MySql
    };
    let parts = version.split(|c: char| !c.is_ascii_digit());
    let numbers: Vec<u32> = parts.map_while(|part| part.parse().ok()).take(3).collect();
    Catalogue::nearest(family, &numbers)
}

pub(super) fn name_of(catalogue: Catalogue) -> String {
    let documented = if catalogue.is_documented() {
        " (as documented)"
    } else {
        ""
    };
    let product = catalogue.product().title();
    format!("{product} {}{documented}", catalogue.version())
}

/// Whether two values are the same, even if one is written `1` and the other `ON` or `1.000000`.
pub(super) fn is_same(value: &str, default: &str) -> bool {
    let switch = |text: &str| match text {
        "ON" | "YES" | "TRUE" => "1".to_owned(),
        "OFF" | "NO" | "FALSE" => "0".to_owned(),
        other => other.to_owned(),
    };
    let (value, default) = (value.to_uppercase(), default.to_uppercase());
    let numbers = value.parse::<f64>().ok().zip(default.parse::<f64>().ok());
    numbers.map_or(switch(&value) == switch(&default), |(a, b)| a == b)
}

/// The text ` = 64.0 MiB` after a single size in bytes; empty for anything else.
pub(super) fn size_in_words<'a>(mut values: impl Iterator<Item = &'a &'a str>) -> String {
    let (Some(only), None) = (values.next(), values.next()) else {
        return String::new();
    };
    size(only).map_or_else(String::new, |size| format!(" = {}", bytes(size)))
}

/// A number that can only be a size in bytes.
fn size(value: &str) -> Option<u64> {
    let size: u64 = value.parse().ok()?;
    ((1 << 20..1 << 50).contains(&size) && size.is_multiple_of(1024)).then_some(size)
}

pub(super) fn defaults_in_words(defaults: Option<&BTreeSet<&str>>) -> String {
    let shown = |value: &&str| {
        if value.is_empty() {
            "(empty)".to_owned()
        } else {
            (*value).to_owned()
        }
    };
    let defaults: Vec<String> = defaults.into_iter().flatten().map(shown).collect();
    if defaults.is_empty() {
        "–".to_owned()
    } else {
        defaults.join(" or ")
    }
}

pub(super) fn values_in_words(values: &BTreeMap<&str, usize>) -> String {
    let shown = |value: &&str| {
        if value.is_empty() {
            "(empty)".to_owned()
        } else {
            (*value).to_owned()
        }
    };
    match values.len() {
        1 => values.keys().map(shown).collect(),
        n if n > 6 => format!("{n} different values"),
        _ => values
            .iter()
            .map(|(value, runs)| format!("{} ({})", shown(value), counted(*runs, "run")))
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// A value in short form: a size in larger units.
pub(super) fn short(value: &str) -> String {
    match (size(value), value) {
        (Some(size), _) => bytes(size),
        (None, "") => "(empty)".to_owned(),
        (None, value) => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_its_default_in_any_spelling() {
        for (value, default, same) in [
            ("ON", "1", true),
            ("4", "4.000000", true),
            ("Fdatasync", "fdatasync", true),
            ("OFF", "ON", false),
            ("64M", "67108864", false),
        ] {
            assert_eq!(is_same(value, default), same, "{value} {default}");
        }
        assert_eq!(
            name_of(catalogue("10.11.19-MariaDB-0+deb12u1")),
            "MariaDB 10.11"
        );
        assert_eq!(name_of(catalogue("5.6.51-log")), "MySQL 5.6.24");
        assert_eq!(name_of(catalogue("8.0.40")), "MySQL 8.0.33");
        assert_eq!(name_of(catalogue("8.4.3")), "MySQL 8.4 (as documented)");
    }

    #[test]
    fn sizes_are_told_in_larger_units() {
        let told = |values: &[&str]| size_in_words(values.iter());
        assert_eq!(told(&["67108864"]), " = 64.0 MiB");
        for values in [&["151"][..], &["ON"], &["1048577"], &["0", "67108864"], &[]] {
            assert_eq!(told(values), "", "{values:?}");
        }
    }

    #[test]
    fn values_that_differ_say_in_how_many_runs() {
        let values = BTreeMap::from([("", 1), ("64M", 3)]);
        assert_eq!(values_in_words(&values), "(empty) (1 run), 64M (3 runs)");
        assert_eq!(values_in_words(&BTreeMap::from([("ON", 9)])), "ON");
    }
}
