//! The tools that a link to dbdyno acts as.

/// Their names, under which a record's command line also begins.
pub(crate) const LINKED_TOOLS: [&str; 7] = [
    "super-smack",
    "mysqlslap",
    "mariadb-slap",
    "tpcc_load",
    "tpcc_start",
    "gen-data",
    "mysql-proxy",
];
