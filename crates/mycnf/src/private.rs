//! The option file of a private server: the user's layers made safe, plus the options that dbdyno decides.
//!
//! A my.cnf from production names the directories of production. A private server that used them could open the data
//! of another server. Such options are therefore replaced, and each replacement is reported.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::entry::{Entry, OURS, Origin};
use crate::error::Error;
use crate::file::OptionFile;
use crate::given_options::Options;
use crate::name::OptionName;
use crate::print::{unprintable, write_entries};

/// The group of the generated file, which every server reads.
const GROUP: &str = "mysqld";

/// The sources of a private server's options, in ascending precedence.
#[derive(Debug, Clone, Copy)]
pub struct Sources<'a> {
    /// Used unless a layer or `set` contains the option.
    pub defaults: &'a [(&'a str, String)],
    /// The user's files.
    pub layers: &'a [OptionFile],
    /// The groups that the server reads.
    pub groups: &'a [String],
    /// Used unless `set` contains the option; the value of a layer is replaced.
    pub guarded: &'a [(&'a str, String)],
    /// The user's single options, set explicitly for a private server.
    pub set: &'a BTreeMap<String, String>,
    /// Decided by dbdyno.
    pub decided: &'a [(&'a str, String)],
}

/// An option of a layer that was replaced or omitted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// File and line of the option.
    pub at: Origin,
    /// The option as written.
    pub name: String,
    /// The value in the layer.
    pub was: Option<String>,
    /// The value in the private server's file; `None` if the option is omitted.
    pub now: Option<String>,
}

impl fmt::Display for Replaced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.at, self.name)?;
        if let Some(was) = &self.was {
            write!(formatter, "={was}")?;
        }
        match &self.now {
            Some(now) => write!(formatter, " is replaced by {now}"),
            None => write!(formatter, " is left out"),
        }
    }
}

/// A private server's options, and the replaced options of the layers.
#[derive(Debug, Clone)]
pub struct PrivateOptions {
    options: Options,
    replaced: Vec<Replaced>,
}

/// Options that only dbdyno decides, besides those it passes: a private server has one endpoint and one log.
pub(crate) const DECIDED: [&str; 16] = [
    "basedir",
    "chroot",
    "daemonize",
    "datadir",
    "extra_port",
    "grant_tables",
    "log_error",
    "networking",
    "pid_file",
    "port",
    "socket",
    "standalone",
    "syslog",
    "user",
    "initialize",
    "initialize_insecure",
];

/// Options that name a file: of an absolute path only the last component is kept, so that the file is in the data
/// directory.
pub(crate) const FILES: [&str; 10] = [
    "general_log_file",
    "innodb_buffer_pool_filename",
    "log_bin",
    "log_bin_index",
    "log_slow_query_file",
    "relay_log",
    "relay_log_index",
    "relay_log_info_file",
    "slow_query_log_file",
    "log_isam",
];

/// Options that name the directory of data files: an absolute path is omitted, and the data directory is used.
pub(crate) const DIRECTORIES: [&str; 8] = [
    "aria_log_dir_path",
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_doublewrite_dir",
    "innodb_log_group_home_dir",
    "innodb_temp_data_file_path",
    "innodb_temp_tablespaces_dir",
    "innodb_undo_directory",
];

/// Options that name keys and certificates: those of another server are left out, so that a private server has its
/// version's own, or none; with one that is missing, MariaDB does not start.
pub(crate) const CERTIFICATES: [&str; 12] = [
    "admin_ssl_ca",
    "admin_ssl_capath",
    "admin_ssl_cert",
    "admin_ssl_crl",
    "admin_ssl_crlpath",
    "admin_ssl_key",
    "ssl_ca",
    "ssl_capath",
    "ssl_cert",
    "ssl_crl",
    "ssl_crlpath",
    "ssl_key",
];

/// Options that name a directory of temporary files: one outside is replaced by the private server's own, the default of
/// `tmpdir`, so that the server neither needs nor fills a directory that dbdyno did not make.
pub(crate) const TEMPORARY: [&str; 4] = [
    "innodb_tmpdir",
    "replica_load_tmpdir",
    "slave_load_tmpdir",
    "tmpdir",
];

/// Options that take effect only when the data directory is created.
pub(crate) const FIXED_AT_CREATION: [&str; 6] = [
    "innodb_data_file_path",
    "innodb_data_home_dir",
    "innodb_page_size",
    "innodb_undo_directory",
    "innodb_undo_tablespaces",
    "lower_case_table_names",
];

impl PrivateOptions {
    /// Merges the sources; an error names the option that cannot be used.
    pub fn new(sources: &Sources<'_>) -> Result<Self, Error> {
        let mut read = Options::default();
        for layer in sources.layers {
            read.add(layer, sources.groups);
        }
        let mut made = Self {
            options: Options::default(),
            replaced: Vec::new(),
        };
        made.add_pairs(sources.defaults, |option| read.last(option).is_some());
        for entry in read.entries() {
            made.add_layer_entry(entry, sources);
        }
        made.add_pairs(sources.guarded, |_| false);
        for (name, value) in sources.set {
            made.set(name, value)?;
        }
        made.add_pairs(sources.decided, |_| false);
        made.check()?;
        Ok(made)
    }

    /// The replaced and omitted options of the layers.
    pub fn replaced(&self) -> &[Replaced] {
        &self.replaced
    }

    /// The options as the server will read them.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The text of the option file.
    pub fn to_text(&self) -> String {
        let mut text = "# Written by dbdyno and overwritten at every change.\n".to_owned();
        for replaced in &self.replaced {
            let line = replaced.to_string().replace(['\n', '\r'], " ");
            text.push_str("# ");
            text.push_str(&line);
            text.push('\n');
        }
        write_entries(self.options.entries(), &mut text).expect("writing to a String cannot fail");
        text
    }

    fn add_pairs(&mut self, pairs: &[(&str, String)], skip: impl Fn(&str) -> bool) {
        for (name, value) in pairs.iter().filter(|(name, _)| !skip(name)) {
            self.options.remove(name);
            self.options
                .push(Entry::made(GROUP, name, Some(value.clone()), OURS));
        }
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        if DECIDED.contains(&OptionName::new(name).base()) {
            return Err(Error::Reserved {
                name: name.to_owned(),
            });
        }
        self.options.remove(name);
        let value = Some(value.to_owned());
        self.options.push(Entry::made(GROUP, name, value, "set"));
        Ok(())
    }

    /// Adds an option of a layer, or its replacement.
    fn add_layer_entry(&mut self, entry: &Entry, sources: &Sources<'_>) {
        let base = entry.name.base();
        let value_in = |pairs: &[(&str, String)], base: &str| {
            let mut same = pairs
                .iter()
                .filter(|(name, _)| OptionName::new(name).base() == base);
            same.next().map(|(_, value)| value.clone())
        };
        let ours = value_in(sources.decided, base).or_else(|| value_in(sources.guarded, base));
        let now = if ours.is_some() || DECIDED.contains(&base) {
            ours
        } else if FILES.contains(&base) && leads_outside(entry) {
            let value = entry.value.as_deref().unwrap_or_default();
            let name = Path::new(value).file_name();
            let name = name.map(|name| name.to_string_lossy().into_owned());
            self.push_layer_entry(entry, name.clone());
            name
        } else if TEMPORARY.contains(&base) && leads_outside(entry) {
            let directory = value_in(sources.defaults, "tmpdir");
            if directory.is_some() {
                self.push_layer_entry(entry, directory.clone());
            }
            directory
        } else if (DIRECTORIES.contains(&base) || CERTIFICATES.contains(&base))
            && leads_outside(entry)
        {
            None
        } else {
            return self.push_layer_entry(entry, entry.value.clone());
        };
        if now.is_none() || now != entry.value {
            self.replaced.push(Replaced {
                at: entry.origin.clone(),
                name: entry.name.as_written().to_owned(),
                was: entry.value.clone(),
                now,
            });
        }
    }

    fn push_layer_entry(&mut self, entry: &Entry, value: Option<String>) {
        self.options.push(Entry {
            group: GROUP.to_owned(),
            value,
            ..entry.clone()
        });
    }

    fn check(&self) -> Result<(), Error> {
        for entry in self.options.entries() {
            let name = entry.name.as_written();
            if let Some(what) = unprintable(name, entry.value.as_deref()) {
                return Err(Error::Unprintable {
                    name: name.to_owned(),
                    what,
                });
            }
        }
        Ok(())
    }
}

/// Whether a value has a path that may be outside the data directory: an absolute one, or one with `..`.
/// `innodb_data_file_path` lists several, separated by `;`, and `tmpdir` by `:`.
fn leads_outside(entry: &Entry) -> bool {
    let value = entry.value.as_deref().unwrap_or_default();
    value.split([';', ':']).any(|path| {
        let path = Path::new(path.trim());
        path.is_absolute() || path.components().any(|part| part.as_os_str() == "..")
    })
}

/// The options that are fixed when a data directory is created, with their values; `None` without a value.
pub fn fixed_at_creation(options: &Options) -> BTreeMap<&'static str, Option<String>> {
    FIXED_AT_CREATION
        .iter()
        .filter_map(|name| {
            let entry = options.last(name)?;
            Some((*name, entry.value.clone()))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(text: &str) -> OptionFile {
        OptionFile::parse(text, Path::new("base.cnf")).unwrap()
    }

    fn private(layers: &[OptionFile], set: &[(&str, &str)]) -> Result<PrivateOptions, Error> {
        let pair = |name, value: &str| (name, value.to_owned());
        PrivateOptions::new(&Sources {
            defaults: &[pair("server-id", "1"), pair("tmpdir", "/srv/one/tmp")],
            layers,
            groups: &["mysqld".to_owned(), "mariadb".to_owned()],
            guarded: &[pair("bind-address", "127.0.0.1")],
            set: &set
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            decided: &[pair("datadir", "/srv/one/data"), pair("port", "12345")],
        })
    }

    #[test]
    fn later_parts_win_and_other_groups_are_not_read() {
        let layers = [
            layer("[mysqld]\nserver_id=7\nsync-binlog=1\n[client]\nport=1\n[mysqldump]\nquick\n"),
            layer("[mariadb]\nsync_binlog=0\n"),
        ];
        let made = private(&layers, &[("query_cache_size", "64M")]).unwrap();
        for (name, value) in [
            ("server_id", "7"),
            ("sync_binlog", "0"),
            ("query_cache_size", "64M"),
            ("bind_address", "127.0.0.1"),
            ("tmpdir", "/srv/one/tmp"),
            ("port", "12345"),
        ] {
            assert_eq!(made.options().value(name), Some(value), "{name}");
        }
        assert_eq!(made.options().last("quick"), None);
        assert!(made.replaced().is_empty(), "{:?}", made.replaced());
    }

    #[test]
    fn nothing_leads_to_another_servers_data() {
        let production = "[mysqld]\ndatadir=/var/lib/mysql\nuser=mysql\nskip-networking\n\
            bind-address=0.0.0.0\nlog-bin=/var/log/mysql/bin\nslow_query_log_file=slow.log\n\
            innodb_data_home_dir=/var/lib/mysql\ninnodb_data_file_path=ibdata1:10M;/big/ibdata2:1G\n\
            innodb_undo_directory=../undo\nlog_error=/var/log/mysql/error.log\nport=3306\n\
            tmpdir=/var/tmp:/big\nslave_load_tmpdir=/var/tmp\nssl-ca=/etc/mysql/ca.pem\nssl_cert=cert.pem\n";
        let made = private(&[layer(production)], &[]).unwrap();
        let replaced: Vec<String> = made.replaced().iter().map(ToString::to_string).collect();
        assert_eq!(
            replaced,
            [
                "base.cnf line 2: datadir=/var/lib/mysql is replaced by /srv/one/data",
                "base.cnf line 3: user=mysql is left out",
                "base.cnf line 4: skip-networking is left out",
                "base.cnf line 5: bind-address=0.0.0.0 is replaced by 127.0.0.1",
                "base.cnf line 6: log-bin=/var/log/mysql/bin is replaced by bin",
                "base.cnf line 8: innodb_data_home_dir=/var/lib/mysql is left out",
                "base.cnf line 9: innodb_data_file_path=ibdata1:10M;/big/ibdata2:1G is left out",
                "base.cnf line 10: innodb_undo_directory=../undo is left out",
                "base.cnf line 11: log_error=/var/log/mysql/error.log is left out",
                "base.cnf line 12: port=3306 is replaced by 12345",
                "base.cnf line 13: tmpdir=/var/tmp:/big is replaced by /srv/one/tmp",
                "base.cnf line 14: slave_load_tmpdir=/var/tmp is replaced by /srv/one/tmp",
                "base.cnf line 15: ssl-ca=/etc/mysql/ca.pem is left out",
            ]
        );
        let text = made.to_text();
        assert!(
            text.contains("\nlog-bin = bin\nslow_query_log_file = slow.log\n"),
            "{text}"
        );
        let settings = text.lines().filter(|line| !line.starts_with('#'));
        assert!(
            !settings.clone().any(|line| line.contains("/var/")),
            "{text}"
        );
    }

    /// MariaDB takes names in any letter case.
    #[test]
    fn another_letter_case_leads_to_no_other_data_either() {
        let text = "[mysqld]\nDataDir=/var/lib/mysql\nPORT=3306\nLog-Bin=/var/log/mysql/bin\n";
        let made = private(&[layer(text)], &[]).unwrap();
        let replaced: Vec<String> = made.replaced().iter().map(ToString::to_string).collect();
        assert_eq!(
            replaced,
            [
                "base.cnf line 2: DataDir=/var/lib/mysql is replaced by /srv/one/data",
                "base.cnf line 3: PORT=3306 is replaced by 12345",
                "base.cnf line 4: Log-Bin=/var/log/mysql/bin is replaced by bin",
            ]
        );
    }

    #[test]
    fn set_beats_guards_but_not_decisions() {
        let made = private(&[], &[("bind_address", "10.0.0.1")]).unwrap();
        assert_eq!(made.options().value("bind-address"), Some("10.0.0.1"));
        for name in ["datadir", "loose-port", "skip_grant-tables"] {
            let error = private(&[], &[(name, "x")]).unwrap_err();
            assert!(matches!(error, Error::Reserved { .. }), "{name}: {error}");
        }
        assert!(matches!(
            private(&[], &[("a b", "1")]),
            Err(Error::Unprintable { .. })
        ));
    }

    #[test]
    fn a_data_directory_keeps_its_page_size() {
        let options = private(&[], &[("innodb-page-size", "4k")]).unwrap();
        let fixed = fixed_at_creation(options.options());
        assert_eq!(
            fixed,
            BTreeMap::from([("innodb_page_size", Some("4k".to_owned()))])
        );
    }
}
