//! The clients' endpoint and account, by the rules of each family's client library.

use std::{env, path::PathBuf};

use blame::Blamed;
use protocol::{Compression, Endpoint, Password, SslMode};

use crate::{
    connection_options::{ConnectionOptions, local_socket},
    front_doors::{
        my_getopt::{Arguments, Options},
        mysqlslap::specs::Dialect,
    },
};

/// Default account.
const MYSQLS_USER: &str = "root";

/// Login methods that dbdyno supports; the server decides, whichever is named.
const METHODS: [&str; 7] = [
    "mysql_native_password",
    "caching_sha2_password",
    "sha256_password",
    "client_ed25519",
    "parsec",
    "unix_socket",
    "auth_socket",
];

/// The endpoint that the options describe. `typed` are those of the command line alone, `all` include the option files.
pub(super) fn endpoint(
    options: &Options<'_>,
    dialect: Dialect,
    typed: &Arguments,
    all: &Arguments,
) -> anyhow::Result<Endpoint> {
    check(options, all)?;
    let mut endpoint = connection_options(options, dialect, typed, all)?.endpoint()?;
    if all.text("server").is_none()
        && all.text("password-file").is_none()
        && let Some(password) = all.text("password1").or(all.text("password"))
    {
        endpoint.password = Some(Password::from(password));
    }
    if let Some(mode) = ssl_mode(all) {
        endpoint.ssl_mode = mode;
    }
    endpoint.compression = compression(options, all)?;
    Ok(endpoint)
}

/// Refuses values that are not supported.
fn check(options: &Options<'_>, all: &Arguments) -> Result<(), Blamed> {
    let refuse = |name: &str, what: &str| Err(options.error(&format!("option '--{name}' {what}")));
    for name in ["password", "password1"] {
        if all.is_on(name) && all.text(name).is_none() {
            let what = "has no value, and dbdyno does not ask for passwords; --password-file=FILE reads one";
            return refuse(name, what);
        }
    }
    if let Some(method) = all.text("default-auth")
        && !METHODS.contains(&method)
    {
        return refuse(
            "default-auth",
            &format!("names a method that dbdyno does not know: '{method}'"),
        );
    }
    let is_none = |name: &str, none: &str| {
        all.text(name)
            .is_none_or(|value| value.eq_ignore_ascii_case(none))
    };
    if !is_none("ssl-fips-mode", "off") {
        return refuse(
            "ssl-fips-mode",
            "must be OFF: dbdyno's TLS has no such mode",
        );
    }
    compression(options, all)?;
    if !is_none("protocol", "tcp") && !is_none("protocol", "socket") {
        return refuse(
            "protocol",
            "must be tcp or socket: the others are for Windows",
        );
    }
    Ok(())
}

/// The options converted to those of all commands.
fn connection_options(
    options: &Options<'_>,
    dialect: Dialect,
    typed: &Arguments,
    all: &Arguments,
) -> Result<ConnectionOptions, Blamed> {
    let ssl_mode = all.text("ssl-mode").map(str::to_owned);
    let ssl_ca = all.text("ssl-ca").map(PathBuf::from);
    let get_server_public_key = all.is_on("get-server-public-key");
    let server_public_key_path = all.text("server-public-key-path").map(PathBuf::from);
    if let Some(server) = all.text("server") {
        return Ok(ConnectionOptions {
            server: Some(server.to_owned()),
            ssl_mode,
            ssl_ca,
            get_server_public_key,
            server_public_key_path,
            ..ConnectionOptions::default()
        });
    }
    let port = match all.text("port") {
        None | Some("0") => None,
        Some(text) => Some(text.parse::<u16>().map_err(|_| {
            options.error(&format!("option '--port' is not a port number: '{text}'"))
        })?),
    };
    let environment = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let host = all
        .text("host")
        .map(str::to_owned)
        .or_else(|| environment("MYSQL_HOST"));
    let remote = host.filter(|host| !host.is_empty() && host != "localhost");
    let is_tcp = match all.text("protocol").map(str::to_ascii_lowercase).as_deref() {
        Some("tcp") => true,
        Some(_) => false,
        // In MariaDB's programs an explicit port or socket selects the protocol.
        None => {
            let says_tcp = typed.text("port").is_some() && typed.text("socket").is_none();
            remote.is_some() || dialect == Dialect::MariaDb && says_tcp
        }
    };
    let user = all
        .text("user")
        .map(str::to_owned)
        .or_else(|| match dialect {
            Dialect::MySql => Some(MYSQLS_USER.to_owned()),
            Dialect::MariaDb => None,
        });
    let mut found = ConnectionOptions {
        user,
        password_file: all.text("password-file").map(PathBuf::from),
        ssl_mode,
        ssl_ca,
        get_server_public_key,
        server_public_key_path,
        no_defaults: true,
        ..ConnectionOptions::default()
    };
    if is_tcp {
        found.host = Some(remote.unwrap_or_else(|| "127.0.0.1".to_owned()));
        found.port = port;
    } else {
        found.socket = all.text("socket").map(PathBuf::from).or_else(local_socket);
        // Without any, the default socket, so that the error names it.
        found.host = None;
    }
    Ok(found)
}

/// Whether to compress: `--compression-algorithms` has precedence over `--compress`, as in MySQL's own programs.
fn compression(options: &Options<'_>, all: &Arguments) -> Result<Compression, Blamed> {
    let Some(list) = all.text("compression-algorithms") else {
        return Ok(if all.is_on("compress") {
            Compression::Preferred
        } else {
            Compression::Off
        });
    };
    let (mut zlib, mut uncompressed) = (false, false);
    for word in list.split(',') {
        match word.trim().to_ascii_lowercase().as_str() {
            "zlib" => zlib = true,
            "uncompressed" => uncompressed = true,
            _ => {
                let message = format!(
                    "option '--compression-algorithms' must be zlib, uncompressed, or both: not '{word}'"
                );
                return Err(options.error(&message));
            }
        }
    }
    Ok(match (zlib, uncompressed) {
        (true, true) => Compression::Preferred,
        (true, false) => Compression::Required,
        (false, _) => Compression::Off,
    })
}

/// The TLS mode of MariaDB's switches.
fn ssl_mode(all: &Arguments) -> Option<SslMode> {
    if all.is_off("ssl") {
        return Some(SslMode::Disabled);
    }
    if all.is_on("ssl-verify-server-cert") {
        Some(SslMode::VerifyIdentity)
    } else {
        // As in MariaDB's own programs: it is used if the server offers it.
        all.is_on("ssl").then_some(SslMode::Preferred)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::front_doors::mysqlslap::specs;

    fn found(dialect: Dialect, line: &str) -> Result<ConnectionOptions, String> {
        let specs = specs::of(dialect);
        let options = Options {
            specs: &specs,
            program: "mysqlslap",
        };
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let arguments = options.parse(&words).map_err(|error| error.message)?;
        check(&options, &arguments).map_err(|error| error.message)?;
        connection_options(&options, dialect, &arguments, &arguments).map_err(|error| error.message)
    }

    #[test]
    fn each_family_has_its_own_way_to_the_server() {
        let (mysql, mariadb) = (Dialect::MySql, Dialect::MariaDb);
        let tcp = |host: &str, port| (Some(host.to_owned()), port, None);
        let socket = |path: &str| (None, None, Some(PathBuf::from(path)));
        for (dialect, line, place) in [
            (mysql, "-h db1 -P 3307", tcp("db1", Some(3307))),
            (mysql, "-h db1", tcp("db1", None)),
            (
                mysql,
                "--host=127.0.0.1 --port=3306",
                tcp("127.0.0.1", Some(3306)),
            ),
            (mysql, "-P 3307 -S /x.sock", socket("/x.sock")),
            (mysql, "-h localhost -P 3307 -S /x.sock", socket("/x.sock")),
            (mariadb, "-P 3307", tcp("127.0.0.1", Some(3307))),
            (mariadb, "-P 3307 -S /x.sock", socket("/x.sock")),
            (mysql, "--protocol=TCP -S /x.sock", tcp("127.0.0.1", None)),
            (
                mariadb,
                "--protocol=socket -S /x.sock -P 1",
                socket("/x.sock"),
            ),
        ] {
            let options = found(dialect, line).unwrap();
            assert_eq!(
                (options.host, options.port, options.socket),
                place,
                "{line}"
            );
        }
        assert_eq!(found(mysql, "").unwrap().user.as_deref(), Some("root"));
        assert_eq!(found(mariadb, "").unwrap().user, None);
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        for line in [
            "-p",
            "--default-auth=authentication_ldap_sasl_client",
            "--ssl-fips-mode=on",
            "--compression-algorithms=zstd,zlib",
            "--protocol=pipe",
            "--compression-algorithms=lz4",
            "--zstd-compression-level=3",
            "--ssl-cert=x",
            "--plugin-dir=x",
            "--port=x",
            "--login-path=x",
        ] {
            let message = found(Dialect::MySql, line).unwrap_err();
            assert!(
                message.starts_with("mysqlslap: option '--"),
                "{line}: {message}"
            );
        }
        assert!(found(Dialect::MySql, "--skip-compress --ssl-fips-mode=OFF").is_ok());
    }

    #[test]
    fn compression_is_as_it_was_asked_for() {
        let specs = specs::of(Dialect::MySql);
        let options = Options {
            specs: &specs,
            program: "mysqlslap",
        };
        for (line, expected) in [
            ("", Compression::Off),
            ("-C", Compression::Preferred),
            ("--compress --skip-compress", Compression::Off),
            ("--compression-algorithms=zlib", Compression::Required),
            (
                "--compression-algorithms=uncompressed,zlib",
                Compression::Preferred,
            ),
            ("-C --compression-algorithms=uncompressed", Compression::Off),
        ] {
            let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
            let arguments = options.parse(&words).unwrap();
            let found = compression(&options, &arguments);
            assert_eq!(found.map_err(|error| error.message), Ok(expected), "{line}");
        }
    }
}
