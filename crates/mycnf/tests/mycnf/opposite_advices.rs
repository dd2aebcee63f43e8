//! Advice of several rules on one line: never to leave the line out and to write another value.

use std::path::Path;

use mycnf::{Machine, OptionFile, Target, lint};

/// No line is to be left out by one rule and to get another value by the next.
#[test]
fn no_line_has_two_opposite_advices() {
    let lines = "sync_binlog=0\nlog_bin=x\nbinlog_format=STATEMENT\nquery_cache_type=1\nquery_cache_size=64M\n\
                 innodb_flush_log_at_trx_commit=2\ninnodb_buffer_pool_size=128M\nmax_connections=151\n\
                 innodb_autoinc_lock_mode=1\ndefault_storage_engine=MyISAM\nlocal_infile=1\nsql_mode=\n\
                 innodb_log_file_size=48M\nexpire_logs_days=0\nskip_networking\nbind_address=*\n\
                 sort_buffer_size=512M\nkey_buffer_size=8388608\ninnodb_file_per_table=0\nsecure_file_priv=\n";
    let cluster =
        "wsrep_on=ON\nwsrep_provider=/usr/lib/galera/libgalera_smm.so\nwsrep_sst_auth=a:b\n";
    let machine = Machine {
        memory_bytes: Some(8 << 30),
        cpus: Some(2),
        ..Machine::default()
    };
    for target in Target::all() {
        for more in ["", cluster] {
            let text = format!("[mysqld]\n{lines}{more}");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let lint = lint(&file, &target, &machine);
            for entry in file.entries() {
                let fixes = lint.advice.iter().filter(|advice| {
                    advice.remark.at.as_ref() == Some(&entry.origin)
                        && advice.rule.id != "repeated-option"
                });
                let fixes: Vec<String> = fixes
                    .filter_map(|advice| advice.remark.fix.as_ref())
                    .map(ToString::to_string)
                    .collect();
                let begins = |words: [&str; 2]| {
                    let of_these = |fix: &String| words.iter().any(|word| fix.starts_with(word));
                    fixes.iter().any(of_these)
                };
                let goes = begins(["leave", "remove"]);
                let stays = begins(["write", "set"]);
                assert!(!(goes && stays), "{target} {}: {fixes:#?}", entry.name);
            }
        }
    }
}

/// MySQL 5.7 does not start with the old password hashes: it does not "still accept" them.
#[test]
fn a_refused_line_is_not_deprecated() {
    for (value, rules) in [
        ("OFF", ["old-password-hashes"]),
        ("ON", ["deprecated-option"]),
    ] {
        let text = format!("[mysqld]\nsecure_auth={value}\n");
        let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
        let target = Target::parse("mysql-5.7").unwrap();
        let lint = lint(&file, &target, &Machine::default());
        let of_line = lint
            .advice
            .iter()
            .filter(|advice| advice.remark.at.is_some());
        let found: Vec<&str> = of_line.map(|advice| advice.rule.id).collect();
        assert_eq!(found, rules, "{value}");
    }
}
