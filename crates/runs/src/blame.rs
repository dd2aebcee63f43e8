//! An error with the party responsible for it, which is the exit code.

use std::{fmt, io, path::Path};

use crate::exit_code::Blame;

/// An error with the responsible party and, where the user can act, a hint.
#[derive(Debug)]
pub struct Blamed {
    /// The responsible party.
    pub blame: Blame,
    /// Message: the affected thing, then the cause.
    pub message: String,
    /// Suggested actions, in the order of their use.
    pub hints: Vec<String>,
    /// Number of the server's error, if it is the cause.
    pub server_error: Option<u16>,
}

impl Blamed {
    /// An error without a hint.
    pub fn new(blame: Blame, message: impl fmt::Display) -> Self {
        Self {
            blame,
            message: message.to_string(),
            hints: Vec::new(),
            server_error: None,
        }
    }

    /// An error of the machine that names the thing itself.
    pub fn machine(error: impl fmt::Display) -> Self {
        Self::new(Blame::Machine, error)
    }

    /// Makes an error about a file or directory of one from the system: `results/a: Permission denied`. A full disk is
    /// the machine's, whoever named the path.
    pub fn io(blame: Blame, path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |error| {
            let blame = if is_full(&error) {
                Blame::Machine
            } else {
                blame
            };
            Self::new(blame, format!("{}: {error}", path.display()))
        }
    }

    /// The same error with the number of the server's error that is its cause; 0 for a cause on our side.
    pub(crate) fn caused_by(self, number: u16) -> Self {
        Self {
            server_error: Some(number).filter(|number| *number > 0),
            ..self
        }
    }

    /// The same error with one more hint, if there is one.
    pub fn hint(mut self, hint: impl Into<Option<String>>) -> Self {
        self.hints.extend(hint.into());
        self
    }
}

impl fmt::Display for Blamed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Blamed {}

impl Blamed {
    /// An error of the server at `address`, or of the connection to it.
    pub fn of_server(address: &protocol::Address, error: protocol::Error) -> Self {
        // A refused login and an unreachable server are caused by the address or account that the user named.
        let blame = match error.server_number() {
            Some(1044 | 1045 | 1049 | 1130 | 1698 | 1820 | 1862 | 3118 | 4151) => Blame::Input,
            Some(_) => Blame::Server,
            None if error.is_login_refused() => Blame::Input,
            None if error.is_connection_lost() => Blame::Server,
            None => Blame::Input,
        };
        let (hint, number) = (error.hint(), error.server_number());
        let message = match error.server_error() {
            Some(_) => format!("server {address}: {error}"),
            None if error.is_login_refused()
                || matches!(error, protocol::Error::NoAnswer { .. }) =>
            {
                format!("server {address}: {error}")
            }
            // A server that was never reached is not a lost server, nor is one with a failed TLS handshake.
            None if matches!(
                error,
                protocol::Error::Connect { .. } | protocol::Error::Tls { .. }
            ) =>
            {
                error.to_string()
            }
            None if error.is_connection_lost() => {
                format!("server {address} went away: {error}")
            }
            None => error.to_string(),
        };
        let blamed = Self::new(blame, message).hint(hint);
        blamed.caused_by(number.unwrap_or(0))
    }
}

/// The hint for a server that refuses connections with this error.
pub fn hint_to_refusal(number: u16) -> Option<String> {
    let limit = match number {
        1040 => "raise max_connections",
        1203 => "raise max_user_connections",
        1226 => {
            "raise the account's limit (ALTER USER ... WITH MAX_USER_CONNECTIONS), or max_user_connections"
        }
        _ => return None,
    };
    Some(format!("{limit}, or use fewer connections"))
}

impl From<samples::WriteError> for Blamed {
    fn from(error: samples::WriteError) -> Self {
        let full = is_full(&error.source);
        let hint = full.then(|| "free some space, then continue with --resume".to_owned());
        Self::new(Blame::Machine, error).hint(hint)
    }
}

impl From<load::Error> for Blamed {
    fn from(error: load::Error) -> Self {
        match &error {
            load::Error::Connect { failure, .. } if failure.is_of_input => {
                Self::new(Blame::Input, failure)
            }
            load::Error::Connect { failure, .. } => {
                let blamed = Self::new(Blame::Server, &error);
                blamed
                    .hint(hint_to_refusal(failure.number))
                    .caused_by(failure.number)
            }
            load::Error::EventLoop(_) => Self::new(Blame::Machine, &error),
            load::Error::Interrupted => Self::new(Blame::Interrupted, &error),
        }
    }
}

impl From<workload::smack::Error> for Blamed {
    fn from(error: workload::smack::Error) -> Self {
        use workload::smack::Error;
        let hint = error.hint();
        match error {
            Error::Statement { source, .. } if source.is_connection_lost() => {
                Self::new(Blame::Server, source).hint(hint)
            }
            Error::Statement { .. } => Self::new(Blame::Server, error).hint(hint),
            _ => Self::new(Blame::Input, error).hint(hint),
        }
    }
}

impl From<workload::script::Error> for Blamed {
    fn from(error: workload::script::Error) -> Self {
        let hint = error.hint();
        Self::new(Blame::Input, error).hint(hint)
    }
}

impl From<experiment::Error> for Blamed {
    fn from(error: experiment::Error) -> Self {
        if let experiment::Error::Io { source, .. } = &error
            && is_full(source)
        {
            let hint = "free some space, or name another directory with --results".to_owned();
            return Self::new(Blame::Machine, error).hint(hint);
        }
        let hint = error.hint();
        Self::new(Blame::Input, error).hint(hint)
    }
}

impl From<server::LimitError> for Blamed {
    fn from(error: server::LimitError) -> Self {
        let hint = error.hint().to_owned();
        Self::new(Blame::Input, error).hint(hint)
    }
}

/// Whether a file could not be written for lack of space.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// Whether the user interrupted the wait for a server's process.
fn is_interrupted(error: &server::Error) -> bool {
    let server::Error::Io { source, .. } = error else {
        return false;
    };
    source.kind() == std::io::ErrorKind::Interrupted
}

impl From<storage::Error> for Blamed {
    fn from(error: storage::Error) -> Self {
        let blame = match error.fault() {
            storage::Fault::Input => Blame::Input,
            storage::Fault::Machine => Blame::Machine,
            storage::Fault::Interrupted => Blame::Interrupted,
        };
        let hint = error.hint();
        Self::new(blame, error).hint(hint)
    }
}

impl From<server::Error> for Blamed {
    fn from(error: server::Error) -> Self {
        let blame = match error.fault() {
            _ if is_interrupted(&error) => Blame::Interrupted,
            server::Fault::Input => Blame::Input,
            server::Fault::Server => Blame::Server,
            server::Fault::Machine => Blame::Machine,
        };
        let hint = error.hint();
        Self::new(blame, error).hint(hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_is_refused_is_the_users_to_mend() {
        let address = protocol::Address::Tcp {
            host: "db1".to_owned(),
            port: 3306,
        };
        let of = |number| {
            let refusal = protocol::ServerError {
                number,
                sqlstate: "HY000".into(),
                message: "refused".into(),
            };
            let blamed = Blamed::of_server(&address, protocol::Error::Server(refusal));
            (blamed.blame, blamed.hints.is_empty())
        };
        // Wrong password, no such host, expired (twice), locked by MySQL and by MariaDB.
        for number in [1045, 1130, 1820, 1862, 3118, 4151] {
            assert_eq!(of(number), (Blame::Input, false), "{number}");
        }
        assert_eq!(of(1213).0, Blame::Server);
    }

    #[test]
    fn a_server_with_whom_no_tls_came_about_did_not_go_away() {
        let address = protocol::Address::Tcp {
            host: "db1".to_owned(),
            port: 3306,
        };
        let error = protocol::Error::Tls {
            address: address.to_string(),
            what: "invalid peer certificate".to_owned(),
        };
        let blamed = Blamed::of_server(&address, error);
        assert_eq!(
            blamed.message,
            "TLS with db1:3306: invalid peer certificate"
        );
        assert!(blamed.hints[0].contains("--ssl-ca"), "{:?}", blamed.hints);
    }

    #[test]
    fn a_full_disk_is_the_machines_fault() {
        let of = |kind: io::ErrorKind| {
            let error = experiment::Error::Io {
                action: "write",
                path: "out/experiment.json".into(),
                source: kind.into(),
            };
            Blamed::from(error).blame
        };
        assert_eq!(of(io::ErrorKind::StorageFull), Blame::Machine);
        assert_eq!(of(io::ErrorKind::QuotaExceeded), Blame::Machine);
        assert_eq!(of(io::ErrorKind::PermissionDenied), Blame::Input);
    }
}
