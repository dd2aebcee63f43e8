//! The connection options of every command, with the mysql client's precedence.
//!
//! The command line has precedence over option files, those over the environment, and that over the defaults.

use std::{env, path::PathBuf, time::Duration};

use blame::{Blame, Blamed};
use mycnf::{ClientFiles, ClientOptions, Transport};
use protocol::{Address, Compression, Endpoint, Password, ServerKey, SslMode};
use runs::{named_server, password_file};

use crate::terminal::Terminal;

pub(crate) mod given_address;
pub(crate) mod hidden_argument;
pub(crate) mod observe_options;

/// Default port of a server.
const DEFAULT_PORT: u16 = 3306;

/// Default socket paths: of Debian's package, other packages, MySQL's own archives.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/var/run/mysqld/mysqld.sock",
    "/tmp/mysql.sock",
];

/// Time limit for connecting and logging in together.
pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The connection options of every command. Passwords come from a file, an option file or MYSQL_PWD: others can
/// see a command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionOptions {
    /// Host name or address of the server; localhost means the server's unix socket unless a port is given
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Option<String>,
    /// TCP port of the server
    #[arg(long, short = 'P', value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Path of the server's unix socket
    #[arg(long, short = 'S', value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Name of the account [default: from the option files, otherwise the name of the current user]
    #[arg(long, short, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// File whose first line is the account's password [default: the password in the option files or in MYSQL_PWD]
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
    /// Database to use
    #[arg(long, value_name = "NAME")]
    pub(crate) database: Option<String>,
    /// TLS mode: disabled, preferred, required, verify_ca or verify_identity [default: from the option files;
    /// otherwise verify_ca if --ssl-ca is given, and preferred if it is not]
    #[arg(long, value_name = "MODE")]
    pub(crate) ssl_mode: Option<String>,
    /// PEM file with the certificates of the authorities that are trusted to sign the server's certificate
    #[arg(long, value_name = "FILE")]
    pub(crate) ssl_ca: Option<PathBuf>,
    /// On TCP connections without TLS, encrypt the password with the RSA key that the server sends
    #[arg(long)]
    pub(crate) get_server_public_key: bool,
    /// Encrypt the password with the RSA key in this PEM file, a copy of the server's public_key.pem
    #[arg(long, value_name = "FILE")]
    pub(crate) server_public_key_path: Option<PathBuf>,
    /// Time limit for each statement outside the measured load, such as CREATE INDEX. Statements in the measured load
    /// have no limit [default: depends on the statement's purpose; see docs/limits.md]
    #[arg(long, value_name = "TIME", value_parser = statement_timeout)]
    pub(crate) statement_timeout: Option<Duration>,
    /// Compress the connection with zlib if the server supports it
    #[arg(long)]
    pub(crate) compress: bool,
    /// Read connection options from this option file only
    #[arg(long, value_name = "FILE", conflicts_with = "defaults_extra_file")]
    pub(crate) defaults_file: Option<PathBuf>,
    /// Also read connection options from this option file, after the system's option files and before ~/.my.cnf
    #[arg(long, value_name = "FILE")]
    pub(crate) defaults_extra_file: Option<PathBuf>,
    /// Read connection options from no option file
    #[arg(long, conflicts_with_all = ["defaults_file", "defaults_extra_file"])]
    pub(crate) no_defaults: bool,
    /// Name of a private server to connect to, as given to `dbdyno server create`. This server's own socket and account
    /// are used, not those in the option files
    #[arg(long, value_name = "NAME", conflicts_with_all = ["host", "port", "socket", "user", "password_file",
        "defaults_file", "defaults_extra_file", "no_defaults"])]
    pub(crate) server: Option<String>,
}

/// The environment variables, read once so that tests can replace them.
#[derive(Debug, Clone, Default)]
struct Environment {
    host: Option<String>,
    port: Option<u16>,
    socket: Option<PathBuf>,
    password: Option<String>,
    /// The name of the operating system's user.
    user: Option<String>,
    home: Option<PathBuf>,
}

impl ConnectionOptions {
    /// Whether any option names the server or the account.
    pub(crate) fn names_a_server(&self) -> bool {
        *self != Self::default()
    }

    /// The address of the server, with the account.
    pub(crate) fn endpoint(&self) -> Result<Endpoint, Blamed> {
        self.endpoint_of_server(match &self.server {
            Some(name) => named_server::endpoint(name)?,
            None => self.endpoint_in(&Environment::read()?)?,
        })
    }

    /// The endpoint of a private server with what these options say otherwise.
    pub(crate) fn endpoint_of_server(&self, mut endpoint: Endpoint) -> Result<Endpoint, Blamed> {
        if let Some(database) = &self.database {
            endpoint.database = Some(database.clone());
        }
        if let Some(mode) = &self.ssl_mode {
            endpoint.ssl_mode = parse_ssl_mode(mode)?;
        }
        endpoint.ssl_ca = self.ssl_ca.clone().or(endpoint.ssl_ca);
        if let Some(key) = self.server_key() {
            endpoint.server_key = key;
        }
        endpoint.statement_timeout = self.statement_timeout;
        if self.compress {
            endpoint.compression = Compression::Preferred;
        }
        Ok(endpoint)
    }

    /// The same for the tables of a benchmark, which have a database of their own unless another is named here.
    pub(crate) fn endpoint_of_tables(&self, database: &str) -> Result<Endpoint, Blamed> {
        let named = self.database.clone();
        Ok(Endpoint {
            database: named.or_else(|| Some(database.to_owned())),
            ..self.endpoint()?
        })
    }

    fn endpoint_in(&self, environment: &Environment) -> Result<Endpoint, Blamed> {
        let files = ClientFiles {
            no_defaults: self.no_defaults,
            defaults_file: self.defaults_file.clone(),
            defaults_extra_file: self.defaults_extra_file.clone(),
            home: environment.home.clone(),
        };
        let file = ClientOptions::read(&files)?;
        for path in &file.ignored {
            eprintln!(
                "warning: {}: ignored, because it is world-writable",
                path.display()
            );
        }
        let user = self
            .user
            .as_ref()
            .or(file.user.as_ref())
            .or(environment.user.as_ref());
        let user = user.cloned().ok_or_else(|| {
            Blamed::new(
                Blame::Input,
                "no account name: neither --user nor $USER is set",
            )
        })?;
        let password = match &self.password_file {
            Some(path) => Some(password_file::read(path, "password", &Terminal)?),
            None => file
                .password
                .clone()
                .or_else(|| environment.password.clone()),
        };
        Ok(Endpoint {
            address: self.address(&file, environment)?,
            user,
            password: password.map(Password::from),
            database: file.database.clone(),
            ssl_mode: self.default_ssl_mode(&file)?,
            ssl_ca: file.ssl_ca,
            server_key: match (&file.server_public_key_path, file.get_server_public_key) {
                (Some(path), _) => ServerKey::File(path.clone()),
                (None, true) => ServerKey::Asked,
                (None, false) => ServerKey::Refused,
            },
            compression: if file.compress {
                Compression::Preferred
            } else {
                Compression::Off
            },
            round_trip: Duration::ZERO,
            statement_timeout: None,
            connect_timeout: CONNECT_TIMEOUT,
        })
    }

    /// An explicit port selects TCP and an explicit socket that socket, as in MariaDB's client.
    fn address(&self, file: &ClientOptions, environment: &Environment) -> Result<Address, Blamed> {
        let is_local = |host: &String| host.is_empty() || host == "localhost";
        if let (Some(host), Some(socket)) = (&self.host, &self.socket)
            && !is_local(host)
        {
            let message = format!(
                "host {host} cannot be reached through socket {}",
                socket.display()
            );
            return Err(
                Blamed::new(Blame::Input, message).hint("leave out --host or --socket".to_owned())
            );
        }
        if let Some(socket) = &self.socket {
            return Ok(Address::Unix(socket.clone()));
        }
        let host = self
            .host
            .as_ref()
            .or(file.host.as_ref())
            .or(environment.host.as_ref());
        let host = host.filter(|host| !is_local(host));
        if let Some((name, port)) = host.and_then(|host| host.split_once(':'))
            && !name.is_empty()
            && port.parse::<u16>().is_ok()
        {
            let message = format!("host {name}:{port}: a port is not part of the host");
            let hint = format!("--host {name} --port {port}");
            return Err(Blamed::new(Blame::Input, message).hint(hint));
        }
        let wants_tcp = self.port.is_some() || file.transport == Some(Transport::Tcp);
        if host.is_none()
            && (!wants_tcp || file.transport == Some(Transport::Socket) && self.port.is_none())
        {
            let socket = file.socket.as_ref().or(environment.socket.as_ref());
            return Ok(Address::Unix(
                socket.cloned().unwrap_or_else(default_socket),
            ));
        }
        Ok(Address::Tcp {
            host: host.map_or("127.0.0.1", String::as_str).to_owned(),
            port: self
                .port
                .or(file.port)
                .or(environment.port)
                .unwrap_or(DEFAULT_PORT),
        })
    }

    /// The server key that the command line trusts, if it names one.
    fn server_key(&self) -> Option<ServerKey> {
        match (&self.server_public_key_path, self.get_server_public_key) {
            (Some(path), _) => Some(ServerKey::File(path.clone())),
            (None, true) => Some(ServerKey::Asked),
            (None, false) => None,
        }
    }

    /// Default without `--ssl-mode`: a named authority means that the certificate is verified.
    fn default_ssl_mode(&self, file: &ClientOptions) -> Result<SslMode, Blamed> {
        match &file.ssl_mode {
            Some(mode) => parse_ssl_mode(mode),
            None if self.ssl_ca.is_some() || file.ssl_ca.is_some() => Ok(SslMode::VerifyCa),
            None => Ok(SslMode::Preferred),
        }
    }
}

impl Environment {
    fn read() -> Result<Self, Blamed> {
        let text = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let port = match text("MYSQL_TCP_PORT") {
            None => None,
            Some(port) => Some(port.parse().map_err(|_| {
                Blamed::new(
                    Blame::Input,
                    format!("MYSQL_TCP_PORT: '{port}' is not a port number"),
                )
            })?),
        };
        let is_root = rustix::process::geteuid().is_root();
        Ok(Self {
            host: text("MYSQL_HOST"),
            port,
            socket: text("MYSQL_UNIX_PORT").map(PathBuf::from),
            password: text("MYSQL_PWD"),
            // As in the mysql client: under sudo, USER may still be another user.
            user: if is_root {
                Some("root".to_owned())
            } else {
                text("USER").or_else(|| text("LOGNAME"))
            },
            home: text("HOME").map(PathBuf::from),
        })
    }
}

/// A limit above zero, for example `30s` or `2h`.
fn statement_timeout(text: &str) -> Result<Duration, String> {
    let time = humantime::parse_duration(text);
    let time = time.map_err(|error| format!("{error}; for example 30s or 2h"))?;
    if time.is_zero() {
        Err("a limit above zero is needed, for example 30s".to_owned())
    } else {
        Ok(time)
    }
}

fn parse_ssl_mode(mode: &str) -> Result<SslMode, Blamed> {
    // Both spellings, VERIFY_CA and verify-ca, are accepted.
    let parsed = mode.replace('-', "_").parse::<SslMode>();
    parsed.map_err(|error| Blamed::new(Blame::Input, error))
}

fn default_socket() -> PathBuf {
    found_socket().unwrap_or_else(|| PathBuf::from(SOCKETS[0]))
}

/// The first of the default sockets that exists.
fn found_socket() -> Option<PathBuf> {
    let mut paths = SOCKETS.iter().map(PathBuf::from);
    paths.find(|path| path.exists())
}

/// The unix socket of localhost in the C library: that of MYSQL_UNIX_PORT, or the default one; `None` if it does not
/// exist.
pub(crate) fn local_socket() -> Option<PathBuf> {
    match env::var_os("MYSQL_UNIX_PORT").filter(|path| !path.is_empty()) {
        Some(path) => Some(PathBuf::from(path)).filter(|path| path.exists()),
        None => found_socket(),
    }
}

impl statements::Connection for ConnectionOptions {
    fn endpoint(&self) -> Result<Endpoint, Blamed> {
        self.endpoint()
    }

    fn endpoint_of_server(&self, endpoint: Endpoint) -> Result<Endpoint, Blamed> {
        self.endpoint_of_server(endpoint)
    }

    fn server(&self) -> Option<&str> {
        self.server.as_deref()
    }

    fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    fn statement_timeout(&self) -> Option<Duration> {
        self.statement_timeout
    }
}

#[cfg(test)]
mod tests;
