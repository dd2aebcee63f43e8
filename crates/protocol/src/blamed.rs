//! Errors of a server at its address, with their blame.

use blame::{Blame, Blamed};

use crate::{endpoint::Address, error::Error};

impl Error {
    /// This error as one of the server at `address`, or of the connection to it.
    pub fn blamed(&self, address: &Address) -> Blamed {
        // A refused login and an unreachable server are caused by the address or account that the user named.
        let blame = match self.server_number() {
            Some(1044 | 1045 | 1049 | 1130 | 1698 | 1820 | 1862 | 3118 | 4151) => Blame::Input,
            Some(_) => Blame::Server,
            None if self.is_login_refused() => Blame::Input,
            None if self.is_connection_lost() => Blame::Server,
            None => Blame::Input,
        };
        let (hint, number) = (self.hint(), self.server_number());
        let message = match self.server_error() {
            Some(_) => format!("server {address}: {self}"),
            None if self.is_login_refused() || matches!(self, Self::NoAnswer { .. }) => {
                format!("server {address}: {self}")
            }
            // A server that was never reached is not a lost server, nor is one with a failed TLS handshake.
            None if matches!(self, Self::Connect { .. } | Self::Tls { .. }) => self.to_string(),
            None if self.is_connection_lost() => {
                format!("server {address} went away: {self}")
            }
            None => self.to_string(),
        };
        let blamed = Blamed::new(blame, message).hint(hint);
        blamed.caused_by(number.unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ServerError;

    #[test]
    fn a_login_that_is_refused_is_the_users_to_mend() {
        let address = Address::Tcp {
            host: "db1".to_owned(),
            port: 3306,
        };
        let of = |number| {
            let refusal = ServerError {
                number,
                sqlstate: "HY000".into(),
                message: "refused".into(),
            };
            let blamed = Error::Server(refusal).blamed(&address);
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
        let address = Address::Tcp {
            host: "db1".to_owned(),
            port: 3306,
        };
        let error = Error::Tls {
            address: address.to_string(),
            what: "invalid peer certificate".to_owned(),
        };
        let blamed = error.blamed(&address);
        assert_eq!(
            blamed.message,
            "TLS with db1:3306: invalid peer certificate"
        );
        assert!(blamed.hints[0].contains("--ssl-ca"), "{:?}", blamed.hints);
    }
}
