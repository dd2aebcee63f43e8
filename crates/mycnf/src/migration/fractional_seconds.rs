//! Surplus digits of fractional seconds, which the two families store differently.

use crate::catalogue::{Family, Kind};
use crate::judge::is_part_of;
use crate::subject::Subject;

/// The SQL mode with which MySQL cuts off, as MariaDB does by default; and that with which MariaDB rounds, as MySQL does.
const CUTTING: &str = "TIME_TRUNCATE_FRACTIONAL";
const ROUNDING: &str = "TIME_ROUND_FRACTIONAL";

/// What to know of a move to the other family; `None` where both versions store the same. No line is written: the modes
/// change the results of other statements, too, and only the tables show whether any column has such times.
///
/// Source: MySQL Reference Manual, "Fractional Seconds in Time Values"; MariaDB documentation, "Microseconds in
/// MariaDB".
pub(super) fn note(before: &Subject<'_>, after: &Subject<'_>) -> Option<String> {
    let is_other_family = before.is_mariadb() != after.is_mariadb();
    if !is_other_family || cuts_off(before) == cuts_off(after) {
        return None;
    }
    let [old, new] = [before, after].map(|subject| {
        let what = if cuts_off(subject) {
            "cuts them off"
        } else {
            "rounds"
        };
        format!("{} {what}", subject.target)
    });
    let mode = if after.is_mariadb() {
        ROUNDING
    } else {
        CUTTING
    };
    let remedy = if knows_mode(after, mode) {
        format!("to keep the old results, add {mode} to sql_mode")
    } else {
        format!("{} has no SQL mode for the old results", after.target)
    };
    Some(format!(
        "surplus digits of fractional seconds: {old}, {new}; {remedy}"
    ))
}

/// Whether surplus digits are left out when a time is stored, and not rounded. MySQL 5.5 has no fractional seconds.
fn cuts_off(subject: &Subject<'_>) -> bool {
    if subject.is_mariadb() {
        !has_mode(subject, ROUNDING)
    } else {
        !subject.target.is_at_least(Family::MySql, &[5, 6]) || has_mode(subject, CUTTING)
    }
}

/// Whether the file sets a mode.
fn has_mode(subject: &Subject<'_>, mode: &str) -> bool {
    let line = subject.set("sql_mode");
    let list = line.and_then(|line| line.entry.value.as_deref());
    let mut modes = list.unwrap_or_default().split(',');
    modes.any(|one| one.trim().eq_ignore_ascii_case(mode))
}

/// Whether the version has a mode.
fn knows_mode(subject: &Subject<'_>, mode: &str) -> bool {
    let option = subject.catalogue.row("sql_mode");
    matches!(option.map(|it| &it.kind), Some(Kind::Words(words)) if is_part_of(words, mode))
}
