//! The comparison of two sides by their effective values: files, versions, servers, run records.

use std::collections::BTreeMap;

use crate::assignment::{Assignment, is_same_setting};
use crate::catalogue::Catalogue;
use crate::character_sets::is_of_character_set;
use crate::explanation::{Topic, topic};
use crate::file::OptionFile;
use crate::log_expiry::{DAYS, SECONDS, shown_expiry_s};
use crate::machine::Machine;
use crate::name::OptionName;
use crate::redo_log::{CAPACITY, capacity_of_files, is_of_redo_files};
use crate::secret::shown_value;
use crate::subject::Subject;
use crate::target::Target;
use crate::unknown::{OptionReplacement, succession};

/// Variables that belong to an instance and say nothing about its settings.
pub(crate) const OF_INSTANCES: [&str; 43] = [
    "basedir",
    "bind_address",
    "character_sets_dir",
    "datadir",
    "general_log_file",
    "gtid_binlog_pos",
    "gtid_binlog_state",
    "gtid_current_pos",
    "gtid_executed",
    "gtid_purged",
    "gtid_slave_pos",
    "hostname",
    "identity",
    "innodb_version",
    "insert_id",
    "last_gtid",
    "last_insert_id",
    "lc_messages_dir",
    "license",
    "log_bin_basename",
    "log_bin_index",
    "log_error",
    "log_slow_query_file",
    "pid_file",
    "plugin_dir",
    "port",
    "pseudo_thread_id",
    "rand_seed1",
    "rand_seed2",
    "relay_log",
    "relay_log_basename",
    "relay_log_index",
    "report_port",
    "server_uid",
    "server_uuid",
    "slave_load_tmpdir",
    "slow_query_log_file",
    "socket",
    "system_time_zone",
    "timestamp",
    "tmpdir",
    "version_malloc_library",
    "wsrep_node_name",
];

/// One side: effective values by the names of variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Side {
    /// Values as SHOW GLOBAL VARIABLES has them; of the redo log's capacity the one in effect.
    pub values: BTreeMap<String, String>,
    /// Names that the file sets; empty for a side that is no file.
    pub set: Vec<String>,
    /// The version for which the values of a file were computed; `None` for all other sides.
    pub computed_for: Option<Target>,
    /// Lines of the file that set nothing in that version: unknown, without effect, or with a value that it refuses.
    pub idle: Vec<String>,
    /// Options whose default the documentation of the version does not name; empty for all other sides.
    pub undocumented: Vec<String>,
}

impl Side {
    /// The defaults of a version.
    pub fn of_version(target: &Target) -> Self {
        let catalogue = target.catalogue();
        Self {
            values: defaults(&catalogue),
            undocumented: undocumented(&catalogue),
            ..Self::default()
        }
    }

    /// The effective values of a file for a version: its lines, and the defaults. Lines that the version refuses set
    /// nothing.
    pub fn of_file(file: &OptionFile, target: &Target) -> Self {
        let machine = Machine::default();
        let subject = Subject::new(file, target, &machine);
        let mut values = defaults(&subject.catalogue);
        let (mut set, mut idle) = (Vec::new(), Vec::new());
        for line in subject.read() {
            if let Some(mut value) = Assignment::value(line) {
                if is_of_character_set(line.name()) && subject.has_utf8_as_utf8mb4() {
                    value = subject.full_name(&value);
                }
                values.insert(line.name().to_owned(), value);
                set.push(line.name().to_owned());
            } else {
                idle.push(line.entry.name.to_string());
            }
        }
        for name in &set {
            if let Some(other) = other_name(&subject, name)
                && !set.iter().any(|it| it == other)
                && let Some(value) = values.get(name).cloned()
            {
                values.insert(other.to_owned(), value);
            }
        }
        let cache = "query_cache_type";
        if let Some(value) = subject.decided_by_another(cache) {
            values.insert(cache.to_owned(), value);
        }
        if values.contains_key(CAPACITY)
            && let Some(bytes) = subject.redo_bytes()
        {
            values.insert(CAPACITY.to_owned(), bytes.to_string());
        }
        if let Some(shown) = subject.shown_expiry() {
            values.extend(shown.map(|(name, value)| (name.to_owned(), value)));
        }
        set.sort_unstable();
        set.dedup();
        Self {
            values,
            set,
            computed_for: Some(target.clone()),
            idle,
            undocumented: undocumented(&subject.catalogue),
        }
    }

    /// The variables of a running server, or of a run record.
    pub fn of_variables(variables: &BTreeMap<String, String>) -> Self {
        let mut values = variables.clone();
        if let Some(bytes) = capacity_of_files(&values) {
            values.insert(CAPACITY.to_owned(), bytes.to_string());
        }
        Self {
            values,
            ..Self::default()
        }
    }
}

/// The other name of an option that the version knows by two, as an old and a new one: they have one default, and one value.
fn other_name(subject: &Subject<'_>, name: &str) -> Option<&'static str> {
    let catalogue = &subject.catalogue;
    let knows = |name: &str| subject.has(name);
    match succession(catalogue.family(), name, &knows)? {
        OptionReplacement::By(other) => {
            let [own, others] = [name, other].map(|it| catalogue.default_value(it));
            (own.is_some() && own == others).then_some(other)
        }
        OptionReplacement::Gone(_) => None,
    }
}

fn defaults(catalogue: &Catalogue) -> BTreeMap<String, String> {
    let names = catalogue.defaults();
    names
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn undocumented(catalogue: &Catalogue) -> Vec<String> {
    if !catalogue.is_documented() {
        return Vec::new();
    }
    let names = catalogue.names();
    let names = names.filter(|name| catalogue.default_value(name).is_none());
    names.map(str::to_owned).collect()
}

/// How long a side keeps binary logs, seconds.
fn expiry_s(side: &Side) -> Option<i128> {
    let value = |name: &str| side.values.get(name).map(String::as_str);
    shown_expiry_s(value(DAYS), value(SECONDS))
}

/// One variable that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub name: String,
    pub topic: Topic,
    /// The value of the first side; `None` if that side does not have the variable. Of a secret only that there is one.
    pub a: Option<String>,
    /// The value of the second side.
    pub b: Option<String>,
}

/// The variables that differ between two sides, grouped by what they are about, the most important first.
pub fn differences(a: &Side, b: &Side) -> Vec<Difference> {
    let names = a.values.keys().chain(b.values.keys());
    let mut names: Vec<&String> = names.collect();
    names.sort_unstable();
    names.dedup();
    // One period by days and by seconds is no difference.
    let is_expiry = |name: &str| [DAYS, SECONDS].contains(&name);
    let keeps_same_logs = match (expiry_s(a), expiry_s(b)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    };
    let have_capacity = [a, b].iter().all(|side| side.values.contains_key(CAPACITY));
    let differing = names.into_iter().filter_map(|name| {
        let (one, other) = (a.values.get(name), b.values.get(name));
        let is_equal = match (one, other) {
            (Some(one), Some(other)) => {
                is_same_setting(name, one, other)
                    || (is_expiry(name) && keeps_same_logs)
                    // The capacity in effect is compared in their place.
                    || (is_of_redo_files(name) && have_capacity)
            }
            // That a default is not known is no difference.
            (None, _) => a.undocumented.contains(name),
            (_, None) => b.undocumented.contains(name),
        };
        let is_of_instance = OF_INSTANCES.contains(&name.as_str()) || name.starts_with("version");
        let option = OptionName::new(name);
        let shown = |value: &String| shown_value(&option, value).to_owned();
        (!is_equal && !is_of_instance).then(|| Difference {
            name: name.clone(),
            topic: topic(name),
            a: one.map(shown),
            b: other.map(shown),
        })
    });
    let mut all: Vec<Difference> = differing.collect();
    all.sort_by(|one, other| (one.topic, &one.name).cmp(&(other.topic, &other.name)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn version(text: &str) -> Side {
        Side::of_version(&Target::parse(text).unwrap())
    }

    #[test]
    fn an_upgrade_changes_what_section_6_of_the_facts_lists() {
        let differences = differences(&version("mysql-8.0.33"), &version("mysql-9.7"));
        let find = |name: &str| {
            let found = differences.iter().find(|one| one.name == name);
            found.map(|one| (one.a.as_deref(), one.b.as_deref()))
        };
        for (name, a, b) in [
            ("innodb_flush_method", Some("fsync"), Some("O_DIRECT")),
            ("innodb_io_capacity", Some("200"), Some("10000")),
            ("innodb_adaptive_hash_index", Some("ON"), Some("OFF")),
            ("innodb_log_buffer_size", Some("16777216"), Some("67108864")),
            ("innodb_log_file_size", Some("50331648"), None),
        ] {
            assert_eq!(find(name), Some((a, b)), "{name}");
        }
        assert_eq!(find("sync_binlog"), None);
        assert!(differences.is_sorted_by_key(|one| one.topic));
    }

    #[test]
    fn two_names_of_one_option_are_no_difference() {
        let side = |line: &str| {
            let text = format!("[mysqld]\n{line}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            Side::of_file(&file, &Target::parse("mariadb-10.11").unwrap())
        };
        let (old, new) = (side("table_cache=4096"), side("table_open_cache=4096"));
        assert_eq!(differences(&old, &new), []);
        let changed = differences(&old, &side("table_open_cache=512"));
        assert!(changed.iter().any(|one| one.name == "table_open_cache"));
    }

    #[test]
    fn a_size_enables_the_query_cache_of_mariadb() {
        let side = |lines: &str, version: &str| {
            let text = format!("[mysqld]\n{lines}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            Side::of_file(&file, &Target::parse(version).unwrap())
        };
        let off = "query_cache_size=64M\nquery_cache_type=OFF";
        for (lines, version, shown) in [
            ("query_cache_size=64M", "mariadb-10.11", "ON"),
            (off, "mariadb-10.11", "ON"),
            ("query_cache_size=1M", "mariadb-10.11", "ON"),
            ("query_cache_size=0", "mariadb-10.11", "OFF"),
            (
                "query_cache_type=2\nquery_cache_size=1M",
                "mariadb-10.11",
                "DEMAND",
            ),
            ("query_cache_size=64M", "mysql-5.7", "OFF"),
            (off, "mysql-5.7", "OFF"),
        ] {
            let sized = side(lines, version);
            assert_eq!(
                sized.values["query_cache_type"], shown,
                "{version}: {lines}"
            );
        }
    }

    #[test]
    fn two_names_of_one_character_set_are_no_difference() {
        let side = |lines: &str, version: &str| {
            let text = format!("[mysqld]\n{lines}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            Side::of_file(&file, &Target::parse(version).unwrap())
        };
        let short = "character_set_server=utf8\ncollation_server=utf8_general_ci";
        let full = "character_set_server=utf8mb3\ncollation_server=utf8mb3_general_ci";
        for version in ["mysql-8.0.33", "mariadb-10.11"] {
            let found = differences(&side(short, version), &side(full, version));
            assert_eq!(found, [], "{version}");
        }
        // Without its default mode, MariaDB takes the short name for utf8mb4.
        let [short, full] = [short, full].map(|lines| format!("old_mode=\n{lines}"));
        let (short, full) = (side(&short, "mariadb-10.11"), side(&full, "mariadb-10.11"));
        let found = differences(&short, &full);
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["character_set_server", "collation_server"]);
    }

    #[test]
    fn the_server_id_is_compared_and_the_uuid_is_not() {
        let side = |id: &str| {
            let values = [("server_id", id), ("server_uuid", id)];
            let values = values.map(|(name, value)| (name.to_owned(), value.to_owned()));
            Side::of_variables(&values.into())
        };
        let found = differences(&side("1"), &side("2"));
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["server_id"]);
    }

    #[test]
    fn the_period_for_binary_logs_is_compared_by_the_line_that_decides() {
        let side = |lines: &str, version: &str| {
            let text = format!("[mysqld]\n{lines}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            Side::of_file(&file, &Target::parse(version).unwrap())
        };
        let seconds_first = "binlog_expire_logs_seconds=86400\nexpire_logs_days=7";
        let days_first = "expire_logs_days=7\nbinlog_expire_logs_seconds=86400";
        let seconds = ("binlog_expire_logs_seconds", "604800", "86400");
        let days = ("expire_logs_days", "7.000000", "1.000000");
        for (a, b, version, expected) in [
            (
                seconds_first,
                days_first,
                "mariadb-10.11",
                &[seconds, days][..],
            ),
            (seconds_first, days_first, "mysql-8.0.33", &[]),
            (
                seconds_first,
                "binlog_expire_logs_seconds=86400",
                "mysql-8.0.33",
                &[],
            ),
            (
                "expire_logs_days=1",
                "binlog_expire_logs_seconds=86400",
                "mysql-8.0.33",
                &[],
            ),
        ] {
            let found = differences(&side(a, version), &side(b, version));
            let found = found.iter().map(|one| {
                let (a, b) = (one.a.as_deref(), one.b.as_deref());
                (
                    one.name.as_str(),
                    a.unwrap_or_default(),
                    b.unwrap_or_default(),
                )
            });
            let found: Vec<_> = found.collect();
            assert_eq!(found, expected, "{version}: {a} | {b}");
        }
    }

    /// 3 files of 512M have 1536M.
    #[test]
    fn the_redo_log_is_compared_by_its_capacity() {
        let side = |lines: &str| {
            let text = format!("[mysqld]\n{lines}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            Side::of_file(&file, &Target::parse("mysql-8.0.33").unwrap())
        };
        let files = side("innodb_log_file_size=512M\ninnodb_log_files_in_group=3");
        assert_eq!(
            differences(&files, &side("innodb_redo_log_capacity=1536M")),
            []
        );
        let mut running = version("mysql-8.0.33").values;
        running.extend(
            [
                ("innodb_log_file_size", "536870912"),
                ("innodb_log_files_in_group", "3"),
            ]
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
        );
        assert_eq!(differences(&files, &Side::of_variables(&running)), []);
        let found = differences(&files, &side(""));
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.name.as_str(), one.a.as_deref(), one.b.as_deref()))
            .collect();
        let capacity = (
            "innodb_redo_log_capacity",
            Some("1610612736"),
            Some("104857600"),
        );
        assert_eq!(found, [capacity]);
    }

    #[test]
    fn a_default_that_no_documentation_names_is_no_difference() {
        let names = |a, b| -> Vec<String> {
            let all = differences(&version(a), &version(b)).into_iter();
            all.map(|one| one.name).collect()
        };
        let changed = names("mariadb-10.5", "mariadb-10.6");
        for (name, differs) in [
            ("innodb_flush_method", true),
            ("wsrep_mode", true),
            ("innodb_purge_batch_size", false),
            ("query_alloc_block_size", false),
            ("note_verbosity", false),
        ] {
            assert_eq!(changed.contains(&name.to_owned()), differs, "{name}");
        }
        let added = names("mysql-5.7.22", "percona-5.7");
        assert!(added.contains(&"userstat".to_owned()), "{added:?}");
        assert!(
            !added.contains(&"innodb_buffer_pool_size".to_owned()),
            "{added:?}"
        );
    }

    #[test]
    fn files_are_compared_by_effective_value() {
        let target = Target::parse("mysql-8.0.33").unwrap();
        let side = |lines: &str| {
            let text = format!("[mysqld]\n{lines}\n");
            Side::of_file(
                &OptionFile::parse(&text, Path::new("my.cnf")).unwrap(),
                &target,
            )
        };
        let a = side(
            "innodb_buffer_pool_size=1G\nsync_binlog=1\nlocal_infile\nsql_mode=ANSI,TRADITIONAL",
        );
        let b = side(
            "innodb-buffer-pool-size=1024M\nlocal-infile=0\nsql_mode='traditional,ansi'\nmax_connections=9",
        );
        let names: Vec<String> = differences(&a, &b)
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["local_infile", "max_connections"]);
        assert_eq!(
            a.set,
            [
                "innodb_buffer_pool_size",
                "local_infile",
                "sql_mode",
                "sync_binlog"
            ]
        );
    }
}
