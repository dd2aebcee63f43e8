//! The part of an option file with which a version can be started for a trial: on this machine, on a data directory of
//! its own, and without joining the servers that the file is for.

use std::path::Path;

use crate::entry::Entry;
use crate::file::OptionFile;
use crate::judge::parse_number;
use crate::name::OptionName;
use crate::plugins::{LoadedPlugin, loads_without_library, unloaded_plugin};
use crate::private::{CERTIFICATES, DECIDED, DIRECTORIES, FILES, TEMPORARY};
use crate::target::Target;
use crate::time_zone::TimeZone;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrialFile {
    pub file: OptionFile,
    /// The names of the lines that it does not have, as written.
    pub left_out: Vec<String>,
    /// The options that have less in it than in the file, for want of memory and disk.
    pub reduced: Vec<String>,
}

/// What this machine has.
pub struct TrialHost<'a> {
    /// The version that is started.
    pub target: &'a Target,
    pub has_path: &'a dyn Fn(&Path) -> bool,
    /// Whether the server has the library of a plugin.
    pub has_library: &'a dyn Fn(&str) -> bool,
}

/// Options of other addresses, of clusters and of files that a server executes or needs at its start.
const OF_ELSEWHERE: [&str; 5] = [
    "admin_address",
    "init_file",
    "innodb_data_file_path",
    "innodb_temp_data_file_path",
    "mysqlx_bind_address",
];

/// Beginnings of such names: a trial must not join a cluster.
const OF_CLUSTERS: [&str; 3] = ["group_replication", "ndb", "wsrep"];

/// Options that take memory or disk at a start, with the most that they get, bytes.
const LARGE: [(&str, i128); 3] = [
    ("innodb_buffer_pool_size", 128 << 20),
    ("innodb_log_file_size", 64 << 20),
    ("innodb_redo_log_capacity", 128 << 20),
];

impl OptionFile {
    /// The file for a trial on this machine.
    pub fn for_trial(&self, here: &TrialHost<'_>) -> TrialFile {
        let loaded = LoadedPlugin::of(self.entries());
        // In a new data directory, no plugin is installed that the file does not load.
        let lacks_plugin = |entry: &Entry| {
            let own = loaded.iter().find(|plugin| plugin.has(&entry.name));
            match own {
                Some(plugin) => !(here.has_library)(&plugin.library),
                None => unloaded_plugin(here.target, &loaded, &entry.name).is_some(),
            }
        };
        let is_left_out = |entry: &Entry| {
            is_of_elsewhere(entry, here)
                || loads_without_library(entry, here.has_library)
                || lacks_plugin(entry)
        };
        let mut trial = TrialFile::default();
        for entry in self.entries() {
            let name = || entry.name.as_written().to_owned();
            if is_left_out(entry) {
                trial.left_out.push(name());
            } else if reduced(entry).is_some() {
                trial.reduced.push(name());
            }
        }
        trial.file = self.map_entries(|entry| {
            if is_left_out(entry) {
                Vec::new()
            } else {
                vec![reduced(entry).unwrap_or_else(|| entry.clone())]
            }
        });
        trial
    }
}

/// Whether a line is about another machine, another server, or the data directory that the file is for.
fn is_of_elsewhere(entry: &Entry, here: &TrialHost<'_>) -> bool {
    let base = entry.name.base();
    let value = entry.value.as_deref().unwrap_or_default();
    if OF_ELSEWHERE.contains(&base) || OF_CLUSTERS.iter().any(|begin| base.starts_with(begin)) {
        return true;
    }
    // A moved data directory has its time zones.
    if base == "default_time_zone" {
        return matches!(TimeZone::of(value), TimeZone::Named(_));
    }
    let path = Path::new(value);
    path.is_absolute() && !has_place_of_its_own(&entry.name) && !(here.has_path)(path)
}

/// Whether a private server has a place of its own for what the option names.
fn has_place_of_its_own(name: &OptionName) -> bool {
    let lists: [&[&str]; 5] = [&CERTIFICATES, &DECIDED, &DIRECTORIES, &FILES, &TEMPORARY];
    lists.iter().any(|list| list.contains(&name.base()))
}

/// The line with what a trial has to give; `None` if that is enough for it.
fn reduced(entry: &Entry) -> Option<Entry> {
    let base = entry.name.base();
    let (_, most) = LARGE.iter().find(|(name, _)| *name == base)?;
    let wanted = parse_number(entry.value.as_deref()?)?;
    (wanted > *most).then(|| Entry {
        value: Some(most.to_string()),
        ..entry.clone()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_data_directory_has_no_plugin_that_the_file_does_not_load() {
        let text = "[mysqld]\nvalidate_password_policy=LOW\nrpl_semi_sync_master_enabled=1\nport=3307\n\
                    plugin_load_add=semisync_slave.so\nrpl_semi_sync_slave_enabled=1\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let trial = file.for_trial(&TrialHost {
            target: &Target::parse("mysql-5.7").unwrap(),
            has_path: &|_| true,
            has_library: &|_| true,
        });
        assert_eq!(
            trial.left_out,
            ["validate_password_policy", "rpl_semi_sync_master_enabled"]
        );
    }

    #[test]
    fn a_trial_joins_nothing_and_fits_here() {
        let text = "[mysqld]\nmax_connections=500\ninnodb_buffer_pool_size=24G\ninnodb_log_file_size=5M\n\
                    secure_file_priv=/var/lib/mysql-files\nslow_query_log_file=/var/log/slow.log\ntmpdir=/big\n\
                    wsrep_on=ON\ngroup_replication_group_name=x\nplugin_load_add=server_audit\n\
                    plugin_load_add=simple_password_check\nserver_audit_logging=ON\n\
                    simple_password_check_digits=2\ndefault_time_zone=Asia/Tokyo\nft_stopword_file=/here/words\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let trial = file.for_trial(&TrialHost {
            target: &Target::parse("mariadb-10.11").unwrap(),
            has_path: &|path| path.starts_with("/here"),
            has_library: &|library| library == "server_audit.so",
        });
        assert_eq!(
            trial.left_out,
            [
                "secure_file_priv",
                "wsrep_on",
                "group_replication_group_name",
                "plugin_load_add",
                "simple_password_check_digits",
                "default_time_zone",
            ]
        );
        assert_eq!(trial.reduced, ["innodb_buffer_pool_size"]);
        assert_eq!(
            trial.file.to_string(),
            "[mysqld]\nmax_connections = 500\ninnodb_buffer_pool_size = 134217728\ninnodb_log_file_size = 5M\n\
             slow_query_log_file = /var/log/slow.log\ntmpdir = /big\nplugin_load_add = server_audit\n\
             server_audit_logging = ON\nft_stopword_file = /here/words\n"
        );
    }
}
