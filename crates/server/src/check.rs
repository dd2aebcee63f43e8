//! Checks the options of a private server before it starts, with the server's own checks and the option catalogue.

mod accepted;
pub(crate) mod complaint;
pub(crate) mod help;
pub(crate) mod validator;

use mycnf::{
    Catalogue, Entry, Finding, LoadedPlugin, OptionFile, OptionName, Origin, PrivateOptions,
    Replaced, Severity, Target, allowed, explain_unknown, is_switched_on, judge, loads_plugins,
    loads_without_library, parse_number, traps,
};

use crate::check::accepted::AcceptedSettings;
use crate::check::complaint::{Complaint, parse_complaints, subject};
use crate::check::help::Help;
use crate::check::validator::{Answer, Means, Validator};
use crate::configuration::{Settings, configure, configure_layers};
use crate::directory::layout::Layout;
use crate::error::Error;
use crate::installation::Installation;
use crate::user_directory::accepted_root;

/// The result of an option check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// In the order of the options.
    pub findings: Vec<Finding>,
    /// The version whose catalogue was used for ranges and allowed words; `None` when none is close enough: then only
    /// the server itself has checked the options.
    pub catalogue: Option<&'static str>,
    /// The lines that were judged; the others are replaced in a private server, or the server's check ended before them.
    pub judged: Vec<Origin>,
    /// Those of them that load a plugin whose library is not installed here, or set an option of such a plugin, so that no
    /// server here can take them.
    pub without_library: Vec<Origin>,
    /// Options that a private server does not use: it has others in their place, or none.
    pub replaced: Vec<Replaced>,
}

/// Checks settings against a server without starting it.
pub fn check(installation: &Installation, settings: &Settings) -> Result<Checked, Error> {
    examine(installation, |layout| {
        configure(layout, installation, settings)
    })
}

/// The same of an option file that was read already.
pub fn check_file(installation: &Installation, file: &OptionFile) -> Result<Checked, Error> {
    examine(installation, |layout| {
        let layers = std::slice::from_ref(file);
        configure_layers(layout, installation, &Settings::default(), layers)
    })
}

fn examine(
    installation: &Installation,
    configure: impl FnOnce(&Layout) -> Result<PrivateOptions, Error>,
) -> Result<Checked, Error> {
    let place = std::env::temp_dir();
    let scratch = files::Scratch::make("dbdyno-check-")
        .map_err(|error| Error::io("create a directory in", &place)(error.into()))?;
    let layout = Layout::of(scratch.path())?;
    layout.make_directories()?;
    std::fs::create_dir_all(&layout.data)
        .map_err(Error::io("create the directory", &layout.data))?;
    let private = configure(&layout)?;
    let entries = private.options().entries();
    let target = Target::new(installation.flavour, installation.numbers().as_slice());
    let mut examination = Examination {
        validator: Validator {
            installation,
            layout: &layout,
        },
        catalogue: Catalogue::nearest(target.product(), target.numbers()),
        has_catalogue: target.is_covered(),
        remaining: entries.to_vec(),
        unknown: Vec::new(),
        plugins: LoadedPlugin::of(entries),
        without_library: Vec::new(),
        findings: traps(private.options(), &target),
    };
    let is_complete = examination.examine()?;
    let has_library = |library: &str| installation.has_library(library);
    let loading = entries.iter();
    let loading = loading.filter(|entry| loads_without_library(entry, &has_library));
    let mut without_library: Vec<Origin> = loading.map(|entry| entry.origin.clone()).collect();
    without_library.extend(examination.without_library);
    let mut findings = examination.findings;
    let position = |finding: &Finding| {
        let mut entries = entries.iter();
        entries.position(|entry| {
            entry.origin == finding.at && finding.option.starts_with(entry.name.as_written())
        })
    };
    findings.sort_by_key(position);
    let is_found = |at: &Origin| findings.iter().any(|finding| finding.at == *at);
    let judged = entries.iter().map(|entry| entry.origin.clone());
    Ok(Checked {
        judged: judged.filter(|at| is_complete || is_found(at)).collect(),
        findings,
        without_library,
        replaced: private.replaced().to_vec(),
        catalogue: examination
            .has_catalogue
            .then(|| examination.catalogue.version()),
    })
}

/// Checks settings unless they are empty or known to be accepted; returns the notes, or one error with all refusals.
pub(crate) fn accept(
    installation: &Installation,
    settings: &Settings,
) -> Result<Vec<Finding>, Error> {
    if settings.cnf.is_empty() && settings.set.is_empty() {
        return Ok(Vec::new());
    }
    let known =
        accepted_root().and_then(|root| AcceptedSettings::of(&root, installation, settings));
    if known.as_ref().is_some_and(AcceptedSettings::is_known) {
        return Ok(Vec::new());
    }
    let findings = check(installation, settings)?.findings;
    if findings.is_empty()
        && let Some(known) = known
    {
        known.keep();
    }
    if !findings.iter().any(Finding::is_refusal) {
        Ok(findings)
    } else {
        Err(Error::Rejected {
            server: format!("{} {}", installation.flavour, installation.version),
            findings: findings.into_iter().filter(Finding::is_refusal).collect(),
        })
    }
}

/// What a server lowers where the limit of open files is low: a file is seldom for the machine that checks it.
const OF_OPEN_FILES: [&str; 3] = ["max_connections", "open_files_limit", "table_open_cache"];

/// The state of a running check.
struct Examination<'a> {
    validator: Validator<'a>,
    catalogue: Catalogue,
    /// Whether the catalogue belongs to the server's own series.
    has_catalogue: bool,
    /// The options without a finding so far.
    remaining: Vec<Entry>,
    unknown: Vec<Entry>,
    /// The plugins that the options load.
    plugins: Vec<LoadedPlugin>,
    without_library: Vec<Origin>,
    findings: Vec<Finding>,
}

impl Examination<'_> {
    /// Whether the server has judged all options.
    fn examine(&mut self) -> Result<bool, Error> {
        if Means::of(self.validator.installation) == Means::SilentHelp {
            self.take_unlisted()?;
        }
        let accepted = self.refuse_until_accepted()?;
        if self.has_catalogue {
            let means = Means::of(self.validator.installation);
            let refused = refused_by_catalogue(means, &self.catalogue, &self.remaining);
            self.findings.extend(refused);
        }
        // Most servers list their options in the answer that accepts them.
        let help = match Means::of(self.validator.installation) {
            Means::ValidateConfig => self.validator.help(&self.remaining)?,
            Means::Help | Means::SilentHelp => Help::parse(&accepted.output),
        };
        if !self.validator.installation.is_mariadb() {
            // MySQL 5.7 does not report these; MariaDB does, but does not list every option that it accepts.
            let catalogue = self.catalogue;
            self.take_as_unknown(|entry| {
                entry.is_the_users()
                    && entry.name.is_loose()
                    && !lists(&catalogue, &help, &entry.name)
            });
        }
        self.note_remarks(&remarks_in(&accepted.log));
        self.note_changes(&help);
        self.explain(&help);
        Ok(accepted.is_accepted)
    }

    /// Removes the options that the server refuses until it accepts the rest; returns the answer to the rest.
    ///
    /// Wrong values are removed first: a server that disables InnoDB because of one reports all InnoDB options as
    /// unknown.
    fn refuse_until_accepted(&mut self) -> Result<Answer, Error> {
        loop {
            let answer = self.validator.judge(&self.remaining, false)?;
            let complaints = parse_complaints(&answer.log);
            if self.take_refused(&complaints) {
                continue;
            }
            if self.take_unknown(&complaints) {
                // Some checks end at the first unknown name; as loose options they are all reported at once.
                let loose = self.validator.judge(&self.remaining, true)?;
                let complaints = parse_complaints(&loose.log);
                if !self.take_refused(&complaints) {
                    self.take_unknown(&complaints);
                }
                continue;
            }
            if !answer.is_accepted && self.take_culprit(&answer.log)? {
                continue;
            }
            return Ok(answer);
        }
    }

    /// Removes the options whose values are refused; false if there are none.
    fn take_refused(&mut self, complaints: &[Complaint]) -> bool {
        let mut refused: Vec<(usize, &str)> = Vec::new();
        for complaint in complaints {
            if let Complaint::Refused { text } = complaint
                && let Some(index) = subject(text, &self.remaining)
                && refused.iter().all(|(known, _)| *known != index)
            {
                refused.push((index, text));
            }
        }
        refused.sort_unstable();
        for (index, text) in refused.iter().rev() {
            let entry = self.remaining.remove(*index);
            self.refuse(&entry, text);
        }
        !refused.is_empty()
    }

    fn refuse(&mut self, entry: &Entry, text: &str) {
        let hint = if self.has_catalogue {
            allowed(&self.catalogue, &entry.name)
        } else {
            None
        };
        self.findings
            .push(Finding::new(entry, Severity::Refused, text).hint(hint));
        // Without a line, the server fails on the directory that it was built with.
        let own = self.validator.layout.files.to_string_lossy().into_owned();
        if entry.name.base() == "secure_file_priv" && entry.value.as_ref() != Some(&own) {
            let mut other = entry.clone();
            other.value = Some(own);
            self.remaining.push(other);
        }
    }

    /// Removes the options that the server reports as unknown; false if there are none.
    fn take_unknown(&mut self, complaints: &[Complaint]) -> bool {
        let names: Vec<&str> = complaints
            .iter()
            .filter_map(|complaint| match complaint {
                Complaint::Unknown { name } => Some(name.as_str()),
                Complaint::Refused { .. } | Complaint::Remark { .. } => None,
            })
            .collect();
        self.take_as_unknown(|entry| names.contains(&entry.name.folded()))
    }

    fn take_as_unknown(&mut self, is_unknown: impl Fn(&Entry) -> bool) -> bool {
        let entries = std::mem::take(&mut self.remaining);
        let (unknown, remaining): (Vec<_>, Vec<_>) = entries.into_iter().partition(is_unknown);
        self.remaining = remaining;
        let any = !unknown.is_empty();
        self.unknown.extend(unknown);
        any
    }

    /// For a server that does not report unknown names: removes the options that it does not list.
    fn take_unlisted(&mut self) -> Result<(), Error> {
        // Plugins list their options when they are loaded.
        let loading = self
            .remaining
            .iter()
            .filter(|entry| loads_plugins(&entry.name));
        let loading: Vec<Entry> = loading.cloned().collect();
        let help = self.validator.help(&loading)?;
        let catalogue = self.catalogue;
        self.take_as_unknown(|entry| !lists(&catalogue, &help, &entry.name));
        Ok(())
    }

    /// For a server that fails without naming an option: finds the option without which it succeeds, or at least gets
    /// far enough to name the next one.
    fn take_culprit(&mut self, log: &str) -> Result<bool, Error> {
        for index in 0..self.remaining.len() {
            let mut others = self.remaining.clone();
            let entry = others.remove(index);
            let answer = self.validator.judge(&others, false)?;
            let names_others =
                parse_complaints(&answer.log)
                    .iter()
                    .any(|complaint| match complaint {
                        Complaint::Unknown { .. } => true,
                        Complaint::Refused { text } => subject(text, &others).is_some(),
                        Complaint::Remark { .. } => false,
                    });
            if answer.is_accepted || names_others {
                let said = log.lines().next_back().unwrap_or_default();
                self.remaining = others;
                self.refuse(
                    &entry,
                    format!("the server's own check fails on it {said}").trim(),
                );
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Records the server's remarks on the user's own options.
    fn note_remarks(&mut self, remarks: &[String]) {
        for text in remarks {
            let index = subject(text, &self.remaining);
            if let Some(entry) = index.map(|index| &self.remaining[index])
                && entry.is_the_users()
            {
                self.findings
                    .push(Finding::new(entry, Severity::Note, text));
            }
        }
    }

    /// Records numbers and switches whose effective value differs from the written one, except those that the limit of open
    /// files decides on this machine.
    fn note_changes(&mut self, help: &Help) {
        let entries = std::mem::take(&mut self.remaining);
        for (index, entry) in entries.iter().enumerate() {
            let is_overridden = entries[index + 1..]
                .iter()
                .any(|later| later.name.base() == entry.name.base());
            let is_told = self
                .findings
                .iter()
                .any(|finding| finding.at == entry.origin);
            if !is_overridden
                && !is_told
                && !OF_OPEN_FILES.contains(&entry.name.base())
                && entry.is_the_users()
                && let Some(now) = help.values.get(entry.name.folded())
                && has_changed(&entry.name, entry.value.as_deref(), now)
            {
                let hint = if self.has_catalogue {
                    allowed(&self.catalogue, &entry.name)
                } else {
                    None
                };
                let what = format!("becomes {now}");
                self.findings
                    .push(Finding::new(entry, Severity::Note, what).hint(hint));
            }
        }
        self.remaining = entries;
    }

    /// The library that an option's plugin lacks here; `None` if it has one, or is no plugin's.
    fn missing_library(&self, name: &OptionName) -> Option<&str> {
        let plugin = self.plugins.iter().find(|plugin| plugin.has(name))?;
        let installation = self.validator.installation;
        (!installation.has_library(&plugin.library)).then_some(plugin.library.as_str())
    }

    /// Adds to each unknown option the versions that have it and the replacement.
    fn explain(&mut self, help: &Help) {
        for entry in std::mem::take(&mut self.unknown) {
            let severity = if self.catalogue.ignores_unknown(&entry.name) {
                Severity::Note
            } else {
                Severity::Refused
            };
            if let Some(library) = self.missing_library(&entry.name) {
                let what = format!("the library of its plugin is not installed here: {library}");
                self.findings.push(Finding::new(&entry, severity, what));
                self.without_library.push(entry.origin);
                continue;
            }
            let knows = |name: &str| lists(&self.catalogue, help, &OptionName::new(name));
            let unknown = explain_unknown(&self.catalogue, &entry.name, &knows);
            let hint = unknown.hint.map(|fix| fix.to_string());
            self.findings
                .push(Finding::new(&entry, severity, unknown.what).hint(hint));
        }
    }
}

/// What the catalogue refuses of the lines that the server's own check takes without judging their values.
fn refused_by_catalogue(means: Means, catalogue: &Catalogue, taken: &[Entry]) -> Vec<Finding> {
    let is_unjudged = |entry: &&Entry| match means {
        Means::SilentHelp => true,
        // InnoDB of MySQL 5.5 to 5.7 reads words such as that of innodb_flush_method itself, at its start.
        Means::Help => entry.name.base().starts_with("innodb_") && catalogue.has(&entry.name),
        Means::ValidateConfig => false,
    };
    let unjudged: Vec<Entry> = taken.iter().filter(is_unjudged).cloned().collect();
    let mut found = judge(catalogue, &unjudged);
    found.retain(Finding::is_refusal);
    found
}

fn remarks_in(log: &str) -> Vec<String> {
    let complaints = parse_complaints(log).into_iter();
    let remarks = complaints.filter_map(|complaint| match complaint {
        Complaint::Remark { text } => Some(text),
        Complaint::Unknown { .. } | Complaint::Refused { .. } => None,
    });
    remarks.collect()
}

/// Whether the server lists an option, under any of its names, and takes the letter case of this one.
fn lists(catalogue: &Catalogue, help: &Help, name: &OptionName) -> bool {
    let spellings = name.spellings();
    let mut spellings = spellings.iter();
    catalogue.takes_case_of(name) && spellings.any(|name| help.names.contains(*name))
}

/// Whether the effective number or switch differs from the written one. Old servers print large unsigned numbers as
/// negative numbers of 32 or 64 bits.
fn has_changed(name: &OptionName, written: Option<&str>, now: &str) -> bool {
    if matches!(now, "TRUE" | "FALSE") {
        let on = is_switched_on(name, written);
        // A name without a prefix of its own is listed unchanged.
        return on.is_some_and(|on| on != (now == "TRUE")) && name.folded() == name.base();
    }
    let Some((written, now)) = written.and_then(parse_number).zip(now.parse::<i128>().ok()) else {
        return false;
    };
    let is_wrapped = now < 0 && [1 << 32, 1 << 64].contains(&(written - now));
    written != now && !is_wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_takes_a_listed_name_in_its_own_letter_case() {
        let help = Help::parse("  --log-bin[=name]\n  --wsrep-OSU-method=name\n");
        for (version, name, is_listed) in [
            ("mysql-8.0.12", "skip-log-bin", true),
            ("mysql-8.0.12", "Skip-Log-Bin", false),
            ("mariadb-11.4.5", "Log_Bin", false),
            ("mariadb-11.4.5", "wsrep_OSU_method", true),
            ("mariadb-10.11.19", "SKIP-LOG-BIN", true),
            ("mariadb-10.11.19", "Relay_Log", false),
        ] {
            let catalogue = Target::parse(version).unwrap().catalogue();
            let found = lists(&catalogue, &help, &OptionName::new(name));
            assert_eq!(found, is_listed, "{version} {name}");
        }
    }

    /// MySQL 5.7 accepts any word for the flush method with --verbose --help, and aborts at its start.
    #[test]
    fn a_word_that_only_innodb_reads_is_refused_by_the_catalogue() {
        let text = "[mysqld]\ninnodb_flush_method=fdatasync\ninnodb_flush_method=O_DIRECT\nbinlog_format=rows\n\
                    innodb_no_such_option=1\n";
        let file = OptionFile::parse(text, std::path::Path::new("my.cnf")).unwrap();
        let cases: [(&str, Means, &[u32]); 4] = [
            ("mysql-5.6", Means::Help, &[2]),
            ("mysql-5.7", Means::Help, &[2]),
            ("mysql-8.0.12", Means::SilentHelp, &[2, 4, 5]),
            ("mysql-8.0.33", Means::ValidateConfig, &[]),
        ];
        for (version, means, lines) in cases {
            let catalogue = Target::parse(version).unwrap().catalogue();
            let found = refused_by_catalogue(means, &catalogue, file.entries());
            let refused: Vec<u32> = found.iter().filter_map(|one| one.at.number()).collect();
            assert_eq!(refused, lines, "{version}: {found:?}");
        }
    }

    #[test]
    fn a_value_has_changed_when_it_means_something_else() {
        for (name, written, now, changed) in [
            ("sort_buffer_size", Some("2M"), "2097152", false),
            ("sort_buffer_size", Some("1"), "32768", true),
            ("max_connect_errors", Some("4294967295"), "-1", false),
            ("max_connections", Some("0"), "10", true),
            ("sync_binlog", Some("-1"), "0", true),
            ("local_infile", Some("ON"), "TRUE", false),
            ("local_infile", None, "FALSE", true),
            ("skip_name_resolve", None, "TRUE", false),
            ("log_bin", Some("x"), "x", false),
            ("long_query_time", Some("0.5"), "0.5", false),
        ] {
            assert_eq!(
                has_changed(&OptionName::new(name), written, now),
                changed,
                "{name}={written:?}"
            );
        }
    }
}
