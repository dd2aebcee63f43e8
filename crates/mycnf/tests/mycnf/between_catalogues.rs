//! A version between two catalogues of its series: nothing of a later version is written for it, or accepted without a word.

use std::path::Path;

use mycnf::{
    DurabilityClass, GenerationInput, Level, Machine, OptionFile, Purpose, Target, generate, lint,
};

/// The redo log's capacity came with 8.0.30.
#[test]
fn a_generated_file_has_no_option_of_a_later_version() {
    for (version, has_capacity) in [
        ("mysql-8.0.25", false),
        ("percona-8.0.25", false),
        ("percona-8.0.13", false),
        ("percona-8.0.30", true),
        ("percona-8.0.36", true),
        ("percona-8.0", true),
    ] {
        let target = Target::parse(version).unwrap();
        let text = generate(&GenerationInput {
            target: target.clone(),
            memory_bytes: 8 << 30,
            cpus: Some(4),
            disk_iops: None,
            purpose: Purpose::Oltp,
            class: DurabilityClass::D4,
            connections: 151,
        });
        let has = |option: &str| text.contains(&format!("\n{option} = "));
        assert_eq!(has("innodb_redo_log_capacity"), has_capacity, "{text}");
        assert_eq!(has("innodb_log_file_size"), !has_capacity, "{text}");
        let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
        let found = lint(&file, &target, &Machine::default());
        let is_unknown = found.advice.iter().any(|it| it.rule.id == "unknown-option");
        assert!(!is_unknown, "{version}: {:#?}", found.advice);
        assert_eq!(found.count(Level::Refused), 0, "{version}");
    }
}

#[test]
fn options_of_a_later_version_are_noted() {
    let later = "innodb_redo_log_capacity=768M\nreplica_parallel_workers=4\nbinlog_expire_logs_auto_purge=1\n\
                 authentication_policy=*\n";
    let file = OptionFile::parse(&format!("[mysqld]\n{later}"), Path::new("my.cnf")).unwrap();
    for product in ["mysql", "percona"] {
        let target = Target::parse(&format!("{product}-8.0.20")).unwrap();
        let found = lint(&file, &target, &Machine::default());
        let added = format!("added between {product}-8.0.12 and {product}-8.0.33");
        let notes = found.advice.iter().filter(|advice| {
            advice.remark.level == Level::Note && advice.remark.what.starts_with(&added)
        });
        assert_eq!(notes.count(), 4, "{target}: {:#?}", found.advice);
    }
}
