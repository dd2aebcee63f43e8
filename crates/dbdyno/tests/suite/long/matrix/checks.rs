//! The checks, in the order of their execution on a server.

use crate::long::matrix::{
    activity, advise, compression, config, experiment, life, logins, options, privacy, prove,
    proxy, redo_log, results::Cell, sql_compare, statements, subject::Subject, tls,
};

/// One requirement for a server.
pub(crate) struct Check {
    /// Its row in the table.
    pub(crate) name: &'static str,
    /// Panics if the server or dbdyno does not meet the requirement.
    pub(crate) run: fn(&mut Subject) -> Cell,
}

/// All checks. There is no server after "destroy".
pub(crate) const ALL: [Check; 32] = [
    check("greeting", life::greeting),
    check("refusal in place of the greeting", life::refusal),
    check("reachable from here only", privacy::reach),
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
    check("compressed protocol", compression::everything),
    check("several results", statements::several_results),
    check("logins through the proxy", proxy::logins),
    check("clients through the proxy", proxy::clients),
    check("what the server says of itself", activity::observed),
    check("restart, stop, kill", life::restart_stop_kill),
    check("redo log switched off", redo_log::switched_off),
    check("destroy", life::destroy),
    check("wrong my.cnf", options::refused),
    check("moved my.cnf", config::moved),
    check("made my.cnf", config::made),
    check("proved my.cnf", prove::staged),
    check("compared with MariaDB", sql_compare::versions),
    check("proved advice", advise::staged),
    check("dbdyno run", experiment::run),
    check("dump of MariaDB", experiment::dumped),
];

const fn check(name: &'static str, run: fn(&mut Subject) -> Cell) -> Check {
    Check { name, run }
}

/// Names of the rows of the table.
pub(crate) fn names() -> Vec<&'static str> {
    ALL.iter().map(|check| check.name).collect()
}
