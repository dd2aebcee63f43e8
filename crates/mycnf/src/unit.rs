//! The units of numbers that a version knows.

use crate::catalogue::{Catalogue, Family};
use crate::target::Target;

/// The units that only later versions know.
const LARGE: [char; 3] = ['T', 'P', 'E'];

/// Whether a version knows units above G. The catalogue of MySQL 8.0.12 also serves later versions, which know them.
///
/// Source: MySQL Reference Manual 8.0, "Using Options to Set Program Variables": as of 8.0.14; MySQL 5.7, `eval_num_suffix`
/// in my_getopt.c, which refuses every other suffix.
fn has_large_units(catalogue: &Catalogue) -> bool {
    catalogue.family() == Family::MariaDb
        || Target::of_catalogue(catalogue).is_at_least(Family::MySql, &[8])
}

/// Whether a version knows the unit of a number; a number without one has none to know.
pub(crate) fn knows_unit(catalogue: &Catalogue, value: &str) -> bool {
    let is_of_number = |character: char| character.is_ascii_digit() || "+-".contains(character);
    let rest = value.trim().trim_start_matches(is_of_number);
    let unit = rest.chars().next().map(|unit| unit.to_ascii_uppercase());
    // Few values have such a unit, and the version takes longer to look up.
    !unit.is_some_and(|unit| LARGE.contains(&unit)) || has_large_units(catalogue)
}

/// Why a value is refused that is no number, or has a unit that the version does not know.
pub(crate) fn not_a_number(catalogue: &Catalogue) -> &'static str {
    if has_large_units(catalogue) {
        "the value is not a number with a unit of K, M, G, T, P or E"
    } else {
        "the value is not a number with a unit of K, M or G"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_versions_know_units_up_to_g() {
        for (family, version, value, is_known) in [
            (Family::MySql, [5, 7], "1G", true),
            (Family::MySql, [5, 7], "64", true),
            (Family::MySql, [5, 7], "many", true),
            (Family::MySql, [5, 5], "1T", false),
            (Family::MySql, [5, 7], "1t", false),
            (Family::MySql, [5, 7], "-1P", false),
            (Family::MySql, [5, 7], "true", false),
            (Family::MySql, [8, 0], "1T", true),
            (Family::MySql, [8, 4], "true", true),
            (Family::MariaDb, [10, 2], "1T", true),
        ] {
            let catalogue = Catalogue::nearest(family, &version);
            assert_eq!(knows_unit(&catalogue, value), is_known, "{value}");
            let names_t = not_a_number(&catalogue).contains('T');
            assert_eq!(names_t, has_large_units(&catalogue), "{value}");
        }
    }
}
