//! The files of documents 000 and 004, moved to every version that has a catalogue.

use std::fmt::Write as _;
use std::path::Path;

use mycnf::{Level, Machine, Migration, Move, OptionFile, Target, lint, migrate, rewritten_text};

const DOCUMENTS: [(&str, &str, &str); 3] = [
    (
        "document_000",
        "mysql-5.6",
        include_str!("../../fixtures/document_000.cnf"),
    ),
    (
        "document_004_full",
        "mysql-5.5",
        include_str!("../../fixtures/document_004_full.cnf"),
    ),
    (
        "document_004_simple",
        "mysql-5.5",
        include_str!("../../fixtures/document_004_simple.cnf"),
    ),
];

fn moved(text: &str, from: &str, to: &Target) -> (Migration, String) {
    let path = Path::new("my.cnf");
    let file = OptionFile::parse(text, path).unwrap();
    let from = Target::parse(from).unwrap();
    let migration = migrate(&file, path, text.as_bytes(), &from, to, &[]);
    let text = rewritten_text(text.as_bytes(), &migration.edits);
    (migration, String::from_utf8(text).unwrap())
}

fn described(migration: &Migration) -> String {
    let mut text = String::new();
    for one in &migration.moves {
        match one {
            Move::Rewritten { at, was, now } => writeln!(text, "  {at}: {was} -> {now}"),
            Move::Dropped { at, was, why } => writeln!(text, "  {at}: {was} -> left out: {why}"),
            Move::Pinned { line, why } => writeln!(text, "  + {line}: {why}"),
            Move::Open { option, what, .. } => writeln!(text, "  ? {option}: {what}"),
        }
        .unwrap();
    }
    text
}

#[test]
fn each_document_moves_to_every_version() {
    for (name, from, text) in DOCUMENTS {
        let mut all = String::new();
        for to in Target::all() {
            let (migration, _) = moved(text, from, &to);
            writeln!(all, "{from} -> {to}\n{}", described(&migration)).unwrap();
        }
        insta::assert_snapshot!(name, all);
    }
}

/// The moved file has nothing that the version refuses, and moving it again changes nothing.
#[test]
fn a_moved_file_is_accepted_and_stays() {
    for (name, from, text) in DOCUMENTS {
        for to in Target::all() {
            let (_, text) = moved(text, from, &to);
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let found = lint(&file, &to, &Machine::default());
            let refused = found
                .advice
                .iter()
                .filter(|advice| advice.remark.level == Level::Refused);
            let refused: Vec<_> = refused.map(|advice| &advice.remark).collect();
            assert!(refused.is_empty(), "{name} for {to}: {refused:#?}\n{text}");
            let (again, same) = moved(&text, &to.to_string(), &to);
            assert_eq!(text, same, "{name} for {to}: {}", described(&again));
        }
    }
}

#[test]
fn groups_of_another_family_are_renamed_and_old_behaviour_is_pinned() {
    let text = "[mariadb]\ncharacter-set-server=utf8mb4\naria_pagecache_buffer_size=64M\n[mysqldump]\nquick\n";
    let (_, moved_text) = moved(
        text,
        "mariadb-10.11",
        &Target::parse("mysql-8.0.33").unwrap(),
    );
    assert_eq!(
        moved_text,
        "[mysqld]    # was [mariadb]\n\
         character-set-server=utf8mb4\n\
         # aria_pagecache_buffer_size=64M    # left out: unknown to this version, an option of MariaDB\n\
         \n\
         # added by dbdyno config migrate\n\
         event_scheduler = OFF    # as in mariadb-10.11; the default of mysql-8.0.33 is ON\n\
         sql_mode = STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION    # as in mariadb-10.11; \
         the default of mysql-8.0.33 is ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,\
         ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION\n\
         collation_server = utf8mb4_general_ci    # as in mariadb-10.11; the default of mysql-8.0.33 is utf8mb4_0900_ai_ci\n\
         skip_log_bin    # as in mariadb-10.11; mysql-8.0.33 has a binary log by default\n\
         group_concat_max_len = 1M    # as in mariadb-10.11; the default of mysql-8.0.33 is 1K\n\
         [mysqldump]\nquick\n"
    );
}

#[test]
fn the_page_lists_every_rule() {
    let page = include_str!("../../../../docs/config.md");
    for (rule, _) in mycnf::rules() {
        assert!(page.contains(&format!("| `{}` |", rule.id)), "{}", rule.id);
    }
}
