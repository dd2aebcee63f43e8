//! The parameter lists of documents 000 and 004, which many a my.cnf still contains, judged for each catalogued
//! version.
//!
//! `fixtures/parameter_lists.tsv` holds the answer of each version's own validator to each single line: `U` unknown,
//! `E` error, `i` ignored, and accepted with or without a remark.

use std::path::Path;

use mycnf::{
    Catalogue, Family, Finding, Level, Machine, OptionFile, Options, Target, judge, traps,
};

const MYSQL: [&[u32]; 5] = [&[5, 5, 9], &[5, 6, 24], &[5, 7, 22], &[8, 0, 33], &[9, 7]];
const MARIADB: [&[u32]; 5] = [&[10, 2], &[10, 5], &[10, 11], &[11, 4], &[11, 8]];

/// Each line of the fixture with its document, and the answers in the order of the versions.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, Vec<char>)> {
    let lines = include_str!("../../fixtures/parameter_lists.tsv")
        .lines()
        .skip(1);
    lines.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let answers = fields[2].chars().filter(|answer| *answer != ' ');
        (fields[0], fields[1], answers.collect())
    })
}

fn catalogues() -> Vec<Catalogue> {
    let mysql = MYSQL.map(|version| Catalogue::nearest(Family::MySql, version));
    let mariadb = MARIADB.map(|version| Catalogue::nearest(Family::MariaDb, version));
    mysql.into_iter().chain(mariadb).collect()
}

fn options(lines: &[&str]) -> Options {
    let text = format!("[mysqld]\n{}\n", lines.join("\n"));
    let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
    Options::from_groups(&file, &["mysqld"])
}

fn is_unknown(finding: &Finding) -> bool {
    finding.what.starts_with("unknown to this version")
}

#[test]
fn the_catalogue_knows_what_each_version_knows() {
    let mut wrong = Vec::new();
    for (_, line, answers) in rows() {
        for (catalogue, answer) in catalogues().iter().zip(answers) {
            let findings = judge(catalogue, options(&[line]).entries());
            let refused = findings.iter().any(Finding::is_refusal);
            let unknown = findings.iter().any(is_unknown);
            let same = match answer {
                // Some versions disable InnoDB for this value, and then report the option as unknown.
                _ if line.ends_with('%') => refused,
                'U' => unknown && refused,
                // The catalogue does not contain the reason of these: it is neither a word nor a number.
                'E' | 'i' => !unknown,
                _ => !refused,
            };
            if !same {
                let family = catalogue.family();
                wrong.push(format!(
                    "{line} on {family:?} {}: {findings:?}",
                    catalogue.version()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn document_000_starts_nowhere_as_written_because_of_its_time_zone() {
    let lines: Vec<&str> = rows()
        .filter(|row| row.0 == "000")
        .map(|row| row.1)
        .collect();
    let findings = traps(&options(&lines), &Target::parse("mysql-5.6").unwrap());
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].option, "default_time_zone=UTC");
    assert_eq!(
        findings[0].hint.as_deref(),
        Some("set '+00:00', which is equivalent")
    );
}

#[test]
fn document_004_is_refused_everywhere_with_every_name_at_once() {
    let lines: Vec<&str> = rows()
        .filter(|row| row.0 == "004")
        .map(|row| row.1)
        .collect();
    let xtradb = [
        "innodb_adaptive_flushing_method",
        "innodb_flush_neighbor_pages",
    ];
    for (catalogue, more) in catalogues().iter().zip([
        &["innodb_large_prefix", "innodb_print_all_deadlocks"][..],
        &[],
        &[
            "key_buffer",
            "thread_concurrency",
            "innodb_additional_mem_pool_size",
        ],
        &[
            "key_buffer",
            "query_cache_size",
            "query_cache_type",
            "thread_concurrency",
            "innodb_file_format",
            "innodb_additional_mem_pool_size",
            "innodb_large_prefix",
        ],
        &[
            "key_buffer",
            "query_cache_size",
            "query_cache_type",
            "thread_concurrency",
            "innodb_file_format",
            "innodb_additional_mem_pool_size",
            "innodb_log_file_size",
            "innodb_log_files_in_group",
            "innodb_large_prefix",
        ],
        &["innodb_additional_mem_pool_size"],
        &["innodb_additional_mem_pool_size"],
        &["innodb_additional_mem_pool_size"],
        &["innodb_additional_mem_pool_size"],
        &["innodb_additional_mem_pool_size"],
    ]) {
        let findings = judge(catalogue, options(&lines).entries());
        let refused = findings.iter().filter(|finding| finding.is_refusal());
        let mut names: Vec<&str> = refused
            .map(|finding| finding.option.split('=').next().unwrap())
            .collect();
        let mut expected: Vec<&str> = more.iter().copied().chain(xtradb).collect();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(
            names,
            expected,
            "{:?} {}",
            catalogue.family(),
            catalogue.version()
        );
    }
}

/// The review of a file gives each line the answer of the version's own validator.
#[test]
fn the_review_answers_as_each_versions_validator() {
    let targets = MYSQL
        .iter()
        .map(|version| Target::new(Family::MySql, version))
        .chain(
            MARIADB
                .iter()
                .map(|version| Target::new(Family::MariaDb, version)),
        );
    let targets: Vec<Target> = targets.collect();
    let mut wrong = Vec::new();
    for (_, line, answers) in rows() {
        // What the validator refuses for a directory that does not exist, or for a suffix, is not about the file.
        if line.ends_with('%') || line.contains("/rdsdbdata") || line.contains("datadir") {
            continue;
        }
        for (target, answer) in targets.iter().zip(answers) {
            let text = format!("[mysqld]\n{line}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let found = mycnf::lint(&file, target, &Machine::default());
            let about = found
                .advice
                .iter()
                .filter(|advice| advice.remark.at.is_some());
            let about: Vec<_> = about
                .map(|advice| (advice.rule.id, advice.remark.level))
                .collect();
            let has = |id: &str| about.iter().any(|(rule, _)| *rule == id);
            let refused = about.iter().any(|(_, level)| *level == Level::Refused);
            let same = match answer {
                // Words of the mode are deprecated, not the line.
                'd' if line.starts_with("sql_mode") => !refused,
                'U' => has("unknown-option"),
                'd' => [
                    "deprecated-option",
                    "option-without-effect",
                    "abbreviated-name",
                    "character-set",
                    "old-password-hashes",
                ]
                .into_iter()
                .any(has),
                'p' => has("abbreviated-name"),
                'A' => has("character-set"),
                'E' => refused,
                'i' => has("wrong-value"),
                // The rest is taken; some lines are fatal in a start and in no validator.
                _ => {
                    let fatal = ["named-time-zone", "gtid", "authentication-plugin"];
                    !refused || fatal.into_iter().any(has)
                }
            };
            if !same {
                wrong.push(format!("{line} on {target}: {answer} against {about:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
