//! Rule: the default storage engine does not exist, or has no crash recovery.

use crate::catalogue::Product;
use crate::name::OptionName;
use crate::plugins::{LoadedPlugin, is_missing};
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "storage-engine",
    title: "Storage engine",
    reason: "A server does not start if its default storage engine does not exist or is turned off. The server's own validator does not detect this. A crash can damage the tables of an engine without crash recovery.",
    source: "MySQL Reference Manual, \"Alternative Storage Engines\"; MariaDB documentation, \"Storage Engines\"; Percona Server \
        documentation, \"Percona TokuDB\" and \"Percona MyRocks\"; the error \"Unknown/unsupported storage engine\" at startup",
    check,
};

/// Options whose value is the name of an existing engine.
const OPTIONS: [&str; 3] = [
    "default_storage_engine",
    "default_tmp_storage_engine",
    "enforce_storage_engine",
];
/// Engines of every product, with their other names.
const COMMON: [&str; 11] = [
    "InnoDB",
    "MyISAM",
    "MEMORY",
    "HEAP",
    "CSV",
    "ARCHIVE",
    "BLACKHOLE",
    "MERGE",
    "MRG_MYISAM",
    "FEDERATED",
    "EXAMPLE",
];
const MYSQL: [&str; 2] = ["NDB", "NDBCLUSTER"];
const MARIADB: [&str; 3] = ["Aria", "Maria", "SEQUENCE"];
/// Engines of plugins that a product ships and a server may have installed; the file need not load them.
const PERCONA_PLUGINS: [&str; 2] = ["TokuDB", "RocksDB"];
const MARIADB_PLUGINS: [&str; 12] = [
    "TokuDB",
    "RocksDB",
    "SPIDER",
    "CONNECT",
    "Mroonga",
    "OQGRAPH",
    "SPHINX",
    "S3",
    "ColumnStore",
    "CASSANDRA",
    "PBXT",
    "XPAND",
];

/// Engines whose tables a crash can damage or empty.
const UNSAFE: [&str; 8] = [
    "MyISAM",
    "MERGE",
    "MRG_MYISAM",
    "MEMORY",
    "HEAP",
    "CSV",
    "ARCHIVE",
    "BLACKHOLE",
];

/// A default engine without crash recovery, about which the durability class of InnoDB says nothing.
fn without_recovery(subject: &Subject<'_>) -> Option<RuleFinding> {
    let name = "default_storage_engine";
    let line = subject.set(name)?;
    // `galera-node` reports it for a cluster.
    if !subject.is_one_of(name, &UNSAFE) || subject.is_galera_node() || subject.is_without_innodb()
    {
        return None;
    }
    let what = "new tables have no transactions and no crash recovery; the durability class does not apply to them";
    let fix = format!(
        "set {} = InnoDB, unless the application needs this engine",
        line.entry.name
    );
    Some(RuleFinding::on(line, Level::Risk, what).fix(fix))
}

/// InnoDB is switched off, and is the default engine all the same: no check of the server finds it, and it aborts with
/// "Unknown/unsupported storage engine: InnoDB".
///
/// Source: MySQL 5.6 Reference Manual, "Turning Off InnoDB"; the log of MySQL 5.5 with `skip-innodb` alone.
fn default_that_is_off(subject: &Subject<'_>) -> Option<RuleFinding> {
    // The default engine of older versions is MyISAM.
    let is_default = subject.target.numbers() >= &[5, 5][..];
    if !subject.is_without_innodb() || !is_default {
        return None;
    }
    let line = subject.set("innodb")?;
    let defaults = ["default_storage_engine", "default_tmp_storage_engine"];
    let defaults: Vec<&str> = defaults
        .into_iter()
        .filter(|name| subject.is_one_of(name, &["InnoDB"]))
        .collect();
    if defaults.is_empty() {
        return None;
    }
    let what = format!(
        "turns InnoDB off, but InnoDB is the default engine ({}), so the server does not start",
        defaults.join(", ")
    );
    let others: Vec<String> = defaults
        .iter()
        .map(|name| format!("{name} = MyISAM"))
        .collect();
    let fix = format!("remove the line, or set {}", others.join(" and "));
    Some(RuleFinding::on(line, Level::Refused, what).fix(fix))
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let own = [without_recovery(subject), default_that_is_off(subject)];
    let mut remarks: Vec<RuleFinding> = own.into_iter().flatten().collect();
    let is_in = |engines: &[&str], name: &str| {
        let mut engines = engines.iter();
        engines.any(|engine| engine.eq_ignore_ascii_case(name))
    };
    let (own, plugins) = match subject.target.product() {
        Product::MariaDb => (&MARIADB[..], &MARIADB_PLUGINS[..]),
        Product::Percona => (&MYSQL[..], &PERCONA_PLUGINS[..]),
        Product::MySql => (&MYSQL[..], &[][..]),
    };
    let all: [&[&str]; 4] = [&MYSQL, &MARIADB, &PERCONA_PLUGINS, &MARIADB_PLUGINS];
    for line in subject.read() {
        let Some(engine) = line.entry.value.as_deref().filter(|it| !it.is_empty()) else {
            continue;
        };
        if !OPTIONS.contains(&line.name()) || is_in(&COMMON, engine) || is_in(own, engine) {
            continue;
        }
        let name = OptionName::new(engine);
        let mut loaded = subject.plugins.iter();
        if loaded.any(|plugin| plugin.has(&name) && !plugin.is_missing_in(subject.target)) {
            continue;
        }
        // A line that loads the plugin does not help: there is no library of it for this version.
        let is_of_other_version = is_missing(subject.target, name.base());
        if is_in(plugins, engine) && !is_of_other_version {
            let what = format!(
                "the storage engine {engine} is a plugin; the server does not start unless the plugin is loaded"
            );
            let fix = format!(
                "load the plugin in this file (plugin_load_add), or check that SHOW PLUGINS lists {engine}"
            );
            remarks.push(RuleFinding::on(line, Level::Risk, what).fix(fix));
            continue;
        }
        let is_of_another = all.iter().any(|engines| is_in(engines, engine));
        // A plugin that no product ships may add an engine of any name, but none of another product.
        let mut loaded = subject.plugins.iter();
        if !is_of_another && !loaded.all(LoadedPlugin::is_shipped) {
            continue;
        }
        let what = if is_in(plugins, engine) {
            format!(
                "{} has no storage engine {engine}; other versions have it as a plugin",
                subject.target
            )
        } else if is_of_another {
            let product = subject.target.product().title();
            format!("{product} has no storage engine {engine}")
        } else {
            format!("neither MySQL nor Percona Server nor MariaDB has a storage engine {engine}")
        };
        let fix = format!("write {} = InnoDB", line.entry.name);
        remarks.push(RuleFinding::on(line, Level::Refused, what).fix(fix));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_server_without_innodb_needs_another_default_engine() {
        for (version, lines, part) in [
            (
                "mysql-5.5",
                "skip-innodb",
                "refused: skip-innodb: turns InnoDB off, but InnoDB is the default engine (default_storage_engine), so the \
                 server does not start; remove the line, or set default_storage_engine = MyISAM",
            ),
            (
                "mysql-5.6",
                "innodb=OFF\ndefault_storage_engine=MyISAM",
                "(default_tmp_storage_engine), so the server does not start; remove the line, or set \
                 default_tmp_storage_engine = MyISAM",
            ),
            (
                "mysql-5.6",
                "skip_innodb",
                "(default_storage_engine, default_tmp_storage_engine)",
            ),
            ("mariadb-10.2", "skip_innodb", "refused: "),
            ("mariadb-11.8", "innodb=0", "refused: "),
        ] {
            assert_found(&RULE, version, lines, &[part]);
        }
        for (version, lines) in [
            ("mariadb-10.11", "skip_innodb\ndefault_storage_engine=Aria"),
            ("mysql-5.7", "skip_innodb"),
            ("mysql-8.0.33", "innodb=OFF"),
            ("mysql-5.5", "innodb=FORCE"),
            ("mysql-5.1", "skip-innodb"),
        ] {
            assert_found(&RULE, version, lines, &[]);
        }
    }

    #[test]
    fn an_engine_that_other_versions_had() {
        for (version, engine, library) in [
            ("percona-8.0.28", "TokuDB", "ha_tokudb.so"),
            ("percona-8.0", "tokudb", "ha_tokudb"),
            ("percona-8.4", "TokuDB", "tokudb=ha_tokudb.so"),
            ("mariadb-10.6", "TokuDB", "ha_tokudb.so"),
            ("mariadb-10.1", "RocksDB", "ha_rocksdb.so"),
        ] {
            let line = format!("default_storage_engine={engine}");
            let refused = format!(
                "refused: {line}: {version} has no storage engine {engine}; other versions have it as a plugin; write \
                 default_storage_engine = InnoDB"
            );
            assert_found(&RULE, version, &line, &[&refused]);
            let loading = format!("{line}\nplugin_load_add={library}");
            assert_found(&RULE, version, &loading, &[&refused]);
        }
        for version in ["percona-5.7", "percona-8.0.22", "mariadb-10.5"] {
            let line = "default_storage_engine=TokuDB";
            assert_found(&RULE, version, line, &["risk: "]);
            let loading = format!("{line}\nplugin_load_add=ha_tokudb.so");
            assert_found(&RULE, version, &loading, &[]);
        }
    }

    #[test]
    fn only_engines_that_exist() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "default-storage-engine=inodb\ndefault_tmp_storage_engine=Aria",
            &[
                "refused: default-storage-engine=inodb: neither MySQL nor Percona Server nor MariaDB has a storage engine inodb; write default-storage-engine = InnoDB",
                "refused: default_tmp_storage_engine=Aria: MySQL has no storage engine Aria",
            ],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "default_storage_engine=TokuDB",
            &["refused: default_storage_engine=TokuDB: MySQL has no storage engine TokuDB"],
        );
        assert_found(
            &RULE,
            "percona-8.0",
            "default_storage_engine=ROCKSDB",
            &[
                "risk: default_storage_engine=ROCKSDB: the storage engine ROCKSDB is a plugin; the server does not start unless the plugin is loaded",
            ],
        );
        for lines in [
            "default-storage-engine=myisam",
            "default-storage-engine=MyISAM\nplugin_load_add=x.so",
        ] {
            let risk = "; the durability class does not apply to them; set default-storage-engine = InnoDB";
            assert_found(&RULE, "mysql-5.5", lines, &[risk]);
        }
        for (version, lines, part) in [
            (
                "mysql-8.0.33",
                "default_storage_engine=Aria\nplugin_load_add=server_audit",
                "refused: default_storage_engine=Aria: MySQL has no storage engine Aria",
            ),
            (
                "mysql-8.0.33",
                "default_storage_engine=inodb\nplugin_load_add=semisync_source.so",
                "refused: default_storage_engine=inodb: neither MySQL",
            ),
            (
                "percona-8.0",
                "default_storage_engine=inodb\nplugin_load_add=ha_rocksdb.so",
                "refused: default_storage_engine=inodb: neither MySQL",
            ),
            (
                "percona-8.0",
                "default_storage_engine=ROCKSDB\nplugin_load_add=audit_log.so",
                "risk: default_storage_engine=ROCKSDB: the storage engine ROCKSDB is a plugin",
            ),
        ] {
            assert_found(&RULE, version, lines, &[part]);
        }
        for (version, right) in [
            (
                "percona-8.0",
                "default_storage_engine=ROCKSDB\nplugin_load_add=ha_rocksdb.so",
            ),
            (
                "mysql-5.6",
                "default_storage_engine=TokuDB\nplugin_load=ha_tokudb.so",
            ),
            ("mariadb-10.11", "default_storage_engine=aria"),
            ("mysql-5.5", "skip-innodb\ndefault-storage-engine=MyISAM"),
            (
                "mysql-5.7",
                "default_storage_engine=\nenforce_storage_engine=myisam",
            ),
            (
                "mysql-8.0.33",
                "default_storage_engine=new\nplugin_load_add=ha_new.so",
            ),
        ] {
            assert_found(&RULE, version, right, &[]);
        }
    }
}
