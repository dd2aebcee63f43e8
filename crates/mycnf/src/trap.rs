//! Options that every validator accepts, but that prevent a new server from starting.

use crate::finding::{Finding, Severity};
use crate::given_options::Options;
use crate::target::Target;
use crate::time_zone::TimeZone;

/// The findings of a version about such options.
pub fn traps(options: &Options, target: &Target) -> Vec<Finding> {
    time_zone(options, target).into_iter().collect()
}

/// A named zone needs the time zone tables, which are empty in a new data directory: every version fails to start, and
/// none of its own checks finds it.
fn time_zone(options: &Options, target: &Target) -> Option<Finding> {
    let entry = options.last("default_time_zone")?;
    let (what, fix, _) =
        TimeZone::of(entry.value.as_deref().unwrap_or_default()).refusal(target)?;
    Some(Finding::new(entry, Severity::Refused, what).hint(Some(fix)))
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
                Some("set '+00:00', which is equivalent"),
            ),
            (
                "default-time-zone='Asia/Tokyo'",
                Some("set '+09:00', which is equivalent"),
            ),
            (
                "default-time-zone=Europe/Berlin",
                Some(
                    "load the time zone tables before you use this line; no fixed offset is correct all year",
                ),
            ),
            (
                "default_time_zone=+14:00",
                Some("set an offset from -12:59 to +13:00"),
            ),
            ("default_time_zone=+00:00", None),
            ("default_time_zone='-3:30'", None),
            ("default_time_zone=SYSTEM", None),
            ("sync_binlog=1", None),
        ] {
            let text = format!("[mysqld]\n{line}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let findings = traps(
                &Options::from_groups(&file, &["mysqld"]),
                &Target::parse("mysql-5.7").unwrap(),
            );
            let found = findings.first().and_then(|finding| finding.hint.as_deref());
            assert_eq!(found, hint, "{line}");
            assert!(findings.iter().all(Finding::is_refusal));
        }
    }
}
