//! Tests that options are checked by each server's own checks before it starts.
//!
//! `DBDYNO_MATRIX` names more server binaries, separated by `:`, or is `installed` for those of
//! `dbdyno server install`; without it only the installed server is tested.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use blame::Blame;
use mycnf::{Family, Finding, Level, Machine, OptionFile, Severity, Target, lint};
use server::{
    Error, Flavour, Installation, Server, Settings, check, check_file, review, try_start,
};

use crate::generated_files::generated_file;

/// The servers to test.
fn installations() -> Vec<Installation> {
    let mut found = vec![Installation::find(None, None).unwrap()];
    match std::env::var("DBDYNO_MATRIX").unwrap_or_default().as_str() {
        "" | "0" => {}
        "1" | "installed" => {
            let specs = [
                "mysql-5.5",
                "mysql-5.6",
                "mysql-5.7",
                "mysql-8.0.12",
                "mysql-8.0.33",
                "mysql-9",
                "mariadb-10.2",
                "mariadb-10.5",
                "mariadb-10.11",
                "mariadb-11.4",
                "mariadb-11.8",
            ];
            found.extend(
                specs
                    .iter()
                    .filter_map(|spec| Installation::find(Some(spec), None).ok()),
            );
        }
        paths => found.extend(
            paths
                .split(':')
                .map(|path| Installation::find(None, Some(Path::new(path))).unwrap()),
        ),
    }
    found
}

fn settings(dir: &Path, text: &str) -> Settings {
    let cnf = dir.join("my.cnf");
    std::fs::write(&cnf, format!("[mysqld]\n{text}")).unwrap();
    Settings {
        cnf: vec![cnf],
        ..Settings::default()
    }
}

fn numbers(installation: &Installation) -> Vec<u32> {
    let numbers = installation.version.split(['.', '-']);
    numbers.map_while(|number| number.parse().ok()).collect()
}

fn is_mariadb(installation: &Installation) -> bool {
    installation.flavour == Flavour::MariaDb
}

fn refused(findings: &[Finding]) -> Vec<&str> {
    let refused = findings.iter().filter(|finding| finding.is_refusal());
    refused
        .map(|finding| finding.option.split('=').next().unwrap())
        .collect()
}

#[test]
fn a_wrong_name_a_wrong_unit_and_a_removed_option_are_refused_before_anything_is_made() {
    for installation in installations() {
        let scratch = tempfile::tempdir().unwrap();
        let at = format!("{} {}", installation.flavour, installation.version);
        let version = numbers(&installation);
        // Options that the product family had once and this version has removed.
        let removed = match (is_mariadb(&installation), version.as_slice()) {
            (true, _) | (false, [5, 7, ..]) => "innodb_additional_mem_pool_size=20M",
            (false, [5, 6, ..]) => "table_cache=512",
            (false, [5, ..]) => "bdb_cache_size=8M",
            (false, _) => "query_cache_size=64M",
        };
        let text = format!(
            "max_connections=100\nno_such_option=1\nsort_buffer_size=2X\n{removed}\nno_such_switch\n\
             innodb_buffer_pool_size=70%\nloose_no_such_thing=1\n"
        );
        let settings = settings(scratch.path(), &text);
        let dir = scratch.path().join("server");
        let error = Server::create(&dir, &installation, &settings).unwrap_err();
        assert_eq!(error.blame(), Blame::Input, "{at}: {error}");
        assert!(!dir.exists(), "{at}");
        let message = error.to_string();
        for (line, option) in [
            (3, "no_such_option=1"),
            (4, "sort_buffer_size=2X"),
            (5, removed),
            (6, "no_such_switch"),
            (7, "innodb_buffer_pool_size=70%"),
        ] {
            let expected = format!("my.cnf line {line}: {option}: ");
            assert!(
                message.contains(&expected),
                "{at}: no {expected:?} in {message}"
            );
        }
        let Error::Rejected { findings, .. } = error else {
            panic!("{at}: {message}");
        };
        assert_eq!(findings.len(), 5, "{at}: {message}");
    }
}

#[test]
fn what_a_value_becomes_is_noted_and_keeps_nothing_from_starting() {
    for installation in installations() {
        let scratch = tempfile::tempdir().unwrap();
        let at = format!("{} {}", installation.flavour, installation.version);
        let text = "sort_buffer_size=1\nloose-no_such_option=1\nmax_connections=77\n";
        let findings = check(&installation, &settings(scratch.path(), text))
            .unwrap()
            .findings;
        assert_eq!(refused(&findings), Vec::<&str>::new(), "{at}");
        let notes: Vec<&Finding> = findings.iter().collect();
        assert!(notes.iter().all(|note| note.severity == Severity::Note));
        let told: Vec<&str> = notes.iter().map(|note| note.option.as_str()).collect();
        assert_eq!(
            told,
            ["sort_buffer_size=1", "loose-no_such_option=1"],
            "{at}: {notes:?}"
        );
        let sentence = notes[0].to_string();
        assert!(
            sentence.contains("1024") || sentence.contains("32768"),
            "{at}: {sentence}"
        );
    }
}

/// Old versions read this word at the start of InnoDB, after their own check.
#[test]
fn a_wrong_word_of_innodb_is_refused_by_every_version() {
    for installation in installations() {
        let scratch = tempfile::tempdir().unwrap();
        let at = format!("{} {}", installation.flavour, installation.version);
        let text = "max_connections=77\ninnodb_flush_method=SIDEWAYS\n";
        let checked = check(&installation, &settings(scratch.path(), text)).unwrap();
        assert_eq!(refused(&checked.findings), ["innodb_flush_method"], "{at}");
    }
}

/// The lines of a document, with the answer of each catalogued version.
fn parameter_list(document: &str) -> Vec<(String, Vec<char>)> {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../mycnf/fixtures/parameter_lists.tsv");
    let text = std::fs::read_to_string(path).unwrap();
    let rows = text
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[0] == document)
        .map(|row| {
            let answers = row[2].chars().filter(|answer| *answer != ' ');
            (row[1].to_owned(), answers.collect())
        })
        .collect()
}

/// The column of a server in the fixture; `None` for a series that is not in it.
fn column(installation: &Installation) -> Option<usize> {
    let version = numbers(installation);
    let series = (is_mariadb(installation), version[0], version[1]);
    let columns: BTreeMap<_, _> = [
        (false, 5, 6),
        (false, 5, 7),
        (false, 8, 0),
        (false, 9, 7),
        (true, 10, 2),
        (true, 10, 5),
        (true, 10, 11),
        (true, 11, 4),
        (true, 11, 8),
    ]
    .into_iter()
    .zip(1..)
    .collect();
    columns.get(&series).copied()
}

#[test]
fn the_lists_of_documents_000_and_004_are_refused_line_by_line_as_each_version_does() {
    for installation in installations() {
        let Some(column) = column(&installation) else {
            continue;
        };
        for document in ["000", "004"] {
            let scratch = tempfile::tempdir().unwrap();
            let at = format!(
                "{document} on {} {}",
                installation.flavour, installation.version
            );
            let rows = parameter_list(document);
            let text: Vec<String> = rows.iter().map(|(line, _)| format!("{line}\n")).collect();
            let checked = check(&installation, &settings(scratch.path(), &text.concat())).unwrap();
            let refused = refused(&checked.findings);
            for (line, answers) in &rows {
                let name = line.split('=').next().unwrap();
                // Paths are replaced; the character set and the log switch are set together with the options that need
                // them here.
                let expected = match (name, answers[column]) {
                    ("default_time_zone", _) => true,
                    // On a command line `report_host=` is an error; in a file, 5.7 reads it as an empty name.
                    ("report_host", _) => continue,
                    ("character-set-server", answer) => answer == 'E',
                    (_, answer) => answer == 'U',
                };
                assert_eq!(
                    refused.contains(&name),
                    expected,
                    "{at}: {line}: {:#?}",
                    checked.findings
                );
            }
        }
    }
}

fn refused_lines(findings: &[Finding]) -> BTreeSet<u32> {
    let refused = findings.iter().filter(|finding| finding.is_refusal());
    refused.filter_map(|finding| finding.at.number()).collect()
}

/// With `DBDYNO_MATRIX` 200 files, and a start with every twentieth that is accepted; else few files, and one start.
#[test]
fn review_check_and_creation_agree_on_generated_files() {
    let is_matrix = !std::env::var("DBDYNO_MATRIX")
        .unwrap_or_default()
        .is_empty();
    let (files, step) = if is_matrix { (200, 20) } else { (4, 4) };
    let scratch = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for installation in installations() {
        let family = if is_mariadb(&installation) {
            Family::MariaDb
        } else {
            Family::MySql
        };
        let target = Target::new(family, &numbers(&installation));
        let mut accepted = 0;
        for number in 0..files {
            let text = generated_file(number);
            let path = scratch.path().join("my.cnf");
            std::fs::write(&path, &text).unwrap();
            let file = OptionFile::read(&path).unwrap();
            let at = format!("{target}, file {number}:\n{text}");

            let checked = check_file(&installation, &file).unwrap();
            let of_check = refused_lines(&checked.findings);
            let mut review = lint(&file, &target, &Machine::default());
            review.add_validator(&checked.findings, &checked.judged, &file);
            let remarks = review.advice.iter().map(|advice| &advice.remark);
            let remarks = remarks.filter(|remark| remark.level == Level::Refused);
            let of_lint: BTreeSet<u32> = remarks
                .filter_map(|one| one.at.as_ref()?.number())
                .collect();
            if of_lint != of_check {
                let of_review = review.advice.iter().map(|advice| &advice.remark);
                let said: Vec<_> = of_review.map(|one| (&one.at, &one.what)).collect();
                wrong.push(format!(
                    "{at}review {of_lint:?}, check {of_check:?}: {said:#?}"
                ));
                continue;
            }
            if of_check.is_empty() {
                accepted += 1;
                if accepted % step == 1 {
                    let trial = try_start(&installation, &file).unwrap();
                    assert_eq!(trial.failure, None, "{at}");
                }
                continue;
            }
            let settings = Settings {
                cnf: vec![path],
                ..Settings::default()
            };
            let dir = scratch.path().join("server");
            let error = Server::create(&dir, &installation, &settings).unwrap_err();
            let Error::Rejected { findings, .. } = error else {
                panic!("{at}{error}");
            };
            assert_eq!(refused_lines(&findings), of_check, "{at}");
        }
        assert!(accepted > 0, "{target}");
    }
    assert!(
        wrong.is_empty(),
        "{} files, {}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The file may be for another machine, but a path of another machine does not make a name known, and the server judges the
/// other lines all the same.
#[test]
fn an_unknown_name_is_refused_also_with_a_path_that_is_not_here() {
    for installation in installations() {
        let target = installation.target();
        let text = "[mysqld]\nlog_eror = /no/such/mysqld.log\nslow_query_log_file = /no/such/slow.log\n\
                    secure_file_priv = /no/such/export\nsort_bufer_size = 2M\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let machine = Machine::default();
        let reviewed = review(&[], &file, &target, &machine, Some(&installation)).unwrap();
        let remarks = reviewed.advice.iter().map(|advice| &advice.remark);
        let refused = remarks.filter(|remark| remark.level == Level::Refused);
        let refused: Vec<&str> = refused.map(|remark| remark.option.as_str()).collect();
        let unknown = ["log_eror=/no/such/mysqld.log", "sort_bufer_size=2M"];
        assert_eq!(refused, unknown, "{target}");
    }
}

/// No check without a start looks for the directory of the redo log.
#[test]
fn a_start_finds_what_no_check_does() {
    for installation in installations() {
        let at = format!("{} {}", installation.flavour, installation.version);
        let parse = |text: &str| OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let file =
            parse("[mysqld]\ninnodb_log_group_home_dir = nowhere\ninnodb_buffer_pool_size = 9G\n");
        let checked = check_file(&installation, &file).unwrap();
        assert!(refused(&checked.findings).is_empty(), "{at}: {checked:?}");
        let trial = try_start(&installation, &file).unwrap();
        let failure = trial.failure.as_deref().unwrap_or_default();
        assert!(!failure.is_empty(), "{at}: {trial:?}");
        assert!(!failure.starts_with("it ended"), "{at}: {failure}");
        assert_eq!(trial.reduced, ["innodb_buffer_pool_size"], "{at}");
    }
}
