//! Tests of statements, their results and their errors.

use protocol::{Connection, Error, Fetched, Outcome, Value};
use reactor::{block_on, spawn, timeout};

use crate::mariadb::server::Server;

fn text(value: &str) -> Option<Vec<u8>> {
    Some(value.as_bytes().to_vec())
}

#[test]
fn outcomes_count_rows_and_changes() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let cases = [
            (
                "CREATE DATABASE d",
                Outcome {
                    affected_rows: 1,
                    ..Outcome::default()
                },
            ),
            (
                "CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(9))",
                Outcome::default(),
            ),
            (
                "INSERT INTO d.t (v) VALUES ('a'), (NULL), ('')",
                Outcome {
                    affected_rows: 3,
                    last_insert_id: 1,
                    ..Outcome::default()
                },
            ),
            (
                "SELECT * FROM d.t",
                Outcome {
                    rows: 3,
                    result_sets: 1,
                    ..Outcome::default()
                },
            ),
            (
                "SELECT * FROM d.t WHERE id < 0",
                Outcome {
                    result_sets: 1,
                    ..Outcome::default()
                },
            ),
            (
                "UPDATE d.t SET v = 'b' WHERE id < 3",
                Outcome {
                    affected_rows: 2,
                    ..Outcome::default()
                },
            ),
            ("UPDATE d.t SET v = 'b' WHERE id < 3", Outcome::default()),
            (
                "SELECT 1/0",
                Outcome {
                    rows: 1,
                    result_sets: 1,
                    warnings: 1,
                    ..Outcome::default()
                },
            ),
            (
                "SELECT 1; DELETE FROM d.t LIMIT 1; SELECT 2 UNION SELECT 3",
                Outcome {
                    rows: 3,
                    result_sets: 2,
                    affected_rows: 1,
                    ..Outcome::default()
                },
            ),
        ];
        for (sql, expected) in cases {
            assert_eq!(
                connection.query(sql.as_bytes()).await.unwrap(),
                expected,
                "{sql}"
            );
        }
        connection.query(b"UPDATE d.t SET v = 'c'").await.unwrap();
        assert_eq!(
            connection.info(),
            "Rows matched: 2  Changed: 2  Warnings: 0"
        );
        connection.ping().await.unwrap();
        assert_eq!(connection.info(), "");
        let sets = connection
            .rows("SELECT id, v AS w FROM d.t ORDER BY id; SELECT NULL")
            .await
            .unwrap();
        assert_eq!(sets.len(), 2);
        assert_eq!(sets[0].columns, ["id", "w"]);
        assert_eq!(
            sets[0].rows,
            [[text("2"), text("c")], [text("3"), text("c")]]
        );
        assert_eq!(sets[1].rows, [[None]]);
    })
    .unwrap();
}

#[test]
fn a_procedure_returns_all_its_result_sets() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&[
        "CREATE DATABASE d",
        "CREATE PROCEDURE d.p() BEGIN SELECT 1; SELECT 2 LIMIT 0; SELECT 3 UNION SELECT 4; END",
        "CREATE PROCEDURE d.broken() BEGIN SELECT 1; SELECT * FROM d.missing; END",
    ]);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let outcome = connection.query(b"CALL d.p()").await.unwrap();
        assert_eq!((outcome.result_sets, outcome.rows), (3, 3));
        let sets = connection.rows("CALL d.p()").await.unwrap();
        assert_eq!(
            sets.iter().map(|set| set.rows.len()).collect::<Vec<_>>(),
            [1, 0, 2]
        );
        let error = connection.query(b"CALL d.broken()").await.unwrap_err();
        assert_eq!(error.server_number(), Some(1146), "{error}");
        connection.ping().await.unwrap();
    })
    .unwrap();
}

#[test]
fn errors_leave_the_connection_in_step() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let cases = [
            ("SELEC 1", 1064, "42000"),
            ("SELECT * FROM mysql.missing", 1146, "42S02"),
            // The error occurs after the first rows have been sent.
            ("SELECT seq, IF(seq = 90000, (SELECT 1 UNION SELECT 2), 1) FROM mysql.seq_1_to_100000", 1242, "21000"),
            ("SELECT 1; SELEC 2", 1064, "42000"),
        ];
        for (sql, number, sqlstate) in cases {
            let error = connection.query(sql.as_bytes()).await.unwrap_err();
            let server_error = error.server_error().unwrap();
            assert_eq!((server_error.number, server_error.sqlstate.as_str()), (number, sqlstate));
            assert!(!error.is_connection_lost());
            assert_eq!(connection.query(b"SELECT 1").await.unwrap().rows, 1);
        }
    })
    .unwrap();
}

#[test]
fn packets_beyond_16_mb_go_both_ways() {
    let Some(server) = Server::start(&["--max-allowed-packet=128M"]) else {
        return;
    };
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        // Around the length from which a payload needs two packets: a row also holds its length (4 or 9 bytes).
        for length in [
            0xff_fff9, 0xff_fffa, 0xff_fffb, 0xff_ffff, 0x100_0000, 0x200_0000, 40_000_000,
        ] {
            let sql = format!("SELECT REPEAT('x', {length}), 'end' UNION ALL SELECT 'y', 'z'");
            assert_eq!(
                connection.query(sql.as_bytes()).await.unwrap().rows,
                2,
                "{length}"
            );
        }
        let sets = connection
            .rows("SELECT REPEAT('x', 40000000), 'end'")
            .await
            .unwrap();
        let value = sets[0].rows[0][0].as_ref().unwrap();
        assert!(value.len() == 40_000_000 && value.iter().all(|&byte| byte == b'x'));
        assert_eq!(sets[0].rows[0][1], text("end"));

        // 1 byte of command and 18 bytes of text around the value.
        for length in [
            0xff_ffff - 20,
            0xff_ffff - 19,
            0xff_ffff - 18,
            0xff_ffff,
            2 * 0xff_ffff - 19,
            40_000_000,
        ] {
            let sql = format!("SELECT LENGTH('{}')", "x".repeat(length));
            let sets = connection.rows(&sql).await.unwrap();
            assert_eq!(sets[0].rows, [[text(&length.to_string())]]);
        }
    })
    .unwrap();
}

#[test]
fn kept_rows_have_a_limit() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let sql = "SELECT REPEAT('x', 1000) FROM mysql.seq_1_to_100000";
        let error = connection.rows(sql).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{error}");
        assert!(error.is_connection_lost());
        assert!(matches!(connection.ping().await, Err(Error::Lost { .. })));
    })
    .unwrap();
}

#[test]
fn prepared_statements_take_every_kind_of_value() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&[
        "CREATE DATABASE d",
        "CREATE TABLE d.t (i BIGINT, u BIGINT UNSIGNED, f DOUBLE, s TEXT CHARACTER SET utf8mb4, b LONGBLOB)",
    ]);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let insert = connection
            .prepare("INSERT INTO d.t VALUES (?, ?, ?, ?, ?)")
            .await
            .unwrap();
        assert_eq!(insert.parameters(), 5);
        let long = vec![7; 300_000];
        let rows: [[Value<'_>; 5]; 3] = [
            [
                Value::Int(i64::MIN),
                Value::Uint(u64::MAX),
                Value::Float(-0.5),
                Value::Bytes("\u{1f600}'".as_bytes()),
                Value::Bytes(&[0, 255]),
            ],
            [Value::Null; 5],
            [
                Value::Int(1),
                Value::Null,
                Value::Null,
                Value::Bytes(b""),
                Value::Bytes(&long),
            ],
        ];
        for row in &rows {
            assert_eq!(
                connection
                    .execute(&insert, row)
                    .await
                    .unwrap()
                    .affected_rows,
                1
            );
        }
        let sets = connection
            .rows("SELECT i, u, f, s, HEX(b) FROM d.t")
            .await
            .unwrap();
        let first = [
            "-9223372036854775808",
            "18446744073709551615",
            "-0.5",
            "\u{1f600}'",
            "00FF",
        ];
        assert_eq!(sets[0].rows[0], first.map(text));
        assert_eq!(sets[0].rows[1], [const { None }; 5]);
        assert_eq!(sets[0].rows[2][4], text(&"07".repeat(long.len())));

        let select = connection
            .prepare("SELECT * FROM d.t WHERE i = ? OR ? IS NULL")
            .await
            .unwrap();
        let rows = |outcome: Outcome| (outcome.rows, outcome.result_sets);
        for (value, expected) in [(Value::Int(1), 1), (Value::Null, 3), (Value::Int(5), 0)] {
            let outcome = connection.execute(&select, &[value, value]).await.unwrap();
            assert_eq!(rows(outcome), (expected, 1));
        }
        let error = connection
            .execute(&select, &[Value::Null])
            .await
            .unwrap_err();
        assert!(
            matches!(
                error,
                Error::Parameters {
                    expected: 2,
                    given: 1
                }
            ),
            "{error}"
        );
        connection.close_statement(select).await.unwrap();
        let error = connection
            .execute(&select, &[Value::Null; 2])
            .await
            .unwrap_err();
        assert_eq!(error.server_number(), Some(1243), "{error}");
        let error = connection.prepare("SELEC ?").await.unwrap_err();
        assert_eq!(error.server_number(), Some(1064), "{error}");
        let none = connection.prepare("SELECT 1").await.unwrap();
        assert_eq!(rows(connection.execute(&none, &[]).await.unwrap()), (1, 1));
    })
    .unwrap();
}

#[test]
fn a_killed_server_is_a_lost_connection() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let (unix, tcp) = (server.root(), server.over_tcp(server.root()));
    let (mut idle, mut busy) = block_on(async {
        (
            Connection::open(&unix).await.unwrap(),
            Connection::open(&tcp).await.unwrap(),
        )
    })
    .unwrap();
    block_on(async {
        let answer = std::rc::Rc::new(std::cell::RefCell::new(None));
        let slot = std::rc::Rc::clone(&answer);
        spawn(async move {
            let result = busy.query(b"SELECT SLEEP(60)").await;
            *slot.borrow_mut() = Some((result, busy));
        });
        reactor::sleep(std::time::Duration::from_millis(100)).await;
        server.kill();
        let error = idle.query(b"SELECT 1").await.unwrap_err();
        assert!(matches!(error, Error::Lost { .. }), "{error}");
        while answer.borrow().is_none() {
            reactor::sleep(std::time::Duration::from_millis(1)).await;
        }
        let (result, mut busy) = answer.borrow_mut().take().unwrap();
        let error = result.unwrap_err();
        assert!(
            matches!(error, Error::Lost { .. }) && error.is_connection_lost(),
            "{error}"
        );
        assert!(matches!(busy.ping().await, Err(Error::Lost { .. })));
    })
    .unwrap();
}

#[test]
fn a_killed_connection_says_so() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    block_on(async {
        let mut victim = Connection::open(&server.root()).await.unwrap();
        let mut other = Connection::open(&server.root()).await.unwrap();
        let kill = format!("KILL {}", victim.connection_id());
        other.query(kill.as_bytes()).await.unwrap();
        // A server that lacks a processor ends the connection later.
        let error = loop {
            reactor::sleep(std::time::Duration::from_millis(100)).await;
            if let Err(error) = victim.query(b"SELECT 1").await {
                break error;
            }
        };
        assert!(error.is_connection_lost(), "{error}");
        assert!(matches!(victim.ping().await, Err(Error::Lost { .. })));
    })
    .unwrap();
}

#[test]
fn a_statement_that_was_broken_off_makes_the_connection_useless() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let limit = std::time::Duration::from_millis(20);
        timeout(limit, connection.query(b"SELECT SLEEP(600)"))
            .await
            .unwrap_err();
        let error = connection.query(b"SELECT 1").await.unwrap_err();
        assert!(
            matches!(error, Error::Lost { .. }),
            "the answer to SLEEP is no answer to this"
        );
    })
    .unwrap();
}

#[test]
fn rows_of_prepared_statements_are_kept_with_their_types() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&[
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id SMALLINT UNSIGNED PRIMARY KEY, small TINYINT, amount DECIMAL(12,2), at DATETIME, v CHAR(24))",
        "INSERT INTO d.t VALUES (1, -7, -10.00, '2026-01-01 00:00:00', 'one'), (65535, NULL, 0.10, NULL, 'two')",
        "CREATE PROCEDURE d.p(wanted INT) SELECT id, amount FROM d.t WHERE id = wanted",
    ]);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let mut fetched = Fetched::default();
        let change = connection
            .prepare("UPDATE d.t SET amount = amount + ? WHERE id = ?")
            .await
            .unwrap();
        let values = [Value::Decimal(b"0.05"), Value::Int(65535)];
        let outcome = connection
            .fetch(&change, &values, &mut fetched)
            .await
            .unwrap();
        assert_eq!((outcome.affected_rows, fetched.rows()), (1, 0));
        let all = connection
            .prepare("SELECT id, small, amount, v, at FROM d.t ORDER BY id")
            .await
            .unwrap();
        for _ in 0..2 {
            let outcome = connection.fetch(&all, &[], &mut fetched).await.unwrap();
            assert_eq!((outcome.rows, fetched.rows()), (2, 2));
            let row = |at| [0, 1, 2, 3].map(|column| fetched.value(at, column).unwrap());
            assert_eq!(
                row(0),
                [
                    Value::Uint(1),
                    Value::Int(-7),
                    Value::Bytes(b"-10.00"),
                    Value::Bytes(b"one")
                ]
            );
            assert_eq!(
                row(1),
                [
                    Value::Uint(65535),
                    Value::Null,
                    Value::Bytes(b"0.15"),
                    Value::Bytes(b"two")
                ]
            );
            assert_eq!(fetched.value(1, 4), Some(Value::Null));
        }
        let call = connection.prepare("CALL d.p(?)").await.unwrap();
        connection
            .fetch(&call, &[Value::Int(65535)], &mut fetched)
            .await
            .unwrap();
        assert_eq!(fetched.text(0, 1), Some(&b"0.15"[..]));
        let refused = connection.fetch(&call, &[], &mut fetched).await;
        assert!(matches!(refused, Err(Error::Parameters { .. })));
    })
    .unwrap();
}
