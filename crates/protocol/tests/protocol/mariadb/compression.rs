//! Tests of the compressed protocol, with and without TLS, over all features of a connection.

use std::io;

use protocol::{Compression, Connection, Endpoint, LocalSource, SslMode, Value};
use reactor::block_on;

use crate::mariadb::server::Server;

/// A source of this number of lines with compressible text.
struct Lines(u32);

impl LocalSource for Lines {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        for _ in 0..self.0.min(10_000) {
            buffer.extend_from_slice(b"1\tthe same text on each of the lines\n");
        }
        self.0 -= self.0.min(10_000);
        Ok(self.0 > 0)
    }
}

/// Uses all features of the connection; returns the bytes that the server received and sent.
fn use_it(endpoint: &Endpoint) -> (u64, u64) {
    block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let is_wanted = endpoint.compression != Compression::Off;
        assert_eq!(connection.compressed(), is_wanted);
        assert_eq!(connection.tls(), endpoint.ssl_mode == SslMode::Required);
        let said = status(&mut connection, "Compression").await;
        assert_eq!(said, if is_wanted { "ON" } else { "OFF" });
        // Frames of all kinds: uncompressed, deflated, several in one direction.
        for length in [1, 40, 49, 50, 51, 1000, 70_000, 3_000_000] {
            let sql = format!("SELECT '{}', LENGTH('{0}')", "x".repeat(length));
            let sets = connection.rows(&sql).await?;
            let row = &sets[0].rows[0];
            assert_eq!(row[0].as_ref().map(Vec::len), Some(length));
            assert_eq!(row[1], Some(length.to_string().into_bytes()));
        }
        // More than one packet of 16 MiB.
        let outcome = connection.query(b"SELECT REPEAT('y', 20000000) UNION ALL SELECT '1'");
        assert_eq!(outcome.await?.rows, 2);
        let outcome = connection
            .query(b"SELECT * FROM mysql.seq_1_to_100000")
            .await?;
        assert_eq!(outcome.rows, 100_000);
        // The server flushes between several results, and the packet numbers jump.
        let many =
            b"SELECT 1; SELECT * FROM mysql.seq_1_to_1000; SET @a = 1; SELECT REPEAT('z', 5000)";
        assert_eq!(connection.query(many).await?.rows, 1002);
        let error = connection.query(b"SELECT nonsense").await.unwrap_err();
        assert_eq!(error.server_number(), Some(1054));
        let statement = connection.prepare("SELECT ?, REPEAT('w', 200)").await?;
        for number in 0..3 {
            let outcome = connection
                .execute(&statement, &[Value::Int(number)])
                .await?;
            assert_eq!(outcome.rows, 1);
        }
        connection
            .query(b"CREATE TEMPORARY TABLE test.t (a INT, b TEXT)")
            .await?;
        let load = "LOAD DATA LOCAL INFILE 'x' INTO TABLE test.t";
        let outcome = connection.load_local(load, &mut Lines(100_000)).await?;
        assert_eq!(outcome.affected_rows, 100_000);
        connection.ping().await?;
        let number = |text: String| text.parse::<u64>().unwrap();
        let received = number(status(&mut connection, "Bytes_received").await);
        let sent = number(status(&mut connection, "Bytes_sent").await);
        connection.close().await?;
        Ok::<_, protocol::Error>((received, sent))
    })
    .unwrap()
    .unwrap()
}

async fn status(connection: &mut Connection, name: &str) -> String {
    let sql = format!("SHOW STATUS LIKE '{name}'");
    let sets = connection.rows(&sql).await.unwrap();
    String::from_utf8(sets[0].rows[0][1].clone().unwrap()).unwrap()
}

#[test]
fn everything_works_compressed_and_takes_fewer_bytes() {
    let Some(server) = Server::start(&["--local-infile=1", "--max-allowed-packet=64M"]) else {
        return;
    };
    server.run(&["CREATE DATABASE IF NOT EXISTS test"]);
    let with = |compression, ssl_mode| Endpoint {
        compression,
        ssl_mode,
        ..server.root()
    };
    let plain = use_it(&with(Compression::Off, SslMode::Disabled));
    for compression in [Compression::Preferred, Compression::Required] {
        let (received, sent) = use_it(&with(compression, SslMode::Disabled));
        assert!(received < plain.0 / 10, "{received} of {}", plain.0);
        assert!(sent < plain.1 / 4, "{sent} of {}", plain.1);
    }
}

#[test]
fn compression_is_inside_of_tls() {
    let certificates = crate::mariadb::tls::Certificates::new("127.0.0.1");
    let options = ["--local-infile=1", "--max-allowed-packet=64M"];
    let Some(server) = certificates.start_server(&options) else {
        return;
    };
    server.run(&["CREATE DATABASE IF NOT EXISTS test"]);
    for compression in [Compression::Off, Compression::Required] {
        use_it(&Endpoint {
            compression,
            ssl_mode: SslMode::Required,
            ..server.over_tcp(server.root())
        });
    }
}

#[test]
fn a_server_that_ends_the_connection_says_why() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let endpoint = Endpoint {
        compression: Compression::Required,
        ..server.root()
    };
    let error = block_on(async {
        let mut connection = Connection::open(&endpoint).await.unwrap();
        let mut other = Connection::open(&endpoint).await.unwrap();
        let kill = format!("KILL {}", connection.connection_id());
        other.query(kill.as_bytes()).await.unwrap();
        connection.query(b"SELECT 1").await.unwrap_err()
    })
    .unwrap();
    assert!(error.is_connection_lost(), "{error}");
}
