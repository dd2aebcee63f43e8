//! Tests of results of every type, as text and as binary values.

use protocol::{Connection, Endpoint, Fetched, Outcome, Statement, Value};
use reactor::block_on;

use crate::mariadb::server::Server;

/// Columns of every type, each with a small and a large value (in the order of the rows) as printed by the server.
const COLUMNS: [(&str, &str, &str); 33] = [
    ("TINYINT", "-128", "127"),
    ("TINYINT UNSIGNED", "0", "255"),
    ("SMALLINT", "-32768", "32767"),
    ("MEDIUMINT", "-8388608", "8388607"),
    ("INT", "-2147483648", "2147483647"),
    ("INT UNSIGNED", "0", "4294967295"),
    ("BIGINT", "-9223372036854775808", "9223372036854775807"),
    ("BIGINT UNSIGNED", "0", "18446744073709551615"),
    ("FLOAT", "-1.5", "0.25"),
    ("DOUBLE", "-1e300", "1.5"),
    (
        "DECIMAL(30,10)",
        "-12345678901234567890.0123456789",
        "0.0000000001",
    ),
    ("BIT(8)", "0", "A"),
    ("YEAR", "1901", "2155"),
    ("DATE", "0000-00-00", "9999-12-31"),
    ("TIME", "-838:59:59", "00:00:00"),
    ("TIME(6)", "-838:59:59.000001", "00:00:00.000001"),
    ("DATETIME", "0000-00-00 00:00:00", "9999-12-31 23:59:59"),
    (
        "DATETIME(6)",
        "1000-01-01 00:00:00.000001",
        "9999-12-31 23:59:59.999999",
    ),
    (
        "TIMESTAMP NULL",
        "2000-01-01 00:00:00",
        "2037-12-31 23:59:59",
    ),
    ("CHAR(9)", "", "abc"),
    ("VARCHAR(300)", "", "\u{1f600}"),
    ("BINARY(2)", "ab", "cd"),
    ("VARBINARY(300)", "", "x"),
    ("TINYTEXT", "", "tiny"),
    ("TEXT", "", "text"),
    ("MEDIUMTEXT", "", "medium"),
    ("LONGBLOB", "", "blob"),
    ("ENUM('','b')", "", "b"),
    ("SET('a','b')", "", "a,b"),
    ("JSON", "[]", "{\"a\": 1}"),
    ("INET6", "::", "::1"),
    ("POINT", "POINT(0 0)", "POINT(1 2)"),
    ("BOOLEAN", "0", "1"),
];

/// Creates a table of all columns with a row of small values, one of large ones, and one of NULLs.
fn create(server: &Server) {
    let columns = COLUMNS
        .iter()
        .enumerate()
        .map(|(at, (kind, ..))| format!("c{at} {kind} NULL"));
    let create = format!(
        "CREATE TABLE d.t ({}) CHARACTER SET utf8mb4",
        columns.collect::<Vec<_>>().join(", ")
    );
    let insert = |pick: fn(&(&str, &str, &str)) -> Option<String>| {
        let values = COLUMNS.iter().map(|column| match pick(column) {
            None => "NULL".to_owned(),
            Some(value) if column.0 == "POINT" => format!("ST_GeomFromText('{value}')"),
            Some(value) if column.0 == "BIT(8)" && value == "A" => "b'1000001'".to_owned(),
            Some(value) if column.0 == "BIT(8)" => value,
            Some(value) => format!("'{value}'"),
        });
        format!(
            "INSERT INTO d.t VALUES ({})",
            values.collect::<Vec<_>>().join(", ")
        )
    };
    server.run(&[
        "SET GLOBAL sql_mode = ''",
        "SET GLOBAL time_zone = '+00:00'",
        "CREATE DATABASE d",
        &create,
    ]);
    server.run(&[
        &insert(|(_, small, _)| Some((*small).to_owned())),
        &insert(|(_, _, large)| Some((*large).to_owned())),
        &insert(|_| None),
    ]);
}

fn rows(outcome: Outcome) -> (u64, u32) {
    (outcome.rows, outcome.result_sets)
}

#[test]
fn every_type_comes_as_text_and_as_binary_values() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    create(&server);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let mut fetched = Fetched::default();
        for (at, (kind, small, large)) in COLUMNS.iter().enumerate() {
            let printed = match *kind {
                "POINT" => format!("ST_AsText(c{at})"),
                "BIT(8)" => format!("IF(c{at} = 0, '0', c{at})"),
                _ => format!("c{at}"),
            };
            let sql = format!("SELECT {printed} FROM d.t");
            let sets = connection.rows(&sql).await.unwrap();
            let expected = [Some(*small), Some(*large), None]
                .map(|value| vec![value.map(|value| value.as_bytes().to_vec())]);
            assert_eq!(sets[0].rows, expected, "{kind}");

            // Not converted to text, in its own type.
            let sql = format!("SELECT c{at}, 7 FROM d.t");
            assert_eq!(
                rows(connection.query(sql.as_bytes()).await.unwrap()),
                (3, 1)
            );
            let select = connection.prepare(&sql).await.unwrap();
            assert_eq!(
                rows(connection.execute(&select, &[]).await.unwrap()),
                (3, 1)
            );
            let outcome = connection.fetch(&select, &[], &mut fetched).await.unwrap();
            assert_eq!(rows(outcome), (3, 1), "{kind}");
            // The value after it is correct, so the column was read to its exact end.
            for row in 0..3 {
                assert_eq!(fetched.int(row, 1), Some(7), "{kind}");
            }
            assert_eq!(fetched.value(2, 0), Some(Value::Null), "{kind}");
            check_number(kind, [small, large], &fetched);
            connection.close_statement(select).await.unwrap();
        }
        let all = connection.prepare("SELECT * FROM d.t").await.unwrap();
        for _ in 0..2 {
            assert_eq!(rows(connection.execute(&all, &[]).await.unwrap()), (3, 1));
            let outcome = connection.fetch(&all, &[], &mut fetched).await.unwrap();
            assert_eq!(rows(outcome), (3, 1));
            for at in 0..COLUMNS.len() {
                assert_eq!(fetched.value(2, at), Some(Value::Null));
            }
        }
    })
    .unwrap();
}

/// Integers must be equal to their printed form.
fn check_number(kind: &str, printed: [&str; 2], fetched: &Fetched) {
    for (row, printed) in printed.iter().enumerate() {
        let found = match fetched.value(row, 0).unwrap() {
            Value::Int(value) => value.to_string(),
            Value::Uint(value) => value.to_string(),
            Value::Float(value) => {
                assert_eq!(value, printed.parse::<f64>().unwrap(), "{kind}");
                continue;
            }
            _ => continue,
        };
        assert_eq!(found, *printed, "{kind}");
    }
}

#[test]
fn columns_that_are_defined_once_are_known_ever_after() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&[
        "CREATE DATABASE d",
        "CREATE TABLE d.t (v INT)",
        "INSERT INTO d.t VALUES (5)",
    ]);
    block_on(async {
        for endpoint in [server.root(), server.over_tcp(server.root())] {
            let mut connection = Connection::open(&endpoint).await.unwrap();
            let select = connection.prepare("SELECT v FROM d.t").await.unwrap();
            let other = connection.prepare("SELECT 'x', v FROM d.t").await.unwrap();
            let mut fetched = Fetched::default();
            for _ in 0..3 {
                connection.execute(&select, &[]).await.unwrap();
                connection.fetch(&other, &[], &mut fetched).await.unwrap();
                assert_eq!(fetched.text(0, 0), Some(&b"x"[..]));
                connection.fetch(&select, &[], &mut fetched).await.unwrap();
                assert_eq!(fetched.int(0, 0), Some(5));
            }
            // The server did omit some definitions (MariaDB can from 10.6).
            if let Some(skipped) = skipped_definitions(&mut connection).await {
                assert!(skipped >= 6, "{skipped}");
            }
            // New columns are defined again, for either kind of execution.
            connection
                .query(b"ALTER TABLE d.t MODIFY v VARCHAR(9)")
                .await
                .unwrap();
            connection.execute(&select, &[]).await.unwrap();
            connection.fetch(&select, &[], &mut fetched).await.unwrap();
            assert_eq!(fetched.text(0, 0), Some(&b"5"[..]));
            connection
                .query(b"ALTER TABLE d.t MODIFY v INT")
                .await
                .unwrap();
            connection.fetch(&select, &[], &mut fetched).await.unwrap();
            assert_eq!(fetched.int(0, 0), Some(5));
        }
    })
    .unwrap();
}

/// Number of times that the server omitted definitions on this connection; `None` if it does not support this.
async fn skipped_definitions(connection: &mut Connection) -> Option<u64> {
    let sets = connection
        .rows("SHOW SESSION STATUS LIKE 'Resultset_metadata_skipped'")
        .await
        .unwrap();
    let value = sets[0].rows.first()?[1].clone()?;
    String::from_utf8(value).unwrap().parse().ok()
}

#[test]
fn long_rows_warnings_and_errors_come_prepared_too() {
    let Some(server) = Server::start(&["--max-allowed-packet=64M"]) else {
        return;
    };
    server.run(&[
        "CREATE DATABASE d",
        "CREATE FUNCTION d.f(n INT) RETURNS INT DETERMINISTIC BEGIN \
         IF n = 90000 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no further'; END IF; RETURN n; END",
        "CREATE PROCEDURE d.p(n INT) BEGIN SELECT n; SELECT 'a', n UNION ALL SELECT 'b', NULL; DO 1; END",
    ]);
    let root: Endpoint = server.root();
    block_on(async {
        let mut connection = Connection::open(&root).await.unwrap();
        let mut fetched = Fetched::default();
        let repeat = prepare(&mut connection, "SELECT REPEAT('x', ?), 7").await;
        // A row of binary values has 10 bytes beside a long text and its length of 4 or 9 bytes.
        for length in [
            0xff_ffff - 15,
            0xff_ffff - 14,
            0xff_ffff - 13,
            0xff_ffff,
            40_000_000,
        ] {
            let values = [Value::Int(length)];
            let outcome = connection.execute(&repeat, &values).await.unwrap();
            assert_eq!(rows(outcome), (1, 1), "{length}");
            connection
                .fetch(&repeat, &values, &mut fetched)
                .await
                .unwrap();
            assert_eq!(fetched.text(0, 0).unwrap().len() as i64, length);
            assert_eq!(fetched.int(0, 1), Some(7));
        }
        let fails = "SELECT d.f(seq) FROM mysql.seq_1_to_100000";
        let prepared = prepare(&mut connection, fails).await;
        let warns = prepare(&mut connection, "SELECT 1/?").await;
        let call = prepare(&mut connection, "CALL d.p(?)").await;
        for _ in 0..3 {
            for error in [
                connection.query(fails.as_bytes()).await.unwrap_err(),
                connection.execute(&prepared, &[]).await.unwrap_err(),
                connection
                    .fetch(&prepared, &[], &mut fetched)
                    .await
                    .unwrap_err(),
            ] {
                assert_eq!(error.to_string(), "error 1644 (45000): no further");
                assert!(!error.is_connection_lost());
            }
            let outcome = connection.execute(&warns, &[Value::Int(0)]).await.unwrap();
            assert_eq!((rows(outcome), outcome.warnings), ((1, 1), 1));
            let outcome = connection.execute(&warns, &[Value::Int(2)]).await.unwrap();
            assert_eq!((rows(outcome), outcome.warnings), ((1, 1), 0));
            let outcome = connection.execute(&call, &[Value::Int(3)]).await.unwrap();
            assert_eq!(rows(outcome), (3, 2));
            // Of several sets the last one is kept.
            connection
                .fetch(&call, &[Value::Int(3)], &mut fetched)
                .await
                .unwrap();
            assert_eq!((fetched.rows(), fetched.int(0, 1)), (2, Some(3)));
            assert_eq!(fetched.value(1, 1), Some(Value::Null));
        }
    })
    .unwrap();
}

async fn prepare(connection: &mut Connection, sql: &str) -> Statement {
    connection.prepare(sql).await.unwrap()
}
