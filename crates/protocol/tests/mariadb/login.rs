//! Logging in.

use protocol::Connection;
use reactor::block_on;

use crate::server::Server;

#[test]
fn native_password() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&["CREATE USER native@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('s3cret')"]);
    block_on(async {
        let mut connection = Connection::open(&server.account("native", "s3cret"))
            .await
            .unwrap();
        assert!(
            connection.server_version().contains("MariaDB"),
            "{}",
            connection.server_version()
        );
        assert!(!connection.server_version().starts_with("5.5.5"));
        let outcome = connection.query(b"SELECT 1 UNION SELECT 2").await.unwrap();
        assert_eq!((outcome.rows, outcome.result_sets), (2, 1));
        connection.close().await.unwrap();
    })
    .unwrap();
}
