//! `[server]`: a private server to start, or an existing one.

use std::{collections::BTreeMap, path::PathBuf};

use settings::{GroupLimits, limits};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    keys,
    spec::{
        compared_versions::OF_COMPARED_VERSIONS,
        observe::{self, Observe},
        server_access::ServerAccess,
    },
};

const PRIVATE_ONLY: &[&str] = &["cnf", "set", "restart", "datadir", "limit"];
const GIVEN_ONLY: &[&str] = &[
    "on_this_server",
    "user",
    "password_file",
    "database",
    "ssl_mode",
    "ssl_ca",
];

/// The server of one run.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerSpec {
    /// None: the load needs none.
    Absent,
    /// dbdyno starts its own server.
    Private {
        /// Flavour and version, such as `mariadb-10.11`; `None` for any installed one.
        run: Option<String>,
        /// Option files, layered in this order.
        cnf: Vec<PathBuf>,
        /// Single options, which win over the files.
        set: BTreeMap<String, String>,
        /// Options that hold unless a file or `set` has them: [`OF_COMPARED_VERSIONS`] where there are several versions.
        defaults: &'static [(&'static str, &'static str)],
        restart: Restart,
        /// The directory in which the server is created; `None` for the default.
        datadir: Option<PathBuf>,
        /// What the kernel limits it to.
        limit: GroupLimits,
        access: ServerAccess,
    },
    /// An existing server, which is never restarted, and whose variables are changed only if that is asked for.
    Given {
        /// `db1:3306`, or the path of a unix socket.
        address: String,
        /// Variables that are set by SET GLOBAL before each turn (`on_this_server`), and put back at the end.
        set: BTreeMap<String, String>,
        /// `None` for the user in the option files.
        user: Option<String>,
        /// File whose first line is the password.
        password_file: Option<PathBuf>,
        /// Database of the connections, `None` for the workload's own.
        database: Option<String>,
        /// Spelt as in the mysql client: `VERIFY_CA`.
        ssl_mode: Option<String>,
        /// Certificates for verifying the server's certificate.
        ssl_ca: Option<PathBuf>,
        /// The observer of its machine; `None` without one.
        observe: Option<Observe>,
        access: ServerAccess,
    },
}

/// How often a private server is restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restart {
    /// Before every run: each is an execution of its own, the unit of replication.
    PerRun,
    /// Before the first run of each block.
    PerBlock,
    /// Started once.
    Never,
}

impl ServerSpec {
    /// Reads `[server]` for one combination.
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, Error> {
        section.allow(keys::SERVER)?;
        let found = if section.value("address").is_some() {
            "`address`"
        } else {
            "no `address`"
        };
        if section.value("address").is_some() && section.value("run").is_some() {
            return Err(section.error_at(
                "run",
                Problem::OtherServer {
                    key: "run",
                    needs: "a private server",
                    found,
                },
            ));
        }
        let (forbidden, needs) = if section.value("address").is_some() {
            (PRIVATE_ONLY.to_vec(), "a private server")
        } else {
            let given_only = [GIVEN_ONLY, observe::KEYS.as_slice()].concat();
            (given_only, "an existing server")
        };
        let is_set_here = section.flag("on_this_server")?.unwrap_or(false);
        if let Some(key) = forbidden
            .into_iter()
            .find(|key| section.value(key).is_some() && !(is_set_here && *key == "set"))
        {
            let problem = Problem::OtherServer { key, needs, found };
            return Err(section.error_at(key, problem));
        }
        if is_set_here && options(section)?.is_empty() {
            let problem = "`on_this_server` needs `set`, the variables to compare".to_owned();
            let hint = "write set = { VARIABLE = \"{factor}\" } under [server]";
            return Err(section.error_at("on_this_server", Problem::Conflict { problem, hint }));
        }
        match section.parsed(
            "address",
            "\"host\", \"host:port\" or the path of a socket",
            address,
        )? {
            Some(address) => Self::given(section, address),
            None => Self::private(section),
        }
    }

    fn private(section: &Section<'_>) -> Result<Self, Error> {
        let cnf = section.list("cnf")?.unwrap_or_default();
        let cnf = cnf
            .iter()
            .map(|file| file.own_file("option file"))
            .collect::<Result<_, _>>()?;
        let restart = section.choice(
            "restart",
            &[
                ("per-run", Restart::PerRun),
                ("per-block", Restart::PerBlock),
                ("never", Restart::Never),
            ],
        )?;
        Ok(Self::Private {
            run: section.string("run")?.map(|run| run.value),
            cnf,
            set: options(section)?,
            defaults: &[],
            restart: restart.unwrap_or(Restart::PerRun),
            datadir: section
                .string("datadir")?
                .map(|directory| directory.directory("datadir"))
                .transpose()?,
            limit: limit(section)?,
            access: ServerAccess::read(section, true)?,
        })
    }

    fn given(section: &Section<'_>, address: String) -> Result<Self, Error> {
        let file = |key, what| section.string(key)?.map(|file| file.file(what)).transpose();
        let ssl_mode = section.choice(
            "ssl_mode",
            &[
                ("DISABLED", "DISABLED"),
                ("PREFERRED", "PREFERRED"),
                ("REQUIRED", "REQUIRED"),
                ("VERIFY_CA", "VERIFY_CA"),
                ("VERIFY_IDENTITY", "VERIFY_IDENTITY"),
            ],
        )?;
        Ok(Self::Given {
            address,
            set: options(section)?,
            user: section.string("user")?.map(|user| user.value),
            password_file: file("password_file", "password file")?,
            database: section.string("database")?.map(|database| database.value),
            ssl_mode: ssl_mode.map(str::to_owned),
            ssl_ca: file("ssl_ca", "certificate file")?,
            observe: Observe::read(section)?,
            access: ServerAccess::read(section, false)?,
        })
    }

    /// The existing server at this address, with everything else by default.
    pub(crate) fn at(address: String) -> Self {
        Self::Given {
            address,
            set: BTreeMap::new(),
            user: None,
            password_file: None,
            database: None,
            ssl_mode: None,
            ssl_ca: None,
            observe: None,
            access: ServerAccess::default(),
        }
    }

    /// Puts it beside servers of other versions.
    pub(crate) fn set_among_versions(&mut self) {
        if let Self::Private { defaults, .. } = self {
            *defaults = OF_COMPARED_VERSIONS;
        }
    }

    /// The value of an option in `set`, which may be written with `-` or `_`.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        let Self::Private { set, .. } = self else {
            return None;
        };
        let mut options = set.iter();
        let found = options.find(|(option, _)| is_option(option, name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn access(&self) -> ServerAccess {
        match self {
            Self::Absent => ServerAccess::default(),
            Self::Private { access, .. } | Self::Given { access, .. } => *access,
        }
    }

    /// True if both are the same server with the same settings, whatever the clients' access; a limit can change while
    /// the server runs, and so can variables that are set on an existing server.
    pub fn starts_like(&self, other: &Self) -> bool {
        let (mut one, mut two) = (self.clone(), other.clone());
        for server in [&mut one, &mut two] {
            if let Self::Private { access, .. } | Self::Given { access, .. } = server {
                *access = ServerAccess::default();
            }
            match server {
                Self::Private { limit, .. } => *limit = GroupLimits::default(),
                Self::Given { set, .. } => set.clear(),
                Self::Absent => {}
            }
        }
        one == two
    }

    /// The variables that are set on an existing server before each turn; none for other servers.
    pub fn set_by_turns(&self) -> BTreeMap<String, String> {
        match self {
            Self::Given { set, .. } => set.clone(),
            Self::Private { .. } | Self::Absent => BTreeMap::new(),
        }
    }

    /// What the kernel limits it to; nothing for an existing server.
    pub fn limit(&self) -> GroupLimits {
        match self {
            Self::Private { limit, .. } => *limit,
            Self::Given { .. } | Self::Absent => GroupLimits::default(),
        }
    }

    /// How often it is restarted; an existing server never is.
    pub(crate) fn restart(&self) -> Restart {
        match self {
            Self::Private { restart, .. } => *restart,
            Self::Given { .. } | Self::Absent => Restart::Never,
        }
    }
}

impl Restart {
    /// The spelling in the file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::PerRun => "per-run",
            Self::PerBlock => "per-block",
            Self::Never => "never",
        }
    }
}

/// True when both name the same option, with `-` or `_`, and with or without `loose-`.
pub(crate) fn is_option(written: &str, name: &str) -> bool {
    let plain = |name: &str| {
        let name = name.replace('-', "_").to_ascii_lowercase();
        name.strip_prefix("loose_").unwrap_or(&name).to_owned()
    };
    plain(written) == plain(name)
}

/// Reads the table `set`.
fn options(section: &Section<'_>) -> Result<BTreeMap<String, String>, Error> {
    let options = section.section("set", "[server] set")?.scalars()?;
    let options = options.into_iter();
    Ok(options
        .map(|option| (option.key.to_owned(), option.value))
        .collect())
}

/// Reads the table `limit`.
fn limit(section: &Section<'_>) -> Result<GroupLimits, Error> {
    let table = section.section("limit", "[server] limit")?;
    table.allow(limits::KEYS)?;
    let mut found = GroupLimits::default();
    for key in limits::KEYS {
        table.parsed(key, &limits::expected(key), |text| found.set(key, text))?;
    }
    Ok(found)
}

/// A valid address: a path, or a host with or without a port.
fn address(text: &str) -> Option<String> {
    let port_of = |text: &str| text.parse::<u16>().is_ok_and(|port| port > 0);
    let plausible = if text.starts_with('/') {
        text.len() > 1
    } else if let Some(rest) = text.strip_prefix('[') {
        rest.split_once(']').is_some_and(|(host, port)| {
            !host.is_empty() && (port.is_empty() || port.strip_prefix(':').is_some_and(port_of))
        })
    } else {
        match text.split_once(':') {
            Some((host, port)) => !host.is_empty() && port_of(port),
            None => !text.is_empty(),
        }
    };
    (plausible && !text.contains(char::is_whitespace)).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for good in [
            "db1",
            "db1:3306",
            "/run/x.sock",
            "[::1]:3306",
            "[::1]",
            "10.0.0.1:1",
        ] {
            assert!(address(good).is_some(), "{good}");
        }
        for bad in [
            "",
            ":3306",
            "db1:",
            "db1:0",
            "db1:99999",
            "::1",
            "[]:1",
            "[::1",
            "a b",
            "/",
        ] {
            assert!(address(bad).is_none(), "{bad}");
        }
    }
}
