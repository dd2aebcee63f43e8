//! Rule: the table cache is smaller than the number of connections.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "table-cache",
    title: "Table cache smaller than the number of connections",
    reason: "Each connection uses an entry of the cache for each table of its statement. If the cache is full, the server \
        closes one table to open the next one.",
    source: "MySQL Reference Manual, \"How MySQL Opens and Closes Tables\": for N tables in a join, a cache of at least N \
        times the number of running connections",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    // The counters of a running server say whether tables are opened again and again.
    if subject.is_running() {
        return Vec::new();
    }
    let name = "table_open_cache";
    let tables = subject.set(name).and_then(|_| subject.number(name));
    let Some((tables, connections)) = tables.zip(subject.number("max_connections")) else {
        return Vec::new();
    };
    if tables >= connections {
        return Vec::new();
    }
    let what = format!(
        "{connections} connections can use more than {tables} tables at the same time; the server then closes and opens \
         tables again and again"
    );
    vec![
        RuleFinding::of(subject, name, Level::Note, what).fix(format!(
            "raise it to at least {connections}, or lower max_connections"
        )),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_cache_is_compared_with_the_connections() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "table_open_cache=100\nmax_connections=5000",
            &[
                "note: table_open_cache=100: 5000 connections can use more than 100 tables at the same time; the server then \
                 closes and opens tables again and again; raise it to at least 5000, or lower max_connections",
            ],
        );
        // The default is 151 connections.
        assert_found(&RULE, "mysql-8.0.33", "table_open_cache=151", &[]);
        assert_found(&RULE, "mariadb-10.11", "table_open_cache=64", &["note: "]);
        assert_found(&RULE, "mysql-8.0.33", "max_connections=5000", &[]);
    }
}
