//! Reviews of option files by an installed server's own validator, beside those of the catalogue.

use std::path::{Path, PathBuf};

use mycnf::{
    Finding, Lint, LoadedPlugin, Machine, OptionFile, OptionName, Origin, Severity, Target,
    is_world_writable, lint, unloaded_plugin,
};

use crate::check::check_file;
use crate::error::Error;
use crate::installation::Installation;

/// What an installed server's own validator says of an option file.
#[derive(Debug, Default)]
pub struct Validated {
    /// Its findings, in the order of the options of each instance.
    pub findings: Vec<Finding>,
    /// The lines that it has judged.
    pub judged: Vec<Origin>,
}

impl Validated {
    /// The lines that it has judged and takes as they are.
    pub fn taken(&self) -> Vec<Origin> {
        let has_finding = |at: &Origin| self.findings.iter().any(|finding| finding.at == *at);
        let taken = self.judged.iter().filter(|at| !has_finding(at));
        taken.cloned().collect()
    }
}

/// Reviews option files, which were read into one, by the catalogue, and by the server's own validator where it is
/// installed.
pub fn review(
    paths: &[PathBuf],
    file: &OptionFile,
    target: &Target,
    machine: &Machine,
    installation: Option<&Installation>,
) -> Result<Lint, Error> {
    let mut lint = lint(file, target, machine);
    if let Some(installation) = installation {
        let validated = validated(installation, file)?;
        lint.add_validator(&validated.findings, &validated.judged, file);
    }
    for path in paths.iter().filter(|path| is_world_writable(path)) {
        lint.add_ignored_file(path);
    }
    Ok(lint)
}

/// Asks the validator, for each instance where the file is for mysqld_multi. What is not on this machine is not judged,
/// paths and libraries of plugins: the file may be for another one.
pub fn validated(installation: &Installation, file: &OptionFile) -> Result<Validated, Error> {
    let mut all = Validated::default();
    let target = installation.target();
    for server in file.per_server() {
        let checked = check_file(installation, &server.file)?;
        let loaded = LoadedPlugin::of(server.file.entries());
        // The catalogue's word counts for these lines, such as that no version has a name.
        let mut set_aside = Vec::new();
        for mut finding in checked.findings {
            let path = finding
                .option
                .split_once('=')
                .map(|(_, value)| Path::new(value));
            let name = OptionName::new(finding.option.split('=').next().unwrap_or_default());
            // The validator knows no plugin that the file does not load, and the server may have it installed.
            let plugin = unloaded_plugin(&target, &loaded, &name);
            // An unknown name is unknown on every machine.
            let is_elsewhere = target.catalogue().has(&name)
                && path.is_some_and(|path| path.is_absolute() && !path.exists());
            let not_judged = if checked.without_library.contains(&finding.at) {
                Some(format!("not judged: {}", finding.what))
            } else if let Some(plugin) = plugin {
                Some(plugin.not_judged())
            } else {
                let what = "not judged: the path does not exist on this machine";
                is_elsewhere.then(|| what.to_owned())
            };
            if let Some(what) = not_judged.filter(|_| finding.is_refusal()) {
                finding.severity = Severity::Note;
                finding.what = what;
                finding.hint = None;
                set_aside.push(finding.at.clone());
            }
            if !all.findings.contains(&finding) {
                all.findings.push(finding);
            }
        }
        let judged = checked.judged.into_iter();
        all.judged
            .extend(judged.filter(|at| !set_aside.contains(at)));
    }
    Ok(all)
}
