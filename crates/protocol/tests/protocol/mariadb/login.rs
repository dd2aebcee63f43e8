//! Tests of logging in to a real server.

use std::{path::Path, time::Duration};

use protocol::{Address, Connection, Endpoint, Error};
use reactor::block_on;

use crate::mariadb::server::{Server, account};

/// The account of the connection, as reported by the server.
fn whoami(endpoint: &Endpoint) -> Result<String, Error> {
    block_on(async {
        let mut connection = Connection::open(endpoint).await?;
        let sets = connection.rows("SELECT CURRENT_USER()").await?;
        connection.close().await?;
        Ok(String::from_utf8(sets[0].rows[0][0].clone().unwrap()).unwrap())
    })
    .unwrap()
}

#[test]
fn native_password_over_socket_and_tcp() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&[
        "CREATE USER native@localhost IDENTIFIED VIA mysql_native_password USING PASSWORD('s3cret')",
        "CREATE USER empty@localhost",
        "CREATE DATABASE here",
        "GRANT ALL ON here.* TO native@localhost",
    ]);
    let native = server.account("native", "s3cret");
    assert_eq!(whoami(&native).unwrap(), "native@localhost");
    assert_eq!(
        whoami(&server.over_tcp(native.clone())).unwrap(),
        "native@localhost"
    );
    let empty = Endpoint {
        password: None,
        ..server.account("empty", "")
    };
    assert_eq!(whoami(&empty).unwrap(), "empty@localhost");
    assert_eq!(
        whoami(&server.account("empty", "")).unwrap(),
        "empty@localhost"
    );

    block_on(async {
        let with_database = Endpoint {
            database: Some("here".into()),
            ..native.clone()
        };
        let mut connection = Connection::open(&with_database).await.unwrap();
        assert!(
            connection.server_version().contains("MariaDB"),
            "{connection:?}"
        );
        assert!(
            !connection.server_version().starts_with("5.5.5"),
            "{connection:?}"
        );
        let sets = connection
            .rows("SELECT DATABASE(), CONNECTION_ID(), @@character_set_client")
            .await;
        let row = sets.unwrap().remove(0).rows.remove(0);
        let expected = ["here", &connection.connection_id().to_string(), "utf8mb4"];
        assert_eq!(row, expected.map(|value| Some(value.as_bytes().to_vec())));
    })
    .unwrap();
}

#[test]
fn refusals_are_the_servers_errors_with_a_hint() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    server.run(&["CREATE USER native@localhost IDENTIFIED BY 's3cret'"]);
    let mut cases = vec![
        (server.account("native", "wrong"), 1045, "password"),
        (server.account("native", ""), 1045, "password"),
        (
            Endpoint {
                database: Some("nowhere".into()),
                ..server.root()
            },
            1049,
            "create",
        ),
    ];
    for (endpoint, _, _) in cases.clone() {
        cases.push((server.over_tcp(endpoint), 0, ""));
    }
    for (endpoint, number, hint) in &cases[..3] {
        let error = whoami(endpoint).unwrap_err();
        assert_eq!(error.server_number(), Some(*number), "{error}");
        assert!(error.hint().unwrap().contains(hint), "{:?}", error.hint());
    }
    for ((_, number, _), (tcp, ..)) in cases[..3].iter().zip(&cases[3..]) {
        assert_eq!(whoami(tcp).unwrap_err().server_number(), Some(*number));
    }
}

#[test]
fn ed25519() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let installed = block_on(async {
        let mut connection = Connection::open(&server.root()).await.unwrap();
        connection.query(b"INSTALL SONAME 'auth_ed25519'").await
    })
    .unwrap();
    if let Err(error) = installed {
        println!("skipped: {error}");
        return;
    }
    server.run(&[
        "CREATE USER edward@localhost IDENTIFIED VIA ed25519 USING PASSWORD('s3cret \u{e4}')",
    ]);
    // Each login has another nonce; zero bytes in it must make no difference.
    for _ in 0..300 {
        assert_eq!(
            whoami(&server.account("edward", "s3cret \u{e4}")).unwrap(),
            "edward@localhost"
        );
    }
    let error = whoami(&server.account("edward", "wrong")).unwrap_err();
    assert_eq!(error.server_number(), Some(1045), "{error}");
}

#[test]
fn unix_socket() {
    let Some(server) = Server::start(&[]) else {
        return;
    };
    let me = account();
    server.run(&[
        &format!("CREATE OR REPLACE USER '{me}'@'%' IDENTIFIED VIA unix_socket"),
        "CREATE USER stranger@localhost IDENTIFIED VIA unix_socket",
    ]);
    // root@localhost would match better, and has no password.
    if me != "root" {
        let endpoint = Endpoint {
            password: None,
            ..server.account(&me, "")
        };
        assert_eq!(whoami(&endpoint).unwrap(), format!("{me}@%"));
    } else {
        server.run(&["ALTER USER root@localhost IDENTIFIED VIA unix_socket"]);
        assert_eq!(whoami(&server.root()).unwrap(), "root@localhost");
    }
    let error = whoami(&server.account("stranger", "")).unwrap_err();
    assert_eq!(error.server_number(), Some(1698), "{error}");
    assert!(error.hint().unwrap().contains("operating system"));
}

#[test]
fn a_full_server_refuses_in_place_of_the_greeting() {
    let Some(server) = Server::start(&["--max-connections=10", "--extra-max-connections=1"]) else {
        return;
    };
    block_on(async {
        let mut held = Vec::new();
        let error = loop {
            match Connection::open(&server.root()).await {
                Ok(connection) => held.push(connection),
                Err(error) => break error,
            }
            assert!(held.len() < 50);
        };
        assert_eq!(error.server_number(), Some(1040), "{error}");
    })
    .unwrap();
}

#[test]
fn where_no_server_is_the_error_names_the_address() {
    let Some(mut server) = Server::start(&[]) else {
        return;
    };
    let (unix, tcp) = (server.root(), server.over_tcp(server.root()));
    server.kill();
    for endpoint in [unix, tcp] {
        let error = whoami(&endpoint).unwrap_err();
        assert!(matches!(error, Error::Connect { .. }), "{error}");
        assert!(
            error.to_string().contains(&endpoint.address.to_string()),
            "{error}"
        );
        assert!(error.hint().unwrap().contains("running"));
    }
}

#[test]
fn a_server_that_never_speaks_runs_into_the_timeout() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let _silent = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let endpoint = Endpoint::plain(
        Address::Unix(path.clone()),
        "root",
        Duration::from_millis(50),
    );
    let error = whoami(&endpoint).unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    assert!(Path::new(&error.to_string().replace(": not logged in after 50ms", "")) == path);
}
