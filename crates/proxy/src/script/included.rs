//! The scripts of `crates/proxy/scripts/`, which other scripts require by their names without any path.

/// The scripts that are included, which others require by their names.
pub(super) const SCRIPTS: &[(&str, &str)] = &[
    (
        "active-queries",
        include_str!("../../scripts/active-queries.lua"),
    ),
    (
        "active-transactions",
        include_str!("../../scripts/active-transactions.lua"),
    ),
    ("admin", include_str!("../../scripts/admin.lua")),
    ("admin-sql", include_str!("../../scripts/admin-sql.lua")),
    (
        "analyze-query",
        include_str!("../../scripts/analyze-query.lua"),
    ),
    ("auditing", include_str!("../../scripts/auditing.lua")),
    (
        "commit-obfuscator",
        include_str!("../../scripts/commit-obfuscator.lua"),
    ),
    ("histogram", include_str!("../../scripts/histogram.lua")),
    ("load-multi", include_str!("../../scripts/load-multi.lua")),
    ("ro-balance", include_str!("../../scripts/ro-balance.lua")),
    ("ro-pooling", include_str!("../../scripts/ro-pooling.lua")),
    (
        "rw-splitting",
        include_str!("../../scripts/rw-splitting.lua"),
    ),
    (
        "tutorial-basic",
        include_str!("../../scripts/tutorial-basic.lua"),
    ),
    (
        "tutorial-constants",
        include_str!("../../scripts/tutorial-constants.lua"),
    ),
    (
        "tutorial-inject",
        include_str!("../../scripts/tutorial-inject.lua"),
    ),
    (
        "tutorial-keepalive",
        include_str!("../../scripts/tutorial-keepalive.lua"),
    ),
    (
        "tutorial-monitor",
        include_str!("../../scripts/tutorial-monitor.lua"),
    ),
    (
        "tutorial-packets",
        include_str!("../../scripts/tutorial-packets.lua"),
    ),
    (
        "tutorial-prep-stmts",
        include_str!("../../scripts/tutorial-prep-stmts.lua"),
    ),
    (
        "tutorial-query-time",
        include_str!("../../scripts/tutorial-query-time.lua"),
    ),
    (
        "tutorial-resultset",
        include_str!("../../scripts/tutorial-resultset.lua"),
    ),
    (
        "tutorial-rewrite",
        include_str!("../../scripts/tutorial-rewrite.lua"),
    ),
    (
        "tutorial-routing",
        include_str!("../../scripts/tutorial-routing.lua"),
    ),
    (
        "tutorial-scramble",
        include_str!("../../scripts/tutorial-scramble.lua"),
    ),
    (
        "tutorial-states",
        include_str!("../../scripts/tutorial-states.lua"),
    ),
    (
        "tutorial-tokenize",
        include_str!("../../scripts/tutorial-tokenize.lua"),
    ),
    (
        "tutorial-union",
        include_str!("../../scripts/tutorial-union.lua"),
    ),
    (
        "tutorial-warnings",
        include_str!("../../scripts/tutorial-warnings.lua"),
    ),
    ("xtab", include_str!("../../scripts/xtab.lua")),
];
