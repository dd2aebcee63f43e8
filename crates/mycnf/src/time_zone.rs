//! The values of `default_time_zone`: offsets, and zones by name, which need the time zone tables.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use crate::catalogue::Family;
use crate::target::Target;

/// What a value of `default_time_zone` needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TimeZone {
    /// Nothing: it is the zone of the machine.
    System,
    /// Nothing: it is an offset from UTC, minutes.
    Offset(i32),
    /// The time zone tables: it is a name.
    Named(Option<FixedZone>),
}

/// A zone with the same offset all year.
///
/// ```text
/// name           offset  since
/// Asia/Shanghai  +08:00  1991
/// Asia/Tokyo     +09:00  1970
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FixedZone {
    name: &'static str,
    offset: &'static str,
    /// The year of its last change; 1970, the first year of a TIMESTAMP, if there was none since.
    since: u16,
}

/// The year in which the times of a TIMESTAMP begin.
const FIRST_YEAR: u16 = 1970;

/// What a named zone needs. A server whose tables have been loaded starts with it.
const NEEDS_TABLES: &str = "a named time zone needs tables that are empty in a new data directory";

/// The offsets that a version takes, minutes.
/// Source: seen: `'+14:00'` and `'-13:30'` start 8.0.33 and 9.7, and neither 5.5, 5.7 nor MariaDB 10.2, 10.11 and 11.8; MySQL
/// Reference Manual, "MySQL Server Time Zone Support": from 8.0.19 on.
fn offsets(target: &Target) -> RangeInclusive<i32> {
    if target.is_at_least(Family::MySql, &[8, 0, 19]) {
        -(13 * 60 + 59)..=14 * 60
    } else {
        -(12 * 60 + 59)..=13 * 60
    }
}

/// From the tz database 2025b: the zones without daylight saving time in 2024 to 2027.
static FIXED: LazyLock<Vec<FixedZone>> = LazyLock::new(|| {
    let lines = include_str!("../catalogue/fixed_zones.tsv").lines().skip(1);
    lines.filter_map(parse_zone).collect()
});

fn parse_zone(line: &'static str) -> Option<FixedZone> {
    let mut fields = line.split('\t');
    Some(FixedZone {
        name: fields.next()?,
        offset: fields.next()?,
        since: fields.next()?.parse().ok()?,
    })
}

impl TimeZone {
    pub(crate) fn of(value: &str) -> Self {
        if value.eq_ignore_ascii_case("system") {
            return Self::System;
        }
        if let Some(minutes) = offset_minutes(value) {
            return Self::Offset(minutes);
        }
        let mut zones = FIXED.iter();
        Self::Named(
            zones
                .find(|zone| zone.name.eq_ignore_ascii_case(value))
                .copied(),
        )
    }

    /// What a version refuses of it with a new data directory, what to do about it, and the offset that is the same in all
    /// respects if there is one; `None` if the version takes it.
    pub(crate) fn refusal(
        self,
        target: &Target,
    ) -> Option<(&'static str, String, Option<&'static str>)> {
        match self {
            Self::System => None,
            Self::Offset(minutes) if offsets(target).contains(&minutes) => None,
            Self::Offset(_) => {
                let (from, to) = offsets(target).into_inner();
                let fix = format!("set an offset from {} to {}", shown(from), shown(to));
                Some(("this version does not accept this offset", fix, None))
            }
            Self::Named(None) => Some((NEEDS_TABLES, NO_FIXED_OFFSET.to_owned(), None)),
            Self::Named(Some(zone)) => {
                let same = zone.is_the_same_always().then_some(zone.offset);
                Some((NEEDS_TABLES, zone.fix(), same))
            }
        }
    }
}

impl FixedZone {
    /// Whether the offset gives the same times as the name for every TIMESTAMP.
    fn is_the_same_always(&self) -> bool {
        self.since == FIRST_YEAR
    }

    /// What to write in place of the name.
    fn fix(&self) -> String {
        let offset = self.offset;
        if self.is_the_same_always() {
            return format!("set '{offset}', which is equivalent");
        }
        format!(
            "set '{offset}', which is equivalent for times after {}, or load the time zone tables first",
            self.since
        )
    }
}

/// What to do about a zone that has another offset in summer, or that is no zone at all.
const NO_FIXED_OFFSET: &str =
    "load the time zone tables before you use this line; no fixed offset is correct all year";

/// `+13:00`
fn shown(minutes: i32) -> String {
    let sign = if minutes < 0 { '-' } else { '+' };
    let minutes = minutes.abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// The minutes of an offset: `+00:00`, `-3:30`; `None` for a name.
fn offset_minutes(value: &str) -> Option<i32> {
    let (sign, rest) = match value.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, value.strip_prefix('+')?),
    };
    let number = |text: &str| -> Option<i32> {
        let is_number =
            (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse().ok())?
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    // A server reads no more than 59 minutes.
    (minutes < 60).then_some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_need_no_tables_and_names_have_offsets_of_their_own() {
        for (value, fix) in [
            ("UTC", "set '+00:00', which is equivalent"),
            ("Asia/Tokyo", "set '+09:00', which is equivalent"),
            ("Etc/GMT-9", "set '+09:00', which is equivalent"),
            ("asia/kolkata", "set '+05:30', which is equivalent"),
            (
                "Asia/Shanghai",
                "set '+08:00', which is equivalent for times after 1991, or",
            ),
        ] {
            let TimeZone::Named(Some(zone)) = TimeZone::of(value) else {
                panic!("{value}");
            };
            assert!(zone.fix().starts_with(fix), "{value}: {}", zone.fix());
        }
        for value in ["Europe/Berlin", "CET", "Mars/Olympus", "", "+09:60", "+9"] {
            assert_eq!(TimeZone::of(value), TimeZone::Named(None), "{value}");
        }
        let takes = |target: &str, value: &str| {
            let target = Target::parse(target).unwrap();
            TimeZone::of(value).refusal(&target).is_none()
        };
        for value in [
            "+09:00", "+8:00", "-3:30", "+13:00", "-12:59", "SYSTEM", "system",
        ] {
            assert!(
                takes("mysql-5.5", value) && takes("mariadb-11.8", value),
                "{value}"
            );
        }
        for value in ["+14:00", "-13:59"] {
            assert!(
                takes("mysql-8.0.33", value) && takes("mysql-9.7", value),
                "{value}"
            );
            // A series means its newest version.
            assert!(
                takes("mysql-8.0", value) && takes("percona-8.0", value),
                "{value}"
            );
            assert!(
                !takes("mysql-5.7", value) && !takes("mariadb-11.8", value),
                "{value}"
            );
            assert!(!takes("mysql-8.0.12", value), "{value}");
        }
        for value in ["+15:00", "-14:00", "+99:00"] {
            assert!(!takes("mysql-9.7", value), "{value}");
        }
        assert!(FIXED.len() > 300);
    }
}
