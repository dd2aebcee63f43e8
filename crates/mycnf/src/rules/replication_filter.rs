//! Rule: replication is filtered by the default database.

use crate::assignment::Assignment;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "replication-filter",
    title: "Replication filtered by database",
    reason: "With a statement-based binary log, the filter checks the session's default database, not the database of the changed table. Changes are then lost without an error.",
    source: "MySQL Reference Manual, \"How Servers Evaluate Replication Filtering Rules\"",
    check,
};

const FILTERS: [&str; 4] = [
    "replicate_do_db",
    "replicate_ignore_db",
    "binlog_do_db",
    "binlog_ignore_db",
];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let is_by_rows = subject.is_one_of("binlog_format", &["ROW"]);
    let lines = subject.read().filter(|line| FILTERS.contains(&line.name()));
    let remarks = lines.map(|line| {
        if let Some(remark) = one_name(line) {
            return remark;
        }
        let is_of_log = line.name().starts_with("binlog_");
        let (level, what) = if is_of_log {
            (
                Level::Warning,
                "changes to filtered-out databases are not in the binary log, so point-in-time recovery cannot restore them",
            )
        } else if is_by_rows {
            (
                Level::Note,
                "changes to filtered-out databases do not reach this replica",
            )
        } else {
            (
                Level::Warning,
                "statements are filtered by the session's default database, not by the database of the \
                table that they change",
            )
        };
        let place = if is_of_log { " on the replicas" } else { "" };
        let fix = format!("filter by table{place}, with {}", filter_by_table(line));
        RuleFinding::on(line, level, what).fix(fix)
    });
    remarks.collect()
}

/// A list, of which the server makes the name of one database: the filter then matches none of those that are meant.
///
/// Source: MySQL Reference Manual, "Replica Server Options and Variables": "Because database names can contain commas,
/// if you supply a comma-separated list then the list is treated as the name of a single database."
fn one_name(line: &Assignment<'_>) -> Option<RuleFinding> {
    let value = line.entry.value.as_deref()?;
    let (first, _) = value.split_once(',')?;
    let what = format!("the server treats the whole list as the name of one database, {value}");
    let fix = format!(
        "write one line for each database, starting with {} = {}",
        line.entry.name,
        first.trim()
    );
    Some(RuleFinding::on(line, Level::Warning, what).fix(fix))
}

/// The same filter by table: `replicate_wild_do_table = shop.%`.
fn filter_by_table(line: &Assignment<'_>) -> String {
    let option = if line.name().ends_with("_do_db") {
        "replicate_wild_do_table"
    } else {
        "replicate_wild_ignore_table"
    };
    let database = line.entry.value.as_deref().unwrap_or_default();
    // `_` and `%` would stand for any letters.
    let database = database.replace('_', "\\_").replace('%', "\\%");
    format!("{option} = {database}.%")
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn filters_by_format() {
        assert_found(
            &RULE,
            "mysql-5.5",
            "replicate-ignore-db=mysql",
            &["warning: replicate-ignore-db=mysql: statements are filtered"],
        );
        assert_found(&RULE, "mysql-5.7", "replicate-ignore-db=mysql", &["note: "]);
        assert_found(
            &RULE,
            "mysql-5.7",
            "binlog-ignore-db=tmp",
            &["point-in-time recovery cannot restore them"],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "replicate_do_db=shop\nreplicate_ignore_db=my_db\nbinlog_do_db=shop",
            &[
                "; filter by table, with replicate_wild_do_table = shop.%",
                "; filter by table, with replicate_wild_ignore_table = my\\_db.%",
                "; filter by table on the replicas, with replicate_wild_do_table = shop.%",
            ],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "replicate-do-db=shop,crm\nbinlog-ignore-db=a, b",
            &[
                "warning: replicate-do-db=shop,crm: the server treats the whole list as the name of one database, \
                 shop,crm; write one line for each database, starting with replicate-do-db = shop",
                "starting with binlog-ignore-db = a",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "replicate-wild-ignore-table=mysql.%",
            &[],
        );
    }
}
