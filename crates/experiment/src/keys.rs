//! The keys of an experiment file's tables, apart from those of a kind of load or data.

/// Those of `[load]`; a table of several loads also has `name`.
pub const LOAD: [&str; 15] = [
    "connections",
    "stages",
    "pause",
    "warmup",
    "warmup_at_most",
    "state",
    "duration",
    "precision",
    "rate",
    "find",
    "arrivals",
    "think_time",
    "loops",
    "spin",
    "on_error",
];

/// Those of `[server]`.
pub(crate) const SERVER: &[&str] = &[
    "run",
    "cnf",
    "set",
    "restart",
    "datadir",
    "limit",
    "address",
    "on_this_server",
    "user",
    "password_file",
    "database",
    "ssl_mode",
    "ssl_ca",
    "connect",
    "compress",
    "round_trip",
    "statement_timeout",
    "observe",
    "observe_secret_file",
    "observe_program",
    "observe_ssh",
];

/// Those of `[data]`.
pub const DATA: [&str; 3] = ["restore", "cache", "shared"];

/// The table that has this key, for a key that is written in another one.
pub(crate) fn table_with(key: &str) -> Option<&'static str> {
    let tables: [(&str, &[&str]); 3] = [("[load]", &LOAD), ("[server]", SERVER), ("[data]", &DATA)];
    let with_key = tables.into_iter().find(|(_, keys)| keys.contains(&key));
    with_key.map(|(table, _)| table)
}
