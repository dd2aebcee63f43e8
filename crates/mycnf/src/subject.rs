//! What the rules judge: a file resolved for a version, or a running server, on a machine.

use std::collections::BTreeMap;

use crate::assignment::{Assignment, is_on, is_same_setting};
use crate::catalogue::{Catalogue, Family, Product};
use crate::deprecation::is_successor;
use crate::file::OptionFile;
use crate::judge::parse_number;
use crate::machine::Machine;
use crate::name::OptionName;
use crate::plugins::LoadedPlugin;
use crate::running_server::RunningServer;
use crate::target::Target;
use crate::within_series::has_within_series;

/// A file with its effective values for one version.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) target: &'a Target,
    pub(crate) catalogue: Catalogue,
    pub(crate) machine: &'a Machine,
    pub(crate) assignments: Vec<Assignment<'a>>,
    /// Index of the line that decides each option.
    deciding: BTreeMap<String, usize>,
    pub(crate) plugins: Vec<LoadedPlugin>,
    /// The groups that the server reads.
    pub(crate) groups: Vec<String>,
    /// Number of redo log files in the version that the file was written for; `None` if only the file can say.
    pub(crate) redo_files: Option<i128>,
    /// The running server whose values decide; `None` for a file.
    running: Option<&'a RunningServer>,
}

impl<'a> Subject<'a> {
    /// Resolves the lines of a file; `target`'s nearest catalogue decides.
    pub(crate) fn new(file: &'a OptionFile, target: &'a Target, machine: &'a Machine) -> Self {
        let catalogue = target.catalogue();
        let groups = target.groups();
        let entries = file.entries().iter();
        let assignments = entries.map(|entry| {
            let group = entry.group.to_ascii_lowercase();
            Assignment {
                entry,
                option: catalogue.find(&entry.name),
                is_read: groups.contains(&group),
            }
        });
        let assignments: Vec<Assignment<'_>> = assignments.collect();
        // A line whose name has a letter case that the version does not take sets nothing.
        let deciding = assignments
            .iter()
            .enumerate()
            .filter(|(_, line)| line.is_read && catalogue.takes_case_of(&line.entry.name));
        let deciding = deciding
            .map(|(index, line)| (line.name().to_owned(), index))
            .collect();
        let mut subject = Self {
            target,
            catalogue,
            machine,
            assignments,
            deciding,
            plugins: Vec::new(),
            groups,
            redo_files: None,
            running: None,
        };
        subject.plugins = LoadedPlugin::of(subject.read().map(|line| line.entry));
        subject
    }

    /// A running server: `changed` has its variables that differ from the defaults, and all its values decide.
    pub(crate) fn of_server(
        changed: &'a OptionFile,
        target: &'a Target,
        machine: &'a Machine,
        server: &'a RunningServer,
    ) -> Self {
        Self {
            running: Some(server),
            ..Self::new(changed, target, machine)
        }
    }

    /// The lines that the server reads, in reading order.
    pub(crate) fn read(&self) -> impl DoubleEndedIterator<Item = &Assignment<'a>> {
        self.assignments.iter().filter(|line| line.is_read)
    }

    /// The line that decides an option.
    pub(crate) fn set(&self, option: &str) -> Option<&Assignment<'a>> {
        self.assignments.get(*self.deciding.get(option)?)
    }

    /// The effective value of an option: the running server's, or the file's, or the default of the version, or the name
    /// with which it is known in another version. `None` if the version has no such option or its default is unknown.
    pub(crate) fn value(&self, option: &str) -> Option<String> {
        if let Some(server) = self.running {
            return server.variables.get(option).cloned();
        }
        self.decided_by_another(option)
            .or_else(|| self.set(option).and_then(Assignment::value))
            .or_else(|| self.catalogue.default_value(option).map(str::to_owned))
    }

    /// The value that the line of another option gives to one, even if it has a line of its own: in MariaDB, any size of
    /// the query cache above 0 turns the type OFF into ON; DEMAND stays.
    ///
    /// Source: tried on MariaDB 10.11 with sizes of 0, 1M (the default) and 64M, and all types, in either order.
    pub(crate) fn decided_by_another(&self, option: &str) -> Option<String> {
        if option != "query_cache_type" || !self.is_mariadb() {
            return None;
        }
        let bytes = self.set("query_cache_size")?.value()?;
        let own = self.set(option).and_then(Assignment::value);
        let is_kept = own.is_some_and(|own| own == "DEMAND");
        (bytes != "0" && !is_kept).then(|| "ON".to_owned())
    }

    /// Whether a line gives a value to another option, so that it has an effect even if its own value is the default.
    pub(crate) fn decides_another(&self, line: &Assignment<'_>) -> bool {
        line.name() == "query_cache_size" && self.decided_by_another("query_cache_type").is_some()
    }

    /// Of several names of one option, the newest first, the one that the file sets, or otherwise the one that the version
    /// has. The default of the new name says nothing if the file sets the old one.
    pub(crate) fn name_in_effect(&self, names: &[&'static str]) -> Option<&'static str> {
        let is_set = |name: &&&'static str| self.set(name).is_some();
        let is_known = |name: &&&'static str| self.value(name).is_some();
        let own = names.iter().find(is_set);
        own.or_else(|| names.iter().find(is_known)).copied()
    }

    /// The effective value as a number. Some catalogues have a size as a text, which keeps its unit.
    pub(crate) fn number(&self, option: &str) -> Option<i128> {
        let value = self.value(option)?;
        value.parse().ok().or_else(|| parse_number(&value))
    }

    /// Whether a switch is effectively on; `None` if the version does not have it.
    pub(crate) fn is_on(&self, option: &str) -> Option<bool> {
        Some(is_on(&self.value(option)?))
    }

    /// The effective value if it is one of these words, in any case.
    pub(crate) fn is_one_of(&self, option: &str, words: &[&str]) -> bool {
        let value = self.value(option).unwrap_or_default();
        words.iter().any(|word| value.eq_ignore_ascii_case(word))
    }

    /// Whether the version has the option.
    pub(crate) fn has(&self, option: &str) -> bool {
        let name = OptionName::new(option);
        self.catalogue.has(&name) || self.has_beyond_catalogue(&name)
    }

    /// Whether the version has an option that its catalogue, of another version of the series, does not have.
    pub(crate) fn has_beyond_catalogue(&self, name: &OptionName) -> bool {
        let mut spellings = name.spellings().into_iter();
        self.catalogue.takes_case_of(name)
            && spellings
                .any(|name| is_successor(self.target, name) || has_within_series(self.target, name))
    }

    /// The default of an option that the version has: that of its catalogue, or of the next one of its series where only
    /// that has the option. `None` if it is not known, or if the next one has another default or none.
    pub(crate) fn default_value(&self, option: &str) -> Option<&'static str> {
        let own = self.catalogue.default_value(option);
        let Some(later) = self.target.later_in_series() else {
            return own;
        };
        let later = later.default_value(option);
        later.filter(|later| own.is_none_or(|own| own == *later))
    }

    /// Whether a shown value is the default of an option.
    pub(crate) fn is_default(&self, option: &str, value: &str) -> bool {
        let default = self.default_value(option);
        default.is_some_and(|default| is_same_setting(option, value, default))
    }

    /// Whether a line sets its option to the default.
    pub(crate) fn sets_default(&self, line: &Assignment<'_>) -> bool {
        let value = line.value();
        value.is_some_and(|value| self.is_default(line.name(), &value))
    }

    /// Whether the server runs without InnoDB; `FORCE` is on. MySQL 5.7 and later ignore the option.
    pub(crate) fn is_without_innodb(&self) -> bool {
        let is_off = self.is_one_of("innodb", &["OFF", "0", "FALSE"]);
        is_off && !self.target.is_at_least(Family::MySql, &[5, 7])
    }

    /// Whether the binary log is written.
    pub(crate) fn has_binary_log(&self) -> bool {
        self.is_on("log_bin") == Some(true)
    }

    /// Whether the server is a node of a Galera cluster: replication is on, or a provider or a cluster is named.
    pub(crate) fn is_galera_node(&self) -> bool {
        // Percona XtraDB Cluster has these options, and no catalogue.
        let is_percona = self.target.product() == Product::Percona;
        let written = |option: &str| self.set(option)?.entry.value.clone();
        let written = |option: &str| written(option).filter(|_| is_percona);
        let value = |option: &str| self.value(option).or_else(|| written(option));
        let is_named = |option: &str| {
            let value = value(option).unwrap_or_default();
            !value.is_empty() && !value.eq_ignore_ascii_case("none")
        };
        value("wsrep_on").is_some_and(|value| is_on(&value))
            || is_named("wsrep_provider")
            || (is_named("wsrep_cluster_address") && self.set("wsrep_on").is_none())
    }

    /// Whether a node of a Galera cluster forms a new cluster at every start: it names no other node, or
    /// `wsrep_new_cluster` is on.
    pub(crate) fn forms_new_cluster(&self) -> bool {
        let address = self.set("wsrep_cluster_address");
        let address = address.and_then(|line| line.entry.value.as_deref());
        let nodes = address.and_then(|address| address.trim().strip_prefix("gcomm://"));
        let is_alone = nodes.is_some_and(|nodes| nodes.is_empty() || nodes.starts_with('?'));
        is_alone || self.is_on("wsrep_new_cluster") == Some(true)
    }

    pub(crate) fn is_mariadb(&self) -> bool {
        self.target.family() == Family::MariaDb
    }

    /// Whether it is a running server, whose lines are its changed variables.
    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The line that decides in the place of this one, where both set one thing by different options.
    pub(crate) fn line_instead_of(&self, line: &Assignment<'_>) -> Option<&Assignment<'a>> {
        let capacity = self.capacity_instead_of(line);
        capacity.or_else(|| self.expiry_line_instead_of(line))
    }

    /// The redo log's capacity, where it makes a line about the files of the redo log ineffective.
    ///
    /// Source: MySQL Reference Manual, "innodb_redo_log_capacity".
    fn capacity_instead_of(&self, line: &Assignment<'_>) -> Option<&Assignment<'a>> {
        let is_of_files =
            ["innodb_log_file_size", "innodb_log_files_in_group"].contains(&line.name());
        let capacity = "innodb_redo_log_capacity";
        self.set(capacity)
            .filter(|_| is_of_files && self.has(capacity))
    }

    /// Number of redo log files. MariaDB has one from 10.5 on, and ignores the option.
    pub(crate) fn redo_file_count(&self) -> i128 {
        if self.target.is_at_least(Family::MariaDb, &[10, 5]) {
            return 1;
        }
        self.number("innodb_log_files_in_group").unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_version_has_what_came_within_its_series() {
        for (target, option, has) in [
            ("mysql-8.0.41", "check_table_functions", false),
            ("mysql-8.0.42", "check_table_functions", true),
            ("mysql-8.0.42", "loose-check-table-functions", true),
            ("mysql-8.0.42", "Check-Table-Functions", false),
            ("percona-8.0.28", "check_table_functions", false),
            ("percona-8.0.41", "check_table_functions", false),
            ("percona-8.0.42", "check_table_functions", true),
            ("percona-8.0.28", "innodb_track_changed_pages", true),
            ("percona-8.0.30", "innodb_track_changed_pages", false),
            ("mysql-8.0.25", "replica_parallel_workers", false),
            ("mysql-8.0.26", "replica_parallel_workers", true),
        ] {
            let file = OptionFile::parse("[mysqld]\n", Path::new("my.cnf")).unwrap();
            let version = Target::parse(target).unwrap();
            let machine = Machine::default();
            let subject = Subject::new(&file, &version, &machine);
            assert_eq!(subject.has(option), has, "{target} {option}");
        }
    }
}
