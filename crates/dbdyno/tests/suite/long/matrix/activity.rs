//! The counters of each version during a load.

use samples::Record;

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, dbdyno},
};

/// Reads and writes on sysbench's tables: the server's counts equal the client's, and missing counters are reported.
pub(crate) fn observed(subject: &mut Subject) -> Cell {
    let socket = subject.by_socket().address.to_string();
    subject.run(&[
        "CREATE USER watched@localhost",
        "GRANT ALL ON *.* TO watched@localhost",
    ]);
    let directory = subject.directory().to_owned();
    for command in [
        &["prepare"][..],
        &[
            "run",
            "--connections=4",
            "--duration=2s",
            "--record=record.jsonl",
        ],
        &["cleanup"],
    ] {
        let ended = dbdyno(&directory)
            .args([
                "oltp",
                "read_write",
                "--no-defaults",
                "--user=watched",
                "--database=test",
            ])
            .args(["--tables=2", "--table-size=1000"])
            .arg(format!("--socket={socket}"))
            .args(command)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(
            ended.status.success(),
            "{command:?}: {}\n{told}",
            ended.status
        );
    }
    let record = Record::open(&directory.join("record.jsonl")).unwrap();
    let server: f64 = record
        .server_status
        .iter()
        .filter_map(|status| status.counters.get("Com_update"))
        .sum();
    // Without a warm-up all statements that returned were measured.
    let statements = &record.totals().statements;
    let client: u64 = statements
        .iter()
        .filter(|((_, name), _)| name.ends_with("index_updates"))
        .map(|(_, it)| it.classes.writes + it.classes.others)
        .sum();
    let off = (server - client as f64).abs();
    assert!(
        client > 20 && off <= 2.0 + client as f64 * 0.01,
        "server {server}, client {client}"
    );
    let innodb = record.server_status[0].innodb.as_ref().unwrap();
    assert!(innodb.history_list_length.is_some() && innodb.checkpoint_age_bytes().is_some());
    assert!(innodb.pool_pages.is_some() && innodb.active_transactions.is_some());
    assert_eq!(record.table_sizes.len(), 2);
    let missing = &record.server_observation.as_ref().unwrap().not_observed;
    let has = |what: &str| missing.iter().any(|missing| missing.starts_with(what));
    let rows = |sql: &str| !subject.rows(sql).is_empty();
    assert_ne!(
        has("INNODB_METRICS"),
        rows("SHOW TABLES FROM information_schema LIKE 'INNODB_METRICS'")
    );
    let digests = record
        .server_totals
        .iter()
        .any(|totals| totals.source.ends_with("by_digest"));
    assert_ne!(has("statement digests"), digests);
    Cell::Ok
}
