//! Rule: a group is misspelt, or belongs to another version or family.

use crate::instances::{is_instance, is_multi};
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "unread-group",
    title: "Group that the server does not read",
    reason: "The lines in this group have no effect.",
    source: "MySQL Reference Manual and MariaDB's documentation, \"Option Files\": the groups that a server reads",
    check,
};

/// Groups of servers, whose misspellings are reported.
const SERVERS: [&str; 5] = ["mysqld", "server", "mariadb", "mariadbd", "client-server"];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let mut remarks: Vec<RuleFinding> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    let mut groups = subject.assignments.iter().map(|line| &line.entry.group);
    let has_multi = groups.any(|group| is_multi(group));
    for line in subject.assignments.iter().filter(|line| !line.is_read) {
        let group = line.entry.group.as_str();
        if seen.contains(&group) {
            continue;
        }
        seen.push(group);
        let lower = group.trim().to_ascii_lowercase();
        let stem = lower.split('-').next().unwrap_or_default();
        let is_numbered = SERVERS.contains(&stem)
            && lower[stem.len()..]
                .trim_start_matches('-')
                .starts_with(|first: char| first.is_ascii_digit());
        let what = if is_instance(group) {
            if has_multi {
                continue;
            }
            format!("only mysqld_multi reads [{group}], but the file has no group [mysqld_multi]")
        } else if SERVERS.contains(&lower.as_str()) && group == lower {
            format!("only MariaDB reads [{group}], but the server is MySQL")
        } else if is_numbered {
            format!("only the version in the group's name reads [{group}]")
        } else {
            let near = SERVERS.iter().find(|known| is_near(&lower, known));
            match near {
                Some(known) => format!("no server reads [{group}]; is [{known}] meant?"),
                None => continue,
            }
        };
        let read: Vec<String> = subject
            .groups
            .iter()
            .map(|group| format!("[{group}]"))
            .collect();
        remarks.push(RuleFinding::on(line, Level::Warning, what).fix(format!(
            "use a group that this server reads: {}",
            read.join(", ")
        )));
    }
    remarks
}

/// Whether a name differs from a known one by a letter or by its spelling.
fn is_near(name: &str, known: &str) -> bool {
    let others = [
        "mysql",
        "mysqld_safe",
        "mysqld_multi",
        "mysqldump",
        "client",
        "mariadb-client",
        "sst",
    ];
    name != known && !others.contains(&name) && strsim::damerau_levenshtein(name, known) <= 1
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn instances_are_read_by_mysqld_multi() {
        let instances = "[mysqld1]\nport=3307\n[mysqld2]\nport=3308\n";
        let multi = format!("[mysqld_multi]\nmysqladmin=/usr/bin/mysqladmin\n{instances}");
        assert_found(&RULE, "mysql-8.0.33", &multi, &[]);
        assert_found(
            &RULE,
            "mysql-8.0.33",
            instances,
            &[
                "only mysqld_multi reads [mysqld1]",
                "only mysqld_multi reads [mysqld2]",
            ],
        );
    }

    #[test]
    fn groups_of_others_are_named_once() {
        let file =
            "[mysqlld]\na=1\nb=2\n[mysqld-5.7]\nc=1\n[mariadb]\nd=1\n[mysql]\ne=1\n[mysqld]\nf=1\n";
        assert_found(
            &RULE,
            "mysql-8.0.33",
            file,
            &[
                "no server reads [mysqlld]; is [mysqld] meant?",
                "only the version in the group's name reads [mysqld-5.7]",
                "only MariaDB reads [mariadb], but the server is MySQL",
            ],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "[mariadb]\nd=1\n[mariadb-10.11]\ne=1\n[mysqldump]\nf=1\n",
            &[],
        );
    }
}
