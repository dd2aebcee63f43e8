//! The connection options that client programs read from option files.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::entry::Entry;
use crate::error::Error;
use crate::file::{OptionFile, is_world_writable};
use crate::given_options::Options;
use crate::name::is_switched_on;

/// The groups that dbdyno reads: those of all MySQL and MariaDB clients, and its own.
const GROUPS: [&str; 4] = ["client", "client-server", "client-mariadb", "dbdyno"];

/// The option files to read.
#[derive(Debug, Clone, Default)]
pub struct ClientFiles {
    /// `--no-defaults`: read no file.
    pub no_defaults: bool,
    /// `--defaults-file`: read only this one.
    pub defaults_file: Option<PathBuf>,
    /// `--defaults-extra-file`: read this one after the system's files and before the user's own.
    pub defaults_extra_file: Option<PathBuf>,
    /// The home directory, for `~/.my.cnf`.
    pub home: Option<PathBuf>,
}

/// How to connect to the server: the `protocol` option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// `protocol = tcp`
    Tcp,
    /// `protocol = socket`
    Socket,
}

/// The connection options found in option files; later files and later lines win.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ClientOptions {
    pub user: Option<String>,
    pub password: Option<String>,
    pub host: Option<String>,
    /// `port`; `None` also for 0, which selects the default.
    pub port: Option<u16>,
    pub socket: Option<PathBuf>,
    pub database: Option<String>,
    /// `protocol`
    pub transport: Option<Transport>,
    /// The value of `ssl-mode`, in capitals, from `ssl-mode`, `ssl`, `skip-ssl` or `ssl-verify-server-cert`.
    pub ssl_mode: Option<String>,
    pub ssl_ca: Option<PathBuf>,
    pub get_server_public_key: bool,
    pub server_public_key_path: Option<PathBuf>,
    pub compress: bool,
    /// World-writable files, which are ignored as by the mysql client.
    pub ignored: Vec<PathBuf>,
}

impl ClientOptions {
    /// Reads the option files in the mysql client's order.
    pub fn read(files: &ClientFiles) -> Result<Self, Error> {
        let (options, ignored) = files.options(&GROUPS)?;
        Ok(Self {
            ignored,
            ..Self::from_options(&options)?
        })
    }

    /// Reads the connection options of one file, for example `client.cnf` of a private server.
    pub fn from_file(file: &OptionFile) -> Result<Self, Error> {
        Self::from_options(&Options::from_groups(file, &GROUPS))
    }

    fn from_options(options: &Options) -> Result<Self, Error> {
        let text = |name| options.value(name).map(str::to_owned);
        let path = |name| options.value(name).filter(|value| !value.is_empty());
        Ok(Self {
            user: text("user"),
            password: password(options)?,
            host: text("host").filter(|host| !host.is_empty()),
            port: port(options)?,
            socket: path("socket").map(PathBuf::from),
            database: text("database"),
            transport: transport(options)?,
            ssl_mode: ssl_mode(options)?,
            ssl_ca: path("ssl_ca").map(PathBuf::from),
            get_server_public_key: switch(options, "get_server_public_key")?.unwrap_or(false),
            server_public_key_path: path("server_public_key_path").map(PathBuf::from),
            compress: switch(options, "compress")?.unwrap_or(false),
            ignored: Vec::new(),
        })
    }
}

/// Omits the password.
impl fmt::Debug for ClientOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientOptions")
            .field("user", &self.user)
            .field("password", &self.password.as_ref().map(|_| "..."))
            .field("host", &self.host)
            .field("port", &self.port)
            .field("socket", &self.socket)
            .field("database", &self.database)
            .finish_non_exhaustive()
    }
}

impl ClientFiles {
    /// The options of some groups, in the mysql client's order, and the world-writable files, which are ignored as by
    /// the mysql client.
    ///
    /// Source: MySQL Reference Manual, "Using Option Files".
    pub fn options(&self, groups: &[impl AsRef<str>]) -> Result<(Options, Vec<PathBuf>), Error> {
        let mut options = Options::default();
        let mut ignored = Vec::new();
        for (path, must_exist) in self.paths() {
            if is_world_writable(&path) {
                ignored.push(path);
                continue;
            }
            if !must_exist && path.metadata().is_err() {
                continue;
            }
            match OptionFile::read(&path) {
                Ok(file) => options.add(&file, groups),
                Err(Error::Read { source, .. })
                    if !must_exist && source.kind() == io::ErrorKind::PermissionDenied => {}
                Err(error) => return Err(error),
            }
        }
        Ok((options, ignored))
    }

    /// The files in reading order, each with whether it is required.
    fn paths(&self) -> Vec<(PathBuf, bool)> {
        if self.no_defaults {
            return Vec::new();
        }
        if let Some(only) = &self.defaults_file {
            return vec![(only.clone(), true)];
        }
        let system = ["/etc/my.cnf", "/etc/mysql/my.cnf"];
        let mut paths: Vec<_> = system.map(|path| (PathBuf::from(path), false)).into();
        paths.extend(self.defaults_extra_file.clone().map(|path| (path, true)));
        let own = self.home.as_deref().map(|home: &Path| home.join(".my.cnf"));
        paths.extend(own.map(|path| (path, false)));
        paths
    }
}

fn wrong_value(entry: &Entry, expected: &'static str) -> Error {
    Error::Value {
        at: entry.origin.clone(),
        name: entry.name.as_written().to_owned(),
        value: entry.value.clone().unwrap_or_default(),
        expected,
    }
}

/// `password` without a value makes the mysql client prompt, which is impossible during a benchmark.
fn password(options: &Options) -> Result<Option<String>, Error> {
    match options.last("password") {
        None => Ok(None),
        Some(entry) if entry.name.switches_off() => Ok(None),
        Some(entry) if entry.value.is_none() => Err(Error::Syntax {
            at: entry.origin.clone(),
            what: "the option password has no value, and dbdyno does not prompt",
        }),
        Some(entry) => Ok(entry.value.clone()),
    }
}

fn port(options: &Options) -> Result<Option<u16>, Error> {
    let Some(entry) = options.last("port") else {
        return Ok(None);
    };
    match entry.value.as_deref().unwrap_or_default().parse() {
        Ok(0) => Ok(None),
        Ok(port) => Ok(Some(port)),
        Err(_) => Err(wrong_value(entry, "a port number")),
    }
}

fn transport(options: &Options) -> Result<Option<Transport>, Error> {
    let Some(entry) = options.last("protocol") else {
        return Ok(None);
    };
    match entry
        .value
        .as_deref()
        .unwrap_or_default()
        .to_ascii_lowercase()
        .as_str()
    {
        "tcp" => Ok(Some(Transport::Tcp)),
        "socket" => Ok(Some(Transport::Socket)),
        "" | "default" => Ok(None),
        _ => Err(wrong_value(entry, "tcp or socket")),
    }
}

fn switch(options: &Options, name: &str) -> Result<Option<bool>, Error> {
    match options.last(name) {
        None => Ok(None),
        Some(entry) => is_switched_on(&entry.name, entry.value.as_deref())
            .map(Some)
            .ok_or_else(|| wrong_value(entry, "0 or 1")),
    }
}

fn ssl_mode(options: &Options) -> Result<Option<String>, Error> {
    const MODES: [&str; 5] = [
        "DISABLED",
        "PREFERRED",
        "REQUIRED",
        "VERIFY_CA",
        "VERIFY_IDENTITY",
    ];
    if let Some(entry) = options.last("ssl_mode") {
        let mode = entry
            .value
            .as_deref()
            .unwrap_or_default()
            .to_ascii_uppercase();
        return if MODES.contains(&mode.as_str()) {
            Ok(Some(mode))
        } else {
            Err(wrong_value(
                entry,
                "DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY",
            ))
        };
    }
    let verify = switch(options, "ssl_verify_server_cert")?;
    Ok(match (switch(options, "ssl")?, verify) {
        (Some(false), _) => Some("DISABLED".to_owned()),
        (_, Some(true)) => Some("VERIFY_IDENTITY".to_owned()),
        (Some(true), _) => Some("REQUIRED".to_owned()),
        (None, _) => None,
    })
}
