//! Tests of the null server's answers, in both dialects and with and without EOF packets.

use std::io;

use protocol::{
    Error, LocalSource, Value,
    null_server::{Dialect, InventedRows, Settings},
};

use crate::null_server::{Served, against};

/// Settings for every combination of dialect and EOF packets.
fn settings() -> impl Iterator<Item = Settings> {
    let all = [Dialect::MariaDb, Dialect::MySql].map(|dialect| [(dialect, true), (dialect, false)]);
    all.into_iter()
        .flatten()
        .map(|(dialect, deprecate_eof)| Settings {
            dialect,
            deprecate_eof,
            rows: InventedRows {
                rows: 3,
                row_bytes: 300,
            },
            ..Settings::default()
        })
}

fn in_all_settings(test: impl AsyncFn(&Served)) {
    for settings in settings() {
        against(settings, &test);
    }
}

#[test]
fn statements() {
    // Statement, rows, affected rows, result sets.
    let cases = [
        ("SELECT c FROM sbtest1 WHERE id=1", 3, 0, 1),
        ("SELECT a, b, c FROM t", 3, 0, 1),
        ("INSERT INTO t VALUES (1), (2)", 0, 2, 0),
        ("UPDATE t SET a = ';'", 0, 1, 0),
        ("BEGIN", 0, 0, 0),
        ("COMMIT", 0, 0, 0),
        ("SET NAMES utf8mb4", 0, 0, 0),
        ("SELECT VERSION(), @@port", 1, 0, 1),
        ("SHOW VARIABLES LIKE 'max_conn%'", 1, 0, 1),
        ("BEGIN; SELECT c FROM t; DELETE FROM t; COMMIT;", 3, 1, 1),
        ("CREATE TABLE t (a INT)", 0, 0, 0),
    ];
    in_all_settings(async |served| {
        let mut connection = served.open().await;
        for (sql, rows, affected_rows, _) in cases {
            let outcome = connection.query(sql.as_bytes()).await.unwrap();
            assert_eq!(
                (outcome.rows, outcome.affected_rows),
                (rows, affected_rows),
                "{sql}"
            );
        }
        for (sql, _, _, sets) in cases {
            let found = connection.rows(sql).await.unwrap();
            let with_rows = found.iter().filter(|set| !set.columns.is_empty()).count();
            assert_eq!(with_rows, sets, "{sql}");
        }
        connection.ping().await.unwrap();
        connection.close().await.unwrap();
    });
}

#[test]
fn a_text_is_one_statement_once_several_are_refused() {
    in_all_settings(async |served| {
        let mut connection = served.open().await;
        let text = "SELECT c FROM t; SELECT c FROM t";
        assert_eq!(connection.rows(text).await.unwrap().len(), 2);
        connection.refuse_multi_statements().await.unwrap();
        assert_eq!(connection.rows(text).await.unwrap().len(), 1);
        connection.ping().await.unwrap();
        connection.close().await.unwrap();
    });
}

#[test]
fn prepared_statements() {
    let cases: [(&str, usize, u64, u64); 6] = [
        ("SELECT c FROM sbtest1 WHERE id=?", 1, 3, 0),
        (
            "SELECT a, b, c, d, e, f, g FROM t WHERE a=? AND b='?'",
            1,
            3,
            0,
        ),
        ("UPDATE t SET k=k+? WHERE id=?", 2, 0, 1),
        ("SELECT @@port", 0, 1, 0),
        ("SHOW STATUS LIKE 'Queries'", 0, 1, 0),
        ("COMMIT", 0, 0, 0),
    ];
    in_all_settings(async |served| {
        let mut connection = served.open().await;
        for (sql, parameters, rows, affected_rows) in cases {
            let statement = connection.prepare(sql).await.unwrap();
            assert_eq!(statement.parameters(), parameters, "{sql}");
            let values = vec![Value::Int(5); parameters];
            for _ in 0..2 {
                let outcome = connection.execute(&statement, &values).await.unwrap();
                assert_eq!(
                    (outcome.rows, outcome.affected_rows),
                    (rows, affected_rows),
                    "{sql}"
                );
            }
            connection.close_statement(statement).await.unwrap();
            let gone = connection.execute(&statement, &values).await.unwrap_err();
            assert_eq!(gone.server_number(), Some(1243), "{sql}");
        }
        let refused = connection
            .prepare("LOAD DATA LOCAL INFILE 'x' INTO TABLE t")
            .await;
        assert_eq!(refused.unwrap_err().server_number(), Some(1295));
    });
}

#[test]
fn questions_about_the_server() {
    for settings in settings() {
        let version = match settings.dialect {
            Dialect::MariaDb => "10.11.0-MariaDB-null",
            Dialect::MySql => "8.4.2-null",
        };
        against(settings, async |served| {
            let mut endpoint = served.endpoint();
            endpoint.database = Some("sbtest".to_owned());
            endpoint.password = Some("whatever".into());
            let mut connection = protocol::Connection::open(&endpoint).await.unwrap();
            assert_eq!(connection.server_version(), version);
            let sql = "SELECT VERSION(), DATABASE(), CONNECTION_ID(), USER(), @@socket";
            let sets = connection.rows(sql).await.unwrap();
            let row: Vec<String> = sets[0].rows[0]
                .iter()
                .map(|value| String::from_utf8(value.clone().unwrap()).unwrap())
                .collect();
            let socket = served.path.to_str().unwrap();
            assert_eq!(row, [version, "sbtest", "1", "user@localhost", socket]);
            let unknown = connection
                .query(b"SELECT @@no_such_thing")
                .await
                .unwrap_err();
            assert_eq!(unknown.server_number(), Some(1193));
        });
    }
}

/// A source of lines in pieces of a given size.
struct Lines(u32);

impl LocalSource for Lines {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        for _ in 0..1000.min(self.0) {
            buffer.extend_from_slice(b"1\tsome text\n");
        }
        self.0 = self.0.saturating_sub(1000);
        Ok(self.0 > 0)
    }
}

#[test]
fn load_data_local_is_swallowed_and_counted() {
    in_all_settings(async |served| {
        let mut connection = served.open().await;
        let sql = "LOAD DATA LOCAL INFILE 'x' INTO TABLE t";
        for lines in [0, 1, 54_321] {
            let outcome = connection.load_local(sql, &mut Lines(lines)).await.unwrap();
            assert_eq!(outcome.affected_rows, u64::from(lines));
            assert!(connection.info().starts_with(&format!("Records: {lines} ")));
        }
        assert_eq!(connection.query(b"SELECT c FROM t").await.unwrap().rows, 3);
    });
}

#[test]
fn a_statement_of_more_than_16_mib_and_results_of_many_columns() {
    in_all_settings(async |served| {
        let mut connection = served.open().await;
        let long = format!("SELECT c FROM t WHERE c = '{}'", "x".repeat(17 << 20));
        assert_eq!(connection.query(long.as_bytes()).await.unwrap().rows, 3);
        let many = format!("SELECT {} FROM t", vec!["c"; 200].join(", "));
        assert_eq!(connection.query(many.as_bytes()).await.unwrap().rows, 3);
        let statement = connection.prepare(&many).await.unwrap();
        assert_eq!(connection.execute(&statement, &[]).await.unwrap().rows, 3);
    });
}

#[test]
fn connections_beyond_the_limit_are_refused() {
    let settings = Settings {
        max_connections: 2,
        ..Settings::default()
    };
    against(settings, async |served| {
        let (first, _second) = (served.open().await, served.open().await);
        let refused = protocol::Connection::open(&served.endpoint())
            .await
            .unwrap_err();
        assert!(
            matches!(&refused, Error::Server(error) if error.number == 1040),
            "{refused}"
        );
        first.close().await.unwrap();
        while served.server.counters().connected > 1 {
            reactor::yield_now().await;
        }
        served.open().await;
        let counters = served.server.counters();
        assert_eq!(
            (
                counters.connections,
                counters.refused,
                counters.most_connected
            ),
            (3, 1, 2)
        );
    });
}
