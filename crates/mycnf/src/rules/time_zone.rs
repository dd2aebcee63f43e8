//! Rule: the time zone has a name.

use crate::rule::Rewrite;
use crate::rule::{Level, Remark, Rule};
use crate::subject::Subject;
use crate::trap::offset_of;

pub(super) const RULE: Rule = Rule {
    id: "named-time-zone",
    title: "Time zone by name",
    reason: "A new data directory has no time zones: the server does not start, and no check of its own finds it.",
    source: "seen on every version from 5.5 to 11.8",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<Remark> {
    let Some(line) = subject.set("default_time_zone") else {
        return Vec::new();
    };
    let zone = line.entry.value.as_deref().unwrap_or_default();
    let Some(offset) = offset_of(zone) else {
        return Vec::new();
    };
    let what = "a named time zone needs tables that a new data directory has empty";
    let remark = Remark::on(line, Level::Refused, what);
    match offset {
        Some(offset) => {
            let new = format!("{} = '{offset}'", line.entry.name);
            let fix = format!("write '{offset}', which is the same");
            vec![remark.fix(fix).rewrite(Rewrite::Replace(new))]
        }
        None => vec![remark.fix(
            "load the time zone tables before the line is used, or write an offset: '+09:00'",
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn names_are_refused_and_offsets_are_not() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "default_time_zone=UTC",
            &["write '+00:00', which is the same"],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "default-time-zone='Asia/Tokyo'",
            &["load the time zone tables"],
        );
        assert_found(&RULE, "mysql-5.6", "default_time_zone='+00:00'", &[]);
        assert_found(&RULE, "mysql-5.6", "default_time_zone=SYSTEM", &[]);
    }
}
