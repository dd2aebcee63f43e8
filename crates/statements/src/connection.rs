//! The way to the servers on which statements are executed.

use std::time::Duration;

use blame::Blamed;
use protocol::Endpoint;

/// What a user said of the connection.
pub trait Connection {
    /// The server that the user named, with the account.
    fn endpoint(&self) -> Result<Endpoint, Blamed>;

    /// The endpoint of a private server, with what the user said otherwise.
    fn endpoint_of_server(&self, endpoint: Endpoint) -> Result<Endpoint, Blamed>;

    /// The name of the private server that the user named; `None` for a server that dbdyno did not create.
    fn server(&self) -> Option<&str>;

    fn database(&self) -> Option<&str>;

    /// The time limit of statements outside of what is measured.
    fn statement_timeout(&self) -> Option<Duration>;
}
