//! Tests of the audit with real records, made by the program on real servers.
//!
//! `crates/audit/fixtures` contains them; only the paths in them were replaced by general ones.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use audit::{Audit, AuditedRun, Comparison, Level, Preregistration, RULES, Subject};
use report::{AuditFilter, audit_html, audit_json, audit_text};
use samples::Record;

/// Single runs: the OLTP workloads on MariaDB and MySQL, one of them with a rate, TPC-C, and a .smack file whose
/// dictionary returns few of its keys.
const RUNS: [&str; 7] = [
    "mariadb-open-loop",
    "mariadb-point-select",
    "mariadb-read-only",
    "mariadb-read-write",
    "mariadb-smack",
    "mariadb-tpcc",
    "mysql-insert",
];
/// The runs of one experiment with a .smack file, two executions of six combinations.
const EXPERIMENT: &str = "experiment";

fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../audit/fixtures")
}

fn open(path: &Path) -> Record {
    Record::open(path).expect("a record that the program wrote is read")
}

fn audit_of(name: &str) -> Audit {
    let record = open(&fixtures().join(format!("{name}.jsonl")));
    audit::audit(&Subject::of_run(&record, report::limit_of(&record)))
}

fn audit_of_storage() -> Audit {
    let record = samples::StorageRecord::read(&fixtures().join("storage/quick.jsonl"));
    audit::audit(&Subject::of_storage(&record.expect("it was written whole")))
}

fn audit_of_experiment() -> Audit {
    let mut paths: Vec<PathBuf> = fs::read_dir(fixtures().join(EXPERIMENT))
        .expect("the fixtures are there")
        .map(|entry| entry.expect("a directory lists its entries").path())
        .filter(|path| path.extension().is_some_and(|it| it == "jsonl"))
        .collect();
    paths.sort();
    let records: Vec<Record> = paths.iter().map(|path| open(path)).collect();
    let names = ["innodb_buffer_pool_size", "innodb_flush_log_at_trx_commit"];
    let runs = records.iter().map(|record| AuditedRun {
        record,
        limit: report::limit_of(record),
        side: None,
    });
    audit::audit(&Subject {
        runs: runs.collect(),
        declared: Preregistration {
            is_experiment: true,
            is_search: false,
            search_limits: Vec::new(),
            factors: vec!["connections".to_owned(), "rows".to_owned()],
            planned_runs: Some(12),
            comparison: Some(Comparison {
                factors: vec!["rows".to_owned()],
                metric: "throughput".to_owned(),
                min_effect: Some(0.02),
            }),
            variables: names.map(str::to_owned).into(),
            database_share: Some(0.2),
        },
        kept: audit::BesideRecords {
            disturbed: 3,
            ..audit::BesideRecords::default()
        },
        ..Subject::default()
    })
}

#[test]
fn everything_that_is_said_of_real_runs() {
    for name in RUNS {
        let text = audit_text(name, &audit_of(name), &AuditFilter::default(), 120);
        insta::assert_snapshot!(format!("audit_of_{}", name.replace('-', "_")), text);
    }
}

#[test]
fn everything_that_is_said_of_a_real_experiment() {
    let text = audit_text(
        EXPERIMENT,
        &audit_of_experiment(),
        &AuditFilter::default(),
        120,
    );
    insta::assert_snapshot!(text);
}

#[test]
fn everything_that_is_said_of_a_real_run_as_json() {
    let json = audit_json(
        "mysql-insert",
        &audit_of("mysql-insert"),
        &AuditFilter::default(),
    );
    insta::assert_snapshot!(json);
}

#[test]
fn a_page_has_what_is_shown_of_an_audit() {
    let audit = audit_of("mysql-insert");
    let all = audit_html("mysql-insert", &audit, &AuditFilter::default());
    for judgement in &audit.judgements {
        assert!(all.contains(judgement.rule.id), "{}", judgement.rule.id);
    }
    let filter = AuditFilter {
        level: Some(Level::Fail),
        rule: None,
    };
    let page = audit_html("<img src=x>", &audit, &filter);
    assert!(!page.contains("<img") && page.contains("default-src 'none'"));
    let is_shown =
        |judgement: &&audit::Judgement| page.contains(&format!(" {} ", judgement.rule.id));
    let shown = audit.judgements.iter().filter(is_shown);
    let failed = audit.count(Level::Fail) + audit.count(Level::Invalid);
    assert_eq!(shown.count(), failed);
}

#[test]
fn every_rule_finds_something_in_a_real_record() {
    let mut judged: BTreeSet<&str> = BTreeSet::new();
    let audits = RUNS.iter().map(|name| audit_of(name));
    for audit in audits.chain([audit_of_experiment(), audit_of_storage()]) {
        judged.extend(
            audit
                .judgements
                .iter()
                .filter(|it| it.outcome.is_ok())
                .map(|it| it.rule.id),
        );
    }
    // The real records are of runs that had their servers alone.
    let unjudged: Vec<&str> = RULES
        .iter()
        .filter(|rule| !rule.is_of_sessions())
        .map(|rule| rule.id)
        .filter(|id| !judged.contains(id))
        .collect();
    assert_eq!(unjudged, Vec::<&str>::new());
}
