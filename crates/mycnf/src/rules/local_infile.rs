//! Rule: clients may send their own files to the server.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "local-infile",
    title: "LOAD DATA LOCAL allowed",
    reason: "A malicious server or an injected SQL statement can read files on the client's machine.",
    source: "MySQL Reference Manual, \"Security Considerations for LOAD DATA LOCAL\"",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let name = "local_infile";
    // The default of a file is not reported; on a running server, it is what clients can use.
    let is_judged = subject.is_running() || subject.set(name).is_some();
    if !is_judged || subject.is_on(name) != Some(true) {
        return Vec::new();
    }
    let what = "LOAD DATA LOCAL is allowed: a statement can read any file that the client can read";
    vec![
        RuleFinding::of(subject, name, Level::Warning, what)
            .fix("set local_infile = 0, and enable it only while you load data that needs it"),
    ]
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};
    use crate::{Machine, RunningServer, Target};

    #[test]
    fn on_by_default_is_a_warning_on_a_running_server() {
        let target = Target::parse("mariadb-10.11").unwrap();
        let machine = Machine::default();
        for (value, count) in [("ON", 1), ("OFF", 0)] {
            let server = RunningServer {
                variables: [("local_infile".to_owned(), value.to_owned())].into(),
                counters: None,
            };
            let changed = server.changed(&target);
            let subject = Subject::of_server(&changed, &target, &machine, &server);
            assert_eq!(check(&subject).len(), count, "{value}");
        }
    }

    #[test]
    fn on_by_the_file_is_a_warning() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "local_infile=1",
            &["warning: local_infile=1"],
        );
        assert_found(&RULE, "mysql-5.6", "", &[]);
        assert_found(&RULE, "mysql-5.6", "local_infile=0", &[]);
        // The server takes it for OFF, against its default.
        assert_found(&RULE, "mariadb-10.11", "local_infile=NO", &[]);
    }
}
