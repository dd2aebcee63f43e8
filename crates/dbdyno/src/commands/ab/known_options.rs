//! The options of a comparison, checked before a server is made: a misspelt one is found in a second and not after minutes.

use std::path::Path;

use blame::{Blame, Blamed};
use mycnf::{Advice, Machine, OptionFile, Side, Target, lint};
use server::Installation;

use super::factor::{Factor, Kind};
use crate::commands::log_switches::{Log, log_of, variable_name};

/// An error for an option that one of the versions does not know, and for a value that it changes to another one: what is
/// measured would not be what is asked. Nothing is judged beside option files, which may load plugins with options of their
/// own, on existing servers, and for a version that is not installed, which is refused by itself.
pub(super) fn check(factors: &[Factor]) -> Result<(), Blamed> {
    check_in(factors, &targets(factors))
}

fn check_in(factors: &[Factor], targets: &[Target]) -> Result<(), Blamed> {
    let settings: Vec<(&Factor, &str)> = factors
        .iter()
        .filter_map(|factor| match &factor.kind {
            Kind::Setting(name) => Some((factor, name.as_str())),
            _ => None,
        })
        .collect();
    if settings.is_empty() || have_other_options(factors) {
        return Ok(());
    }
    let levels = settings.iter().map(|(factor, _)| factor.levels.len());
    let levels = levels.max().unwrap_or(0);
    for target in targets {
        for level in 0..levels {
            check_levels(&settings, level, target)?;
        }
    }
    Ok(())
}

/// The same for the levels of this index; a setting with fewer has its last one.
fn check_levels(settings: &[(&Factor, &str)], level: usize, target: &Target) -> Result<(), Blamed> {
    let wrong = |error: mycnf::Error| Blamed::new(Blame::Input, error.to_string());
    let mut file = OptionFile::parse("", Path::new("--set")).map_err(wrong)?;
    for (factor, name) in settings {
        let level = factor.levels.get(level).or(factor.levels.last());
        let value = level.map(|level| level.value.clone());
        file.push("mysqld", name, value).map_err(wrong)?;
    }
    let found = lint(&file, target, &Machine::default()).advice;
    let mut found = found.iter();
    let refused = found.find_map(|it| Some((it, refusal(it, target)?)));
    let Some((advice, message)) = refused else {
        return Ok(());
    };
    let hint = advice.remark.fix.as_ref().map(ToString::to_string);
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

/// Why a version does not take an option or its value; `None` for any other advice.
fn refusal(advice: &Advice, target: &Target) -> Option<String> {
    let (option, what) = (&advice.remark.option, &advice.remark.what);
    if advice.refuses_name() {
        let name = option.split('=').next().unwrap_or_default().trim();
        return Some(format!("--set {name}: {target}: {what}"));
    }
    let is_changed = advice.changes_value();
    is_changed.then(|| format!("--set {option}: not a value of {target}: {what}"))
}

/// Whether the servers can have options that this program does not see: those of files, and of existing servers.
fn have_other_options(factors: &[Factor]) -> bool {
    let mut kinds = factors.iter().map(|it| &it.kind);
    kinds.any(|kind| matches!(kind, Kind::OptionFile | Kind::Server))
}

/// Warnings about options whose values cannot differ, because a log on which they depend is off. Where servers can have
/// other options, no warning is given, as in [`check`].
pub(super) fn without_effect(factors: &[Factor]) -> Vec<String> {
    if have_other_options(factors) {
        return Vec::new();
    }
    without_effect_in(factors, &targets(factors))
}

fn without_effect_in(factors: &[Factor], targets: &[Target]) -> Vec<String> {
    let compares_versions = factors
        .iter()
        .any(|it| it.kind == Kind::Version && it.varies());
    let sets = |log: &Log| {
        let mut names = factors.iter().filter_map(setting_name);
        names.any(|name| log.switches.contains(&name.as_str()))
    };
    let is_off = |log: &Log, target: &Target| {
        // The binary log is off where versions are compared.
        (compares_versions && log.is_binary)
            || Side::of_version(target)
                .values
                .get(log.switches[0])
                .is_some_and(|value| value == "OFF")
    };
    let mut warnings = Vec::new();
    for factor in factors.iter().filter(|it| it.varies()) {
        let Some(name) = setting_name(factor) else {
            continue;
        };
        let Some(log) = log_of(&name).filter(|log| !sets(log)) else {
            continue;
        };
        let off = targets.iter().filter(|target| is_off(log, target));
        let off: Vec<String> = off.map(Target::to_string).collect();
        if !off.is_empty() {
            let (switch, on) = log.switched_on;
            warnings.push(format!(
                "--set {name} has no effect in {}, where {} is OFF: add --set {switch}={on}",
                off.join(" and "),
                log.switches[0],
            ));
        }
    }
    warnings
}

/// The name of the option that a factor sets, as variables are written.
fn setting_name(factor: &Factor) -> Option<String> {
    match &factor.kind {
        Kind::Setting(name) => Some(variable_name(name)),
        _ => None,
    }
}

/// The versions that are compared, else the one that is installed.
fn targets(factors: &[Factor]) -> Vec<Target> {
    let versions = factors.iter().find(|it| it.kind == Kind::Version);
    let names = match versions {
        Some(versions) => versions
            .levels
            .iter()
            .map(|level| Some(level.value.as_str()))
            .collect(),
        None => vec![None],
    };
    let found = names
        .into_iter()
        .filter_map(|name| Installation::find(name, None).ok());
    found.map(|installation| installation.target()).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::factor, *};

    #[test]
    fn a_value_that_becomes_another_one_is_refused() {
        let found = |setting: &str, version: &str| {
            let factors = [factor::setting(setting).unwrap()];
            let targets = [Target::parse(version).unwrap()];
            check_in(&factors, &targets).map_err(|error| error.message)
        };
        for (version, becomes) in [("mariadb-10.11", 3), ("mysql-8.0.33", 2)] {
            let expected = format!(
                "--set innodb_flush_log_at_trx_commit=7: not a value of {version}: becomes {becomes}"
            );
            let setting = "innodb_flush_log_at_trx_commit=1,7";
            assert_eq!(found(setting, version), Err(expected));
        }
        for setting in [
            "innodb_flush_log_at_trx_commit=1,2,0",
            // Only rounded.
            "innodb_buffer_pool_size=512M,4608M",
        ] {
            assert_eq!(found(setting, "mysql-8.0.33"), Ok(()), "{setting}");
        }
    }

    #[test]
    fn values_that_cannot_differ_are_found() {
        let warnings = |settings: &[&str], versions: &[&str]| {
            let mut factors: Vec<Factor> = settings
                .iter()
                .map(|text| factor::setting(text).unwrap())
                .collect();
            factors.extend(factor::versions(&versions.join(",")));
            let targets: Vec<Target> = versions
                .iter()
                .map(|text| Target::parse(text).unwrap())
                .collect();
            without_effect_in(&factors, &targets)
        };
        for (settings, versions, says) in [
            (
                &["sync-binlog=0,1"][..],
                &["mariadb-10.11"][..],
                Some(
                    "--set sync_binlog has no effect in mariadb-10.11, where log_bin is OFF: add --set log_bin=binlog",
                ),
            ),
            (&["sync_binlog=0,1"], &["mysql-8.0.33"], None),
            (
                &["sync_binlog=0,1"],
                &["mysql-8.0.33", "mysql-9.7"],
                Some("in mysql-8.0.33 and mysql-9.7"),
            ),
            (&["sync_binlog=0,1", "log_bin=b"], &["mariadb-10.11"], None),
            (&["sync_binlog=1"], &["mariadb-10.11"], None),
            (
                &["long_query_time=0,10"],
                &["mysql-8.0.33"],
                Some("slow_query_log is OFF"),
            ),
            (&["slow_query_log=0,1"], &["mysql-8.0.33"], None),
            (&["log_slow_query=0,1"], &["mariadb-10.11"], None),
            (
                &["innodb_flush_log_at_trx_commit=1,2"],
                &["mariadb-10.11"],
                None,
            ),
        ] {
            let found = warnings(settings, versions);
            match says {
                None => assert!(found.is_empty(), "{settings:?}: {found:?}"),
                Some(says) => {
                    assert_eq!(found.len(), 1, "{settings:?}: {found:?}");
                    assert!(found[0].contains(says), "{found:?}");
                }
            }
        }
    }
}
