//! Options that every validator accepts, but that prevent a new server from starting.

use crate::finding::{Finding, Severity};
use crate::given_options::Options;

/// The findings about such options.
pub fn traps(options: &Options) -> Vec<Finding> {
    time_zone(options).into_iter().collect()
}

/// A named zone needs the time zone tables, which are empty in a new data directory: every version fails to start, and
/// none of its own checks finds it.
fn time_zone(options: &Options) -> Option<Finding> {
    let entry = options.last("default_time_zone")?;
    let zone = entry.value.as_deref().unwrap_or_default();
    let hint = match offset_of(zone)? {
        Some(offset) => format!("write '{offset}', which is the same"),
        None => "write its offset, '+09:00' for example".to_owned(),
    };
    let what = "a named time zone needs tables that a new data directory has empty";
    let finding = Finding::new(entry, Severity::Refused, what);
    Some(finding.hint(Some(hint)))
}

/// For a zone with a name: the offset that is the same, if it has one all year. `None` for a zone that needs no tables.
pub(crate) fn offset_of(zone: &str) -> Option<Option<&'static str>> {
    if zone.eq_ignore_ascii_case("system") || is_offset(zone) {
        return None;
    }
    let universal = ["utc", "gmt", "z", "etc/utc", "universal", "zulu"];
    let is_universal = universal.contains(&zone.to_ascii_lowercase().as_str());
    Some(is_universal.then_some("+00:00"))
}

/// Whether the zone is an offset: `+00:00`, `-3:30`.
fn is_offset(zone: &str) -> bool {
    let Some(rest) = zone.strip_prefix(['+', '-']) else {
        return false;
    };
    let is_number = |text: &str| {
        (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    rest.split_once(':')
        .is_some_and(|(hours, minutes)| is_number(hours) && is_number(minutes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::OptionFile;
    use std::path::Path;

    #[test]
    fn named_time_zones_are_refused_and_offsets_are_not() {
        for (line, hint) in [
            (
                "default_time_zone=UTC",
                Some("write '+00:00', which is the same"),
            ),
            (
                "default-time-zone='Asia/Tokyo'",
                Some("write its offset, '+09:00' for example"),
            ),
            ("default_time_zone=+00:00", None),
            ("default_time_zone='-3:30'", None),
            ("default_time_zone=SYSTEM", None),
            ("sync_binlog=1", None),
        ] {
            let text = format!("[mysqld]\n{line}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let findings = traps(&Options::from_groups(&file, &["mysqld"]));
            let found = findings.first().and_then(|finding| finding.hint.as_deref());
            assert_eq!(found, hint, "{line}");
            assert!(findings.iter().all(Finding::is_refusal));
        }
    }
}
