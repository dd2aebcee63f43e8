//! The checks, in the order in which a server meets them.

use crate::{experiment, life, logins, results::Cell, statements, subject::Subject, tls};

/// One thing that a server must do.
pub(crate) struct Check {
    /// Its row in the table.
    pub(crate) name: &'static str,
    /// Panics where the server or dbdyno does not do it.
    pub(crate) run: fn(&mut Subject) -> Cell,
}

/// All of them. The last ones end the server.
pub(crate) const ALL: [Check; 18] = [
    check("greeting", life::greeting),
    check("refusal in place of the greeting", life::refusal),
    check("native", logins::native),
    check("caching_sha2, RSA", logins::caching_sha2_by_rsa),
    check("caching_sha2, TLS", logins::caching_sha2_by_tls),
    check("caching_sha2, socket", logins::caching_sha2_by_socket),
    check("sha256, RSA", logins::sha256_by_rsa),
    check("sha256, TLS", logins::sha256_by_tls),
    check("sha256, socket", logins::sha256_by_socket),
    check("ed25519", logins::ed25519),
    check("parsec", logins::parsec),
    check("operating system's account", logins::system_account),
    check("TLS levels", tls::levels),
    check("LOAD DATA LOCAL", statements::load_local),
    check("prepared statements", statements::prepared),
    check("several results", statements::several_results),
    check("restart, stop, destroy", life::restart_stop_destroy),
    check("dbdyno run", experiment::run),
];

const fn check(name: &'static str, run: fn(&mut Subject) -> Cell) -> Check {
    Check { name, run }
}

/// The rows of the table.
pub(crate) fn names() -> Vec<&'static str> {
    ALL.iter().map(|check| check.name).collect()
}
