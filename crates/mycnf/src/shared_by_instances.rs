//! What the instances of mysqld_multi have in common, although two running servers cannot share it.

use crate::rule::{Advice, Basis, Level, Rule, RuleFinding};
use crate::subject::Subject;

/// The "rule" about the instances of one file together; the other rules judge each by itself.
pub static SHARED_BY_INSTANCES: Rule = Rule {
    id: "shared-by-instances",
    title: "Place that two instances share",
    reason: "Two servers that run at the same time need data directories, ports and sockets of their own.",
    source: "MySQL Reference Manual, \"Running Multiple MySQL Instances on One Machine\"",
    check: |_| Vec::new(),
};

/// Options that each running server needs for itself, and what follows if two have the same.
const OF_ONE_SERVER: [(&str, &str); 3] = [
    ("datadir", "only one of them can run at a time"),
    ("port", "only one of them can run at a time"),
    ("socket", "clients reach only one of them over it"),
];

/// The lines that give an instance what an instance before it has; each instance has the name of its group.
pub(crate) fn shared_by_instances(subjects: &[(Option<&str>, Subject<'_>)]) -> Vec<Advice> {
    let mut all = Vec::new();
    for (index, (instance, subject)) in subjects.iter().enumerate() {
        for (option, consequence) in OF_ONE_SERVER {
            let mut before = subjects[..index].iter();
            let other = before.find(|(_, other)| is_shared(option, subject, other));
            let (Some((Some(other), _)), Some(instance), Some(line)) =
                (other, instance, subject.set(option))
            else {
                continue;
            };
            let what = format!("[{other}] and [{instance}] have the same {option}: {consequence}");
            let remark = RuleFinding::on(line, Level::Warning, what);
            all.push(Advice {
                rule: &SHARED_BY_INSTANCES,
                remark: remark.fix(format!("set another {option} in [{instance}]")),
                basis: Basis::Rule,
            });
        }
    }
    all
}

/// Whether lines give both the same value. On different addresses, two servers can have the same port.
fn is_shared(option: &str, one: &Subject<'_>, other: &Subject<'_>) -> bool {
    let own = |subject: &Subject<'_>| subject.set(option)?.value();
    let is_same = own(one).is_some_and(|value| own(other) == Some(value));
    let is_networked = |subject: &Subject<'_>| subject.is_on("skip_networking") != Some(true);
    let listen_alike = one.value("bind_address") == other.value("bind_address")
        && is_networked(one)
        && is_networked(other);
    is_same && (option != "port" || listen_alike)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Machine, OptionFile, Target};

    #[test]
    fn instances_have_places_of_their_own() {
        let line = |option: &str| format!("{option}: [mysqld1] and [mysqld2] have the same ");
        for (lines, shared) in [
            ("[mysqld1]\nport=3307\n[mysqld2]\nport=3308\n", Vec::new()),
            (
                "[mysqld1]\nport=3307\n[mysqld2]\nport=3307\n",
                vec![line("port=3307")],
            ),
            (
                "[mysqld]\ndatadir=/d\nsocket=/s\n[mysqld1]\nport=3307\n[mysqld2]\nport=3308\n",
                vec![line("datadir=/d"), line("socket=/s")],
            ),
            (
                "[mysqld1]\nport=3307\nbind_address=10.0.0.1\n[mysqld2]\nport=3307\nbind_address=10.0.0.2\n",
                Vec::new(),
            ),
            (
                "[mysqld1]\nport=3307\n[mysqld2]\nport=3307\nskip_networking\n",
                Vec::new(),
            ),
        ] {
            let text = format!("[mysqld_multi]\nuser=operator\n{lines}");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let target = Target::parse("mysql-8.0.33").unwrap();
            let machine = Machine::default();
            let servers = file.per_server();
            let subjects = servers.iter().map(|server| {
                let subject = Subject::new(&server.file, &target, &machine);
                (server.instance.as_deref(), subject)
            });
            let subjects: Vec<_> = subjects.collect();
            let found = shared_by_instances(&subjects);
            let found = found.iter().map(|advice| &advice.remark);
            let found: Vec<String> = found
                .map(|remark| format!("{}: {}", remark.option, remark.what))
                .collect();
            let is_each = found
                .iter()
                .zip(&shared)
                .all(|(text, begin)| text.starts_with(begin));
            assert!(found.len() == shared.len() && is_each, "{lines}: {found:?}");
        }
    }
}
