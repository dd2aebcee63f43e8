//! The keys `observe…` of `[server]`: the observer of a remote server's machine.

use std::{fmt, path::PathBuf, str::FromStr};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
};

/// The keys for observation.
pub(crate) const KEYS: [&str; 4] = [
    "observe",
    "observe_secret_file",
    "observe_program",
    "observe_ssh",
];

/// The valid values of `observe`.
const EXPECTED: &str = "\"ssh://host\", \"ssh://user@host:port\" or \"tcp://host:port\"";

/// The observer of a remote server's machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observe {
    pub address: ObserverAddress,
    /// File whose first line is the shared secret; required for `tcp` and not allowed otherwise.
    pub secret_file: Option<PathBuf>,
    /// The command that starts dbdyno in the shell there, `None` for `dbdyno`; only for `ssh`.
    pub program: Option<String>,
    /// ssh and its options, separated by blanks, `None` for `ssh`; only for `ssh`.
    pub ssh: Option<String>,
}

/// The address of an observer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObserverAddress {
    /// ssh starts it on that host.
    Ssh {
        /// `host` or `user@host`.
        destination: String,
        /// `None` for the port in ssh's configuration.
        port: Option<u16>,
    },
    /// It listens on TCP.
    Tcp {
        /// Name or address; IPv6 without brackets.
        host: String,
        port: u16,
    },
}

/// A text that is not the address of an observer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected ssh://host, ssh://user@host:port or tcp://host:port")]
pub struct NoObserverAddress;

impl FromStr for ObserverAddress {
    type Err = NoObserverAddress;

    fn from_str(text: &str) -> Result<Self, NoObserverAddress> {
        let parsed = || {
            if let Some(rest) = text.strip_prefix("tcp://") {
                let (host, port) = host_and_port(rest)?;
                return Some(Self::Tcp { host, port: port? });
            }
            let rest = text.strip_prefix("ssh://")?;
            let (user, rest) = match rest.rsplit_once('@') {
                Some((user, rest)) => (Some(user), rest),
                None => (None, rest),
            };
            let (host, port) = host_and_port(rest)?;
            let destination = match user {
                // At the start of the destination it could be an option of ssh.
                Some(user) if user.is_empty() || user.starts_with('-') => return None,
                Some(user) => format!("{user}@{host}"),
                None => host,
            };
            Some(Self::Ssh { destination, port })
        };
        let is_plain = !text.contains(|it: char| it.is_whitespace() || it.is_control());
        parsed().filter(|_| is_plain).ok_or(NoObserverAddress)
    }
}

impl fmt::Display for ObserverAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh { destination, port } => {
                let (user, host) = match destination.split_once('@') {
                    Some((user, host)) => (format!("{user}@"), host),
                    None => (String::new(), destination.as_str()),
                };
                write!(formatter, "ssh://{user}{}", bracketed(host))?;
                port.map_or(Ok(()), |port| write!(formatter, ":{port}"))
            }
            Self::Tcp { host, port } => write!(formatter, "tcp://{}:{port}", bracketed(host)),
        }
    }
}

fn bracketed(host: &str) -> String {
    if host.contains(':') {
        format!("[{host}]")
    } else {
        host.to_owned()
    }
}

/// Splits `host`, `host:port`, `[::1]` or `[::1]:port`.
fn host_and_port(text: &str) -> Option<(String, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            match rest.strip_prefix(':') {
                Some(port) => (host, Some(port)),
                None if rest.is_empty() => (host, None),
                None => return None,
            }
        }
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    let port = match port {
        Some(port) => Some(port.parse().ok().filter(|port| *port > 0)?),
        None => None,
    };
    let is_host =
        !host.is_empty() && !host.starts_with('-') && !host.contains(['/', '@', '[', ']']);
    is_host.then(|| (host.to_owned(), port))
}

impl Observe {
    /// Reads the keys; `None` without `observe`.
    pub(crate) fn read(section: &Section<'_>) -> Result<Option<Self>, Error> {
        let address = section.parsed("observe", EXPECTED, |text| text.parse().ok())?;
        let secret_file = section.string("observe_secret_file")?;
        let [program, ssh] = ["observe_program", "observe_ssh"].map(|key| section.string(key));
        let (program, ssh) = (program?, ssh?);
        let beside = [
            ("observe_secret_file", secret_file.is_some()),
            ("observe_program", program.is_some()),
            ("observe_ssh", ssh.is_some()),
        ];
        let Some(address) = address else {
            return if beside.iter().any(|(_, is_there)| *is_there) {
                section.required("observe", None, "observe = \"ssh://db1\"")
            } else {
                Ok(None)
            };
        };
        for (key, is_there) in beside {
            let is_for_tcp = key == "observe_secret_file";
            if is_there && is_for_tcp != matches!(address, ObserverAddress::Tcp { .. }) {
                let other = format!("observe = \"{address}\"");
                return Err(section.error_at(key, Problem::NoMeaning { key, other }));
            }
        }
        let secret_file = secret_file
            .map(|file| file.file("secret file"))
            .transpose()?;
        if matches!(address, ObserverAddress::Tcp { .. }) {
            let example = "observe_secret_file = \"observe.secret\"";
            section.required("observe_secret_file", secret_file.as_ref(), example)?;
        }
        let filled = |text: Option<crate::file::text::Text<'_>>| {
            let said = |text: &str| Some(text.trim().to_owned()).filter(|it| !it.is_empty());
            text.map(|text| text.parsed("a command", said)).transpose()
        };
        Ok(Some(Self {
            address,
            secret_file,
            program: filled(program)?,
            ssh: filled(ssh)?,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        let ssh = |destination: &str, port| ObserverAddress::Ssh {
            destination: destination.to_owned(),
            port,
        };
        let tcp = |host: &str, port| ObserverAddress::Tcp {
            host: host.to_owned(),
            port,
        };
        for (text, address) in [
            ("ssh://db1", ssh("db1", None)),
            ("ssh://dba@db1:2222", ssh("dba@db1", Some(2222))),
            ("ssh://a@b@db1", ssh("a@b@db1", None)),
            ("ssh://dba@[fe80::1]:22", ssh("dba@fe80::1", Some(22))),
            ("tcp://db1:7306", tcp("db1", 7306)),
            ("tcp://[::1]:7306", tcp("::1", 7306)),
        ] {
            assert_eq!(text.parse(), Ok(address.clone()), "{text}");
            if !text.contains("a@b") {
                assert_eq!(address.to_string(), text);
            }
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "db1",
            "db1:7306",
            "http://db1:7306",
            "tcp://db1",
            "tcp://:7306",
            "tcp://db1:0",
            "tcp://db1:70000",
            "tcp://dba@db1:7306",
            "tcp://::1:7306",
            "ssh://",
            "ssh://@db1",
            "ssh://-oProxyCommand=x",
            "ssh://-x@db1",
            "ssh://db1/path",
            "ssh://db 1",
            "ssh://db1:x",
            "ssh://[::1]x",
        ] {
            assert_eq!(
                text.parse::<ObserverAddress>(),
                Err(NoObserverAddress),
                "{text}"
            );
        }
    }
}
