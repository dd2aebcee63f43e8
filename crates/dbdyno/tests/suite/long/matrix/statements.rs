//! Loads, prepared statements and multiple results.

use std::io::{self, Write};

use protocol::{LocalSource, SslMode, Value};

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, on},
};

/// Rows `n<TAB>text of n` for n counting up.
struct Rows {
    next: u32,
    end: u32,
}

impl LocalSource for Rows {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let end = self.end.min(self.next + 997);
        for number in self.next..end {
            writeln!(buffer, "{number}\ttext of {number}")?;
        }
        self.next = end;
        Ok(end < self.end)
    }
}

const LOAD: &str = "LOAD DATA LOCAL INFILE 'data' INTO TABLE test.loaded";
const LOADED: u32 = 20_000;

/// Rows arrive complete over socket and TCP; a server that forbids the load reports that and remains usable.
pub(crate) fn load_local(subject: &mut Subject) -> Cell {
    subject.run(&[
        "CREATE TABLE test.loaded (id INT PRIMARY KEY, v VARCHAR(30)) ENGINE=InnoDB",
        "SET GLOBAL local_infile = 1",
    ]);
    let source = || Rows {
        next: 1,
        end: LOADED + 1,
    };
    for endpoint in [subject.by_socket(), subject.by_tcp(SslMode::Preferred)] {
        let outcome = on(&endpoint, async |connection| {
            connection.query(b"TRUNCATE test.loaded").await?;
            connection.load_local(LOAD, &mut source()).await
        });
        assert_eq!(outcome.unwrap().affected_rows, u64::from(LOADED));
        let sums = "SELECT COUNT(*), SUM(id), SUM(v = CONCAT('text of ', id)) FROM test.loaded";
        let sum = u64::from(LOADED) * (u64::from(LOADED) + 1) / 2;
        let expected = [LOADED.to_string(), sum.to_string(), LOADED.to_string()];
        assert_eq!(subject.rows(sums), [expected]);
    }

    subject.run(&["SET GLOBAL local_infile = 0"]);
    let refused = on(&subject.by_socket(), async |connection| {
        let refused = connection.load_local(LOAD, &mut source()).await;
        connection.ping().await?;
        Ok(refused.unwrap_err())
    })
    .unwrap();
    assert!(
        matches!(refused.server_number(), Some(1148 | 3948 | 4166)),
        "{refused}"
    );
    assert!(refused.hint().unwrap().contains("local_infile"));
    Cell::Ok
}

/// Values of every type arrive unchanged, in repeated executions; rows are counted.
pub(crate) fn prepared(subject: &mut Subject) -> Cell {
    subject.run(&[
        "CREATE TABLE test.p (i BIGINT, u BIGINT UNSIGNED, f DOUBLE, b VARCHAR(300), n INT) \
         ENGINE=InnoDB CHARACTER SET utf8mb4",
    ]);
    let long = "x".repeat(300);
    let (least, most) = (i64::MIN, u64::MAX);
    let found = on(&subject.by_tcp(SslMode::Preferred), async |connection| {
        let insert = connection
            .prepare("INSERT INTO test.p VALUES (?, ?, ?, ?, ?)")
            .await?;
        for text in ["", "it's \\ \u{e4}", &long] {
            let values = [
                Value::Int(least),
                Value::Uint(most),
                Value::Float(0.25),
                Value::Bytes(text.as_bytes()),
                Value::Null,
            ];
            assert_eq!(connection.execute(&insert, &values).await?.affected_rows, 1);
        }
        let select = connection
            .prepare("SELECT * FROM test.p WHERE i = ?")
            .await?;
        for (value, rows) in [(least, 3), (0, 0), (least, 3)] {
            let outcome = connection.execute(&select, &[Value::Int(value)]).await?;
            assert_eq!((outcome.rows, outcome.result_sets), (rows, 1));
        }
        let wrong = connection.prepare("SELECT nothing FROM test.p").await;
        assert_eq!(wrong.unwrap_err().server_number(), Some(1054));
        connection.close_statement(insert).await?;
        let gone = connection.execute(&insert, &[Value::Null; 5]).await;
        assert_eq!(gone.unwrap_err().server_number(), Some(1243));
        let outcome = connection.execute(&select, &[Value::Int(least)]).await?;
        assert_eq!(outcome.rows, 3);
        Ok(())
    });
    found.unwrap();
    let rows = subject.rows("SELECT i, u, f, HEX(b), n FROM test.p ORDER BY LENGTH(b)");
    let hex = [
        "".to_owned(),
        "69742773205C20C3A4".to_owned(),
        "78".repeat(300),
    ];
    let expected = hex.map(|b| {
        let (least, most) = (least.to_string(), most.to_string());
        [least, most, "0.25".to_owned(), b, "NULL".to_owned()].to_vec()
    });
    assert_eq!(rows, expected);
    Cell::Ok
}

/// Multiple statements and procedures return all their results, also if one fails.
pub(crate) fn several_results(subject: &mut Subject) -> Cell {
    subject.run(&[
        "CREATE TABLE test.s (n INT) ENGINE=InnoDB",
        "CREATE PROCEDURE test.both() BEGIN SELECT 1; SELECT 2 UNION SELECT 3; \
         INSERT INTO test.s VALUES (1), (2); END",
    ]);
    on(&subject.by_socket(), async |connection| {
        let several = b"SELECT 1; INSERT INTO test.s VALUES (9); SELECT 2 UNION SELECT 3";
        let outcome = connection.query(several).await?;
        assert_eq!(
            (outcome.result_sets, outcome.rows, outcome.affected_rows),
            (2, 3, 1)
        );
        let outcome = connection.query(b"CALL test.both()").await?;
        assert_eq!((outcome.result_sets, outcome.rows), (2, 3));
        let call = connection.prepare("CALL test.both()").await?;
        for _ in 0..2 {
            let outcome = connection.execute(&call, &[]).await?;
            assert_eq!((outcome.result_sets, outcome.rows), (2, 3));
        }
        let failing = connection
            .query(b"SELECT 1; SELECT nothing; SELECT 2")
            .await;
        assert_eq!(failing.unwrap_err().server_number(), Some(1054));
        let sets = connection
            .rows("SELECT COUNT(*) FROM test.s; SELECT 'x'")
            .await?;
        assert_eq!(sets[0].rows, [[Some(b"7".to_vec())]]);
        assert_eq!(sets[1].rows, [[Some(b"x".to_vec())]]);
        Ok(())
    })
    .unwrap();
    Cell::Ok
}
