//! The compressed protocol with each server.

use protocol::{Compression, Endpoint, SslMode, Value};

use crate::long::matrix::{
    results::Cell,
    subject::{Subject, on},
    tls,
};

/// All operations of a connection, in both directions and with more than one frame, over the socket, TCP and TLS.
pub(crate) fn everything(subject: &mut Subject) -> Cell {
    let mut endpoints = vec![subject.by_socket(), subject.by_tcp(SslMode::Disabled)];
    if tls::hindrance(subject).is_none() {
        endpoints.push(subject.by_tcp(SslMode::Required));
    }
    for endpoint in endpoints {
        let compressed = Endpoint {
            compression: Compression::Required,
            ..endpoint
        };
        let done = on(&compressed, async |connection| {
            assert!(connection.compressed());
            let said = connection.rows("SHOW STATUS LIKE 'Compression'").await?;
            assert_eq!(said[0].rows[0][1].as_deref(), Some(&b"ON"[..]));
            for length in [1, 49, 50, 20_000, 900_000] {
                let sql = format!("SELECT '{}'", "x".repeat(length));
                let sets = connection.rows(&sql).await?;
                assert_eq!(sets[0].rows[0][0].as_ref().map(Vec::len), Some(length));
            }
            let many = b"SELECT 1; SELECT REPEAT('a', 100000); SET @a = 1; SELECT 2";
            assert_eq!(connection.query(many).await?.result_sets, 3);
            let statement = connection.prepare("SELECT ?, REPEAT('b', 500)").await?;
            for number in 0..3 {
                connection
                    .execute(&statement, &[Value::Int(number)])
                    .await?;
            }
            let error = connection.query(b"SELECT nonsense").await.unwrap_err();
            assert_eq!(error.server_number(), Some(1054));
            connection.ping().await
        });
        done.unwrap();
    }
    Cell::Ok
}
