//! Tests of the entries of slow query logs: a fixture per dialect, and any text.

use proptest::prelude::*;

use super::*;

fn entries(log: &str) -> Vec<SlowEntry> {
    SlowEntries::of(log.as_bytes())
        .collect::<io::Result<_>>()
        .unwrap()
}

/// Time, schema, rows examined, line and text of each.
fn summary(log: &str) -> Vec<(f64, Option<String>, u64, u64, String)> {
    let all = entries(log).into_iter();
    all.map(|it| (it.time_s, it.schema, it.rows_examined, it.line, it.text))
        .collect()
}

#[test]
fn every_dialect_is_read() {
    let shop = || Some("shop".to_owned());
    let mysql_5_5 = "\
/usr/sbin/mysqld, Version: 5.5.62-log (Source). started with:
Tcp port: 3306  Unix socket: /tmp/s
Time                 Id Command    Argument
# Time: 150101 10:00:00
# User@Host: a[a] @ localhost []
# Query_time: 2.000000  Lock_time: 0.000100 Rows_sent: 1  Rows_examined: 500
use shop;
SET timestamp=1420106400;
select a
from t
use index (k)
# where b = 1
where a = 1;
# User@Host: a[a] @ localhost []
# Query_time: 1.000000  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 5
SET timestamp=1420106400;
select 2;
";
    assert_eq!(
        summary(mysql_5_5),
        [
            (
                2.0,
                shop(),
                500,
                9,
                "select a\nfrom t\nuse index (k)\n# where b = 1\nwhere a = 1".to_owned()
            ),
            (1.0, shop(), 5, 17, "select 2".to_owned())
        ]
    );
    let mysql_8_extra = "\
# Time: 2024-01-19T16:29:48.141142Z
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 0.250000  Lock_time: 0.000001 Rows_sent: 2  Rows_examined: 9 Thread_id: 8 Errno: 0 Killed: 0 \
Bytes_received: 0 Bytes_sent: 64 Read_first: 1 Start: 2024-01-19T16:29:48.140000Z End: 2024-01-19T16:29:48.141142Z
SET timestamp=1705681788;
select 1 from a;
# Time: 2024-01-19T16:29:49.000000Z
# User@Host: root[root] @ localhost []  Id:     8
# Query_time: 0.000003  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1705681789;
# administrator command: Quit;
";
    let found = entries(mysql_8_extra);
    assert_eq!((found[0].time_s, found[0].schema.clone()), (0.25, None));
    assert_eq!(found[0].text, "select 1 from a");
    assert!(found[1].is_command() && !found[0].is_command());
    let percona = "\
# Time: 2024-01-19T16:29:48.141142Z
# User@Host: root[root] @ localhost []  Id:     8
# Schema: shop  Last_errno: 0  Killed: 0
# Query_time: 0.500000  Lock_time: 0.000002  Rows_sent: 1  Rows_examined: 7  Rows_affected: 0
# Bytes_sent: 64  Tmp_tables: 1  Tmp_disk_tables: 0  Tmp_table_sizes: 0
# InnoDB_trx_id: 0
# Log_slow_rate_type: query  Log_slow_rate_limit: 10
SET timestamp=1705681788;
select 3;
";
    let found = entries(percona);
    assert_eq!((found[0].stands_for, found[0].schema.clone()), (10, shop()));
    assert_eq!(
        (found[0].rows_examined, found[0].text.as_str()),
        (7, "select 3")
    );
    let mariadb = "\
# Time: 261121  0:27:08
# User@Host: bench[bench] @ localhost []
# Thread_id: 36  Schema: shop  QC_hit: No
# Query_time: 0.300412  Lock_time: 0.000010  Rows_sent: 1  Rows_examined: 4
# Rows_affected: 0  Bytes_sent: 64
# Pages_accessed: 5  Pages_read: 0  Engine_time: 0.1
# Full_scan: Yes  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No
#
# explain: id\tselect_type\ttable\ttype
# explain: 1\tSIMPLE\tt\tALL
#
SET timestamp=1763684828;
select 4;
# User@Host: bench[bench] @ localhost []
# Thread_id: 37  Schema:   QC_hit: No
# Query_time: 0.1  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 2
SET timestamp=1763684828;
select 5;
";
    let found = summary(mariadb);
    assert_eq!(found[0], (0.300412, shop(), 4, 13, "select 4".to_owned()));
    assert_eq!(found[1], (0.1, None, 2, 18, "select 5".to_owned()));
}

#[test]
fn entries_of_the_short_format_are_told_apart() {
    let mysql = "\
# Query_time: 0.000282  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
use shop;
SET timestamp=1795698583;
set long_query_time=0;
# Query_time: 0.500000  Lock_time: 0.000081 Rows_sent: 1  Rows_examined: 3
SET timestamp=1795698583;
SELECT s
  FROM foo
# Query_time: not a head
  WHERE s = 'b;c'
  ORDER BY id;
# Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1795698583;
# administrator command: Quit;
# Query_time: 0.25  Lock_time: 0.000070 Rows_sent: 1  Rows_examined: 4
SET timestamp=1795698584;
select 2;
";
    let shop = || Some("shop".to_owned());
    let select = "SELECT s\n  FROM foo\n# Query_time: not a head\n  WHERE s = 'b;c'\n  ORDER BY id";
    assert_eq!(
        summary(mysql),
        [
            (0.000282, shop(), 0, 4, "set long_query_time=0".to_owned()),
            (0.5, shop(), 3, 7, select.to_owned()),
            (
                0.000001,
                shop(),
                0,
                14,
                "administrator command: Quit".to_owned()
            ),
            (0.25, shop(), 4, 17, "select 2".to_owned()),
        ]
    );
    let figures =
        "# Query_time: 0.5  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 4\nSET timestamp=1;\n";
    for before in [
        "# Thread_id: 36  Schema: shop  QC_hit: No",
        "# Schema: shop  Last_errno: 0  Killed: 0",
    ] {
        let log = format!("{before}\n{figures}select 1;\n{before}\n{figures}select 2;\n");
        let read: Vec<_> = summary(&log);
        assert_eq!(read[0], (0.5, shop(), 4, 4, "select 1".to_owned()), "{log}");
        assert_eq!(read[1], (0.5, shop(), 4, 8, "select 2".to_owned()), "{log}");
    }
}

#[test]
fn what_the_server_sets_is_not_of_the_text() {
    let head = "# User@Host: a[a] @ b []\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 0  Rows_examined: 0\n";
    for set in [
        "timestamp=1795698583",
        "insert_id=12,timestamp=1795698583",
        "last_insert_id=7,insert_id=12,timestamp=1795698583",
    ] {
        let found = entries(&format!("{head}SET {set};\ninsert into t values (null);\n"));
        assert_eq!(found[0].text, "insert into t values (null)");
    }
    let found = entries(&format!("{head}SET timestamp=1;\nSET autocommit=1;\n"));
    assert_eq!(found[0].text, "SET autocommit=1");
}

#[test]
fn a_restart_of_the_server_ends_a_text() {
    let head = "# User@Host: a[a] @ b []\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\n";
    let restart = "/usr/sbin/mysqld, Version: 8.0.33 (MySQL). started with:\nTcp port: 1  Unix socket: s\nTime   Id Command\n";
    let log = format!("{head}select 1;\n{restart}{head}select 2;\n");
    let texts: Vec<String> = entries(&log).into_iter().map(|it| it.text).collect();
    assert_eq!(texts, ["select 1", "select 2"]);
}

#[test]
fn a_long_text_is_cut_and_says_so() {
    let head = "# User@Host: a[a] @ b []\n# Query_time: 0.1  Lock_time: 0 Rows_sent: 1  Rows_examined: 1\n";
    let log = format!(
        "{head}select '{}';\n{head}select 2;\n",
        "é".repeat(STATEMENT_BYTES_AT_MOST)
    );
    let found = entries(&log);
    assert!(found[0].is_cut && found[0].text.len() <= STATEMENT_BYTES_AT_MOST);
    assert_eq!(
        (found[1].is_cut, found[1].text.as_str()),
        (false, "select 2")
    );
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(log in "(# (Time|User@Host|Query_time|Schema|Thread_id):? ?[a-z0-9:. ]{0,20}\n|use a;\n|[a-zé#; ]{0,12}\n?){0,30}") {
        for entry in entries(&log) {
            prop_assert!(entry.time_s >= 0.0);
            prop_assert!(entry.line <= log.lines().count() as u64);
        }
    }

    #[test]
    fn what_is_written_is_read_again(
        texts in proptest::collection::vec("[a-z]{1,9}( [a-z0-9'=]{1,9}){0,4}(\n[a-z ]{1,9}[a-z])?", 1..9),
        time_us in 0_u32..9_000_000,
        is_short in any::<bool>(),
    ) {
        let time_s = f64::from(time_us) / 1e6;
        let user = if is_short { "" } else { "# User@Host: a[a] @ b []  Id: 1\n" };
        let log: String = texts
            .iter()
            .map(|text| format!(
                "{user}# Query_time: {time_s:.6}  Lock_time: 0.0 Rows_sent: 0  Rows_examined: 3\n\
                 SET timestamp=1;\n{text};\n"
            ))
            .collect();
        let found = entries(&log);
        // A first line that is a `use` is the log's own.
        prop_assume!(!texts.iter().any(|text| text.starts_with("use ")));
        let read: Vec<String> = found.iter().map(|it| it.text.clone()).collect();
        prop_assert_eq!(read, texts);
        prop_assert!(found.iter().all(|it| (it.time_s - time_s).abs() < 1e-6));
    }
}
