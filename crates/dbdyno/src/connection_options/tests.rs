//! Tests of where a connection leads, by command line, option files and environment.

use std::fs;

use clap::Parser;

use super::*;

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    connection: ConnectionOptions,
}

/// The endpoint for a command line, a `~/.my.cnf` and an environment.
fn endpoint(line: &str, my_cnf: &str, environment: &Environment) -> Result<Endpoint, Blamed> {
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join("own.cnf");
    fs::write(&own, my_cnf).unwrap();
    // Only this file: the machine's own files must not be read.
    let file = format!("--defaults-file={}", own.display());
    let line = ["dbdyno", &file].into_iter().chain(line.split_whitespace());
    Cli::parse_from(line).connection.endpoint_in(environment)
}

fn address_of(line: &str, my_cnf: &str, environment: &Environment) -> String {
    let endpoint = endpoint(line, my_cnf, environment).unwrap();
    endpoint.address.to_string()
}

fn environment() -> Environment {
    Environment {
        user: Some("me".to_owned()),
        socket: Some("/env.sock".into()),
        ..Environment::default()
    }
}

#[test]
fn the_address_follows_the_mysql_client() {
    for (line, my_cnf, address) in [
        ("", "", "/env.sock"),
        ("", "[client]\nsocket=/file.sock\nport=3307", "/file.sock"),
        ("", "[client]\nsocket=/file.sock\nhost=db1", "db1:3306"),
        (
            "--host localhost",
            "[client]\nhost=db1\nsocket=/file.sock",
            "/file.sock",
        ),
        ("--host db2", "[client]\nhost=db1\nport=3307", "db2:3307"),
        ("--host 127.0.0.1", "", "127.0.0.1:3306"),
        ("--port 3308", "[client]\nport=3307", "127.0.0.1:3308"),
        ("--host localhost -P 3308", "", "127.0.0.1:3308"),
        (
            "--socket /line.sock",
            "[client]\nhost=db1\nprotocol=tcp",
            "/line.sock",
        ),
        ("--socket /line.sock --port 3308", "", "/line.sock"),
        ("", "[client]\nprotocol=tcp\nport=3307", "127.0.0.1:3307"),
        ("--host ::1", "", "[::1]:3306"),
    ] {
        let found = address_of(line, my_cnf, &environment());
        assert_eq!(found, address, "{line} with {my_cnf}");
    }
    let far = Environment {
        host: Some("db9".to_owned()),
        port: Some(3399),
        ..environment()
    };
    assert_eq!(address_of("", "", &far), "db9:3399");
    assert_eq!(address_of("--host localhost", "", &far), "/env.sock");
    let error = endpoint("--host db1 --socket /x", "", &environment()).unwrap_err();
    assert!(error.to_string().ends_with("reached through socket /x"));
    let error = endpoint("--host db1:3307", "", &environment()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "host db1:3307: a port is not part of the host"
    );
    assert_eq!(error.hints, ["--host db1 --port 3307"]);
}

#[test]
fn user_and_password_follow_the_mysql_client() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("password");
    fs::write(&file, "from file\nsecond line\n").unwrap();
    let line = format!("--user line --password-file {}", file.display());
    let env = Environment {
        password: Some("from environment".to_owned()),
        ..environment()
    };
    let my_cnf = "[client]\nuser=file\npassword='from option file'";
    for (line, my_cnf, user, password) in [
        ("", "", "me", Some("from environment")),
        ("", my_cnf, "file", Some("from option file")),
        (line.as_str(), my_cnf, "line", Some("from file")),
    ] {
        let found = endpoint(line, my_cnf, &env).unwrap();
        assert_eq!(found.user, user, "{line}");
        assert_eq!(found.password, password.map(Password::from), "{line}");
    }
    assert_eq!(endpoint("", "", &environment()).unwrap().password, None);
    let nobody = endpoint("", "", &Environment::default()).unwrap_err();
    assert!(nobody.to_string().starts_with("no account name"));
}

#[test]
fn an_authority_asks_for_verification_and_compression_is_asked_for() {
    for (my_cnf, mode) in [
        ("", SslMode::Preferred),
        ("[client]\nssl-ca=/ca.pem", SslMode::VerifyCa),
        (
            "[client]\nssl-ca=/ca.pem\nssl-mode=required",
            SslMode::Required,
        ),
        ("[client]\nskip-ssl", SslMode::Disabled),
    ] {
        assert_eq!(
            endpoint("", my_cnf, &environment()).unwrap().ssl_mode,
            mode,
            "{my_cnf}"
        );
    }
    let parse = |line: &str| {
        let line = ["dbdyno", "--no-defaults", "--user=me"]
            .into_iter()
            .chain(line.split_whitespace());
        Cli::parse_from(line).connection.endpoint()
    };
    assert_eq!(
        parse("--ssl-mode verify-identity").unwrap().ssl_mode,
        SslMode::VerifyIdentity
    );
    assert_eq!(
        parse("--ssl-ca /ca.pem").unwrap().ssl_mode,
        SslMode::VerifyCa
    );
    assert_eq!(
        parse("--database shop").unwrap().database.as_deref(),
        Some("shop")
    );
    assert!(parse("--ssl-mode on").is_err());
    let key = |line: &str, my_cnf| endpoint(line, my_cnf, &environment()).unwrap().server_key;
    let file = ServerKey::File("/key.pem".into());
    assert_eq!(key("", ""), ServerKey::Refused);
    assert_eq!(key("", "[client]\nget-server-public-key"), ServerKey::Asked);
    let both = "[client]\nget-server-public-key\nserver-public-key-path=/key.pem";
    assert_eq!(key("", both), file);
    let named = parse("--server-public-key-path /key.pem").unwrap();
    assert_eq!(named.server_key, file);
    let limited = parse("--get-server-public-key --statement-timeout 90s").unwrap();
    assert_eq!(limited.server_key, ServerKey::Asked);
    assert_eq!(limited.statement_timeout, Some(Duration::from_secs(90)));
    let compression = |my_cnf| endpoint("", my_cnf, &environment()).unwrap().compression;
    assert_eq!(compression("[client]\ncompress"), Compression::Preferred);
    assert_eq!(compression("[client]\nskip-compress"), Compression::Off);
    let asked = parse("--compress").unwrap();
    assert_eq!(asked.compression, Compression::Preferred);
}

#[test]
fn naming_a_server_excludes_the_other_ways() {
    let parse =
        |line: &str| Cli::try_parse_from(["dbdyno"].into_iter().chain(line.split_whitespace()));
    assert!(parse("--server one --database shop").is_ok());
    for line in [
        "--server one --host x",
        "--server one --port 1",
        "--no-defaults --defaults-file x",
        "--port 0",
    ] {
        assert!(parse(line).is_err(), "{line}");
    }
    assert!(!parse("").unwrap().connection.names_a_server());
    assert!(parse("--host x").unwrap().connection.names_a_server());
}
