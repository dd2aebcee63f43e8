//! Tests of LOAD DATA LOCAL with a real server.

use std::io::{self, Write};

use protocol::{Connection, Error, LocalSource};
use reactor::block_on;

use crate::mariadb::server::Server;

/// Rows `n<TAB>text of n` for n counting up, in pieces of any size.
struct Rows {
    next: u32,
    end: u32,
    rows_per_piece: u32,
}

impl LocalSource for Rows {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        let end = self.end.min(self.next + self.rows_per_piece);
        for number in self.next..end {
            writeln!(buffer, "{number}\ttext of {number}")?;
        }
        self.next = end;
        Ok(end < self.end)
    }
}

fn rows(count: u32, rows_per_piece: u32) -> Rows {
    Rows {
        next: 1,
        end: count + 1,
        rows_per_piece,
    }
}

const LOAD: &str = "LOAD DATA LOCAL INFILE 'data' INTO TABLE d.t";
const TABLE: [&str; 2] = [
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(30)) ENGINE=InnoDB",
];

async fn count(connection: &mut Connection) -> String {
    let sets = connection
        .rows("SELECT CONCAT(COUNT(*), '/', COALESCE(SUM(id), 0)) FROM d.t")
        .await;
    String::from_utf8(sets.unwrap()[0].rows[0][0].clone().unwrap()).unwrap()
}

#[test]
fn a_hundred_thousand_rows_in_pieces_of_any_size() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&TABLE);
    block_on(async {
        for endpoint in [server.root(), server.over_tcp(server.root())] {
            let mut connection = Connection::open(&endpoint).await.unwrap();
            // The last case is a single piece of 2.4 MB, which has to be split.
            for rows_per_piece in [997, 20_000, 100_000] {
                let mut source = rows(100_000, rows_per_piece);
                let outcome = connection.load_local(LOAD, &mut source).await.unwrap();
                assert_eq!((outcome.affected_rows, outcome.warnings), (100_000, 0));
                let info = connection.info();
                assert_eq!(info, "Records: 100000  Deleted: 0  Skipped: 0  Warnings: 0");
                drop(info);
                assert_eq!(count(&mut connection).await, "100000/5000050000");
                connection.query(b"TRUNCATE d.t").await.unwrap();
            }
            let outcome = connection.load_local(LOAD, &mut rows(0, 1)).await.unwrap();
            assert_eq!(outcome.affected_rows, 0);
        }
    })
    .unwrap();
}

#[test]
fn the_servers_error_in_mid_load_is_reported() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&TABLE);
    server.run(&[
        "INSERT INTO d.t VALUES (500, 'taken')",
        "SET GLOBAL sql_mode = 'STRICT_ALL_TABLES'",
    ]);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        // With LOCAL duplicates are skipped, so the data has to be wrong in another way.
        let sql = "LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE d.t (@id, v) \
                   SET id = IF(@id = 5000, 'no number', @id)";
        let error = connection
            .load_local(sql, &mut rows(200_000, 1000))
            .await
            .unwrap_err();
        assert_eq!(error.server_number(), Some(1366), "{error}");
        assert!(!error.is_connection_lost());
        assert_eq!(
            count(&mut connection).await,
            "1/500",
            "the statement was rolled back"
        );
    })
    .unwrap();
}

#[test]
fn a_failing_source_leaves_nothing_behind() {
    struct Failing(Rows);
    impl LocalSource for Failing {
        fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
            if self.0.next > 3000 {
                return Err(io::Error::other("out of ideas"));
            }
            self.0.fill(buffer)
        }
    }
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&TABLE);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let mut source = Failing(rows(100_000, 1000));
        let error = connection.load_local(LOAD, &mut source).await.unwrap_err();
        assert_eq!(error.to_string(), "data to load: out of ideas");
        assert!(error.is_connection_lost());
        drop(connection);
        let mut connection = Connection::open(&server.root()).await.unwrap();
        // Waits for the rollback.
        connection.query(b"LOCK TABLES d.t READ").await.unwrap();
        assert_eq!(count(&mut connection).await, "0/0");
    })
    .unwrap();
}

#[test]
fn a_server_that_forbids_it_says_so() {
    let Some(server) = Server::start(&["--local-infile=0"]) else {
        return;
    };
    server.run(&TABLE);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let error = connection
            .load_local(LOAD, &mut rows(10, 10))
            .await
            .unwrap_err();
        assert!(
            matches!(error.server_number(), Some(1148 | 4166)),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("local_infile"));
        connection.ping().await.unwrap();
    })
    .unwrap();
}

#[test]
fn nothing_is_given_that_was_not_offered() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&TABLE);
    block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        let sql = "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE d.t";
        let error = connection.query(sql.as_bytes()).await.unwrap_err();
        assert!(
            matches!(&error, Error::FileRequested { name } if name == "/etc/passwd"),
            "{error}"
        );
        assert!(!error.is_connection_lost());
        let error = connection.rows(sql).await.unwrap_err();
        assert!(matches!(error, Error::FileRequested { .. }), "{error}");
        assert_eq!(count(&mut connection).await, "0/0");

        let error = connection
            .load_local("SELECT 1", &mut rows(10, 10))
            .await
            .unwrap_err();
        assert!(matches!(error, Error::DataNotRequested), "{error}");
        connection.ping().await.unwrap();
    })
    .unwrap();
}
