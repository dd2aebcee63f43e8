//! The prepared statements of a run's connections, against what the server allows.

use std::{collections::BTreeMap, ops::Add};

use blame::{Blame, Blamed};
use protocol::{Connection, Endpoint};

use crate::control::{control, number};

/// Prepared statements that connections keep on their server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PreparedStatements {
    pub connections: u64,
    /// Statements of all of them.
    pub statements: u64,
}

impl PreparedStatements {
    /// Of this number of connections that prepare `each` statements.
    pub fn of(connections: u32, each: u64) -> Self {
        let connections = u64::from(connections);
        Self {
            connections,
            statements: connections.saturating_mul(each),
        }
    }

    /// The number that a server allows; `None` if it does not say one.
    async fn allowed(connection: &mut Connection) -> Result<Option<u64>, protocol::Error> {
        number(connection, "select @@max_prepared_stmt_count").await
    }

    /// An error if there are more than this number, at which a load would fail while it connects; `remedy` says how to
    /// allow as many.
    fn refuse_beyond(
        self,
        allowed: Option<u64>,
        remedy: impl FnOnce(u64) -> String,
    ) -> Result<(), Blamed> {
        let Self {
            connections,
            statements,
        } = self;
        match allowed.filter(|allowed| *allowed < statements) {
            None => Ok(()),
            Some(allowed) => {
                let message = format!(
                    "{connections} connections prepare {statements} statements, but the server allows only {allowed}"
                );
                Err(Blamed::new(Blame::Input, message).hint(remedy(statements)))
            }
        }
    }

    /// The same, by a server's variables.
    pub(crate) fn refuse_by(
        self,
        variables: &BTreeMap<String, String>,
        remedy: impl FnOnce(u64) -> String,
    ) -> Result<(), Blamed> {
        let allowed = variables.get("max_prepared_stmt_count");
        self.refuse_beyond(allowed.and_then(|all| all.parse().ok()), remedy)
    }

    /// The same, asking the server.
    pub(crate) fn refuse_on(
        self,
        endpoint: &Endpoint,
        remedy: impl FnOnce(u64) -> String,
    ) -> Result<(), Blamed> {
        if self.statements == 0 {
            return Ok(());
        }
        self.refuse_beyond(control(endpoint, Self::allowed)?, remedy)
    }
}

impl Add for PreparedStatements {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            connections: self.connections + other.connections,
            statements: self.statements.saturating_add(other.statements),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_than_the_server_allows_is_refused() {
        let wanted = PreparedStatements::of(4, 21) + PreparedStatements::of(1, 2);
        for allowed in [None, Some(86), Some(16_382)] {
            assert!(wanted.refuse_beyond(allowed, |_| String::new()).is_ok());
        }
        let error = wanted.refuse_beyond(Some(85), |all| format!("allow {all}"));
        let error = error.unwrap_err();
        assert_eq!(
            error.message,
            "5 connections prepare 86 statements, but the server allows only 85"
        );
        assert_eq!(error.hints, ["allow 86"]);
        assert_eq!(error.blame, Blame::Input);
    }
}
