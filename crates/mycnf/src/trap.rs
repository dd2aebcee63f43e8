//! Options that every validator accepts, but that prevent a new server from starting.

use crate::catalogue::Family;
use crate::finding::{Finding, Severity};
use crate::given_options::Options;
use crate::name::is_switched_on;
use crate::target::Target;
use crate::time_zone::TimeZone;

/// The findings of a version about such options.
pub fn traps(options: &Options, target: &Target) -> Vec<Finding> {
    let found = [time_zone(options, target), gtid(options, target)];
    found.into_iter().flatten().collect()
}

/// GTIDs without their consistency: MySQL aborts at its start, after its own check found nothing.
fn gtid(options: &Options, target: &Target) -> Option<Finding> {
    let mode = options.last("gtid_mode")?;
    // Measured on 8.0.33: with ON_PERMISSIVE it starts.
    let is_on = |value: &str| value.eq_ignore_ascii_case("ON");
    let consistency = options.last("enforce_gtid_consistency");
    let is_enforced = match consistency {
        Some(it) => is_switched_on(&it.name, it.value.as_deref()) == Some(true),
        None => target.catalogue().default_value("enforce_gtid_consistency") == Some("ON"),
    };
    let is_trap = target.family() == Family::MySql
        && mode.value.as_deref().is_some_and(is_on)
        && !is_enforced;
    is_trap.then(|| {
        Finding::new(mode, Severity::Refused, "needs enforce_gtid_consistency=ON")
            .hint(Some("add enforce_gtid_consistency = ON".to_owned()))
    })
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

    #[test]
    fn gtids_need_their_consistency() {
        for (lines, version, is_refused) in [
            ("gtid_mode=ON", "mysql-8.0", true),
            ("gtid-mode=on", "mysql-5.7", true),
            ("gtid_mode=ON_PERMISSIVE", "mysql-8.0", false),
            (
                "gtid_mode=ON\nenforce_gtid_consistency=WARN",
                "mysql-8.0",
                true,
            ),
            ("gtid_mode=ON\nenforce-gtid-consistency", "mysql-5.6", false),
            (
                "gtid_mode=ON\nenforce_gtid_consistency=ON",
                "mysql-8.0",
                false,
            ),
            ("gtid_mode=OFF_PERMISSIVE", "mysql-8.0", false),
            ("gtid_mode=ON", "mariadb-10.11", false),
        ] {
            let file = OptionFile::parse(&format!("[mysqld]\n{lines}\n"), Path::new("my.cnf"));
            let options = Options::from_groups(&file.unwrap(), &["mysqld"]);
            let found = traps(&options, &Target::parse(version).unwrap());
            assert_eq!(!found.is_empty(), is_refused, "{version}: {lines}");
        }
    }
}
