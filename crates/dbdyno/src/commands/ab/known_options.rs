//! The options of a comparison, checked before a server is made: a misspelt one is found in a second and not after minutes.

use std::path::Path;

use blame::{Blame, Blamed};
use mycnf::{Machine, OptionFile, Target, lint};
use server::Installation;

use super::factor::{Factor, Kind};

/// An error for an option that one of the versions does not know. Nothing is judged beside option files, which may load plugins
/// with options of their own, and for a version that is not installed, which is refused by itself.
pub(super) fn check(factors: &[Factor]) -> Result<(), Blamed> {
    let settings: Vec<(&Factor, &str)> = factors
        .iter()
        .filter_map(|factor| match &factor.kind {
            Kind::Setting(name) => Some((factor, name.as_str())),
            _ => None,
        })
        .collect();
    let has_files = factors.iter().any(|it| it.kind == Kind::OptionFile);
    if settings.is_empty() || has_files {
        return Ok(());
    }
    for target in targets(factors) {
        let wrong = |error: mycnf::Error| Blamed::new(Blame::Input, error.to_string());
        let mut file = OptionFile::parse("", Path::new("--set")).map_err(wrong)?;
        for (factor, name) in &settings {
            let value = factor.levels.first().map(|level| level.value.clone());
            file.push("mysqld", name, value).map_err(wrong)?;
        }
        let refused = lint(&file, &target, &Machine::default());
        let mut refused = refused.advice.into_iter();
        if let Some(advice) = refused.find(mycnf::Advice::refuses_name) {
            let remark = advice.remark;
            let option = remark.option.split('=').next().unwrap_or_default().trim();
            let message = format!("--set {option}: {target}: {}", remark.what);
            return Err(Blamed::new(Blame::Input, message).hint(remark.fix));
        }
    }
    Ok(())
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
