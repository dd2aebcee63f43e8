//! Rule: the limit on open files is lower than what the server requests.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "open-files-limit",
    title: "Limit on open files lower than the caches need",
    reason: "The server requests as many open files as its caches and connections need, even if \
        open_files_limit is lower. If the operating system allows fewer, the server lowers table_open_cache and \
        max_connections, and reports this only in its log, if at all.",
    source: "MySQL Reference Manual, \"open_files_limit\"; tested on MySQL 5.7, MySQL 8.0.33 and MariaDB 10.11: with \
        open_files_limit=1024 and a service limit of 20000 files, the servers kept table_open_cache=5000; that limit \
        lowered 20000 to 9595",
    check,
};

/// Files that the server needs for other purposes.
const OWN: i128 = 10;

/// Files that the server requests for each connection, if this is more than the caches need.
const FOR_CONNECTION: i128 = 5;

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(limit) = subject
        .set("open_files_limit")
        .and(subject.number("open_files_limit"))
    else {
        return Vec::new();
    };
    let (connections, tables) = (
        subject.number("max_connections"),
        subject.number("table_open_cache"),
    );
    let Some((connections, tables)) = connections.zip(tables) else {
        return Vec::new();
    };
    let needed = tables
        .saturating_mul(2)
        .saturating_add(connections)
        .saturating_add(OWN);
    if limit == 0 || needed <= limit {
        return Vec::new();
    }
    let requested = needed.max(connections.saturating_mul(FOR_CONNECTION));
    // The value in the file neither limits the request nor is what the server gets, so this is no warning.
    let what = format!(
        "the server requests at least {requested} open files, for {connections} connections and {tables} open tables; \
         if the operating system allows fewer than {needed}, the server lowers table_open_cache"
    );
    vec![
        RuleFinding::of(subject, "open_files_limit", Level::Note, what).fix(format!(
            "set open_files_limit and the service's limit (LimitNOFILE) to {requested}, or lower table_open_cache"
        )),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_limit_is_compared_with_what_the_server_requests() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "max_connections=800\ntable_open_cache=5000\nopen_files_limit=1024",
            &[
                "note: open_files_limit=1024: the server requests at least 10810 open files, for 800 connections and \
                 5000 open tables; if the operating system allows fewer than 10810, the server lowers \
                 table_open_cache; set open_files_limit and the service's limit (LimitNOFILE) to 10810",
            ],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "max_connections=5000\ntable_open_cache=500\nopen_files_limit=1024",
            &["requests at least 25000 open files"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "open_files_limit=65535\ntable_open_cache=10000",
            &[],
        );
        assert_found(&RULE, "mysql-5.6", "", &[]);
    }
}
