//! Rule: the time zone is given as a name, or as an offset that the version does not accept.

use crate::rule::{Level, Rewrite, Rule, RuleFinding, Startup};
use crate::subject::Subject;
use crate::time_zone::TimeZone;

pub(super) const RULE: Rule = Rule {
    id: "named-time-zone",
    title: "Named time zone",
    reason: "In a new data directory, the time zone tables are empty, so a server with a named time zone does not start. The server's own validator does not detect this.",
    source: "tested with every available version of MySQL and MariaDB, from 5.5 to 11.8",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(line) = subject.set("default_time_zone") else {
        return Vec::new();
    };
    let zone = TimeZone::of(line.entry.value.as_deref().unwrap_or_default());
    let Some((what, fix, same)) = zone.refusal(subject.target) else {
        return Vec::new();
    };
    // A server whose tables have been loaded starts.
    let (level, startup) = match zone {
        TimeZone::Named(_) => (Level::Risk, Startup::WithTimeZones),
        TimeZone::System | TimeZone::Offset(_) => (Level::Refused, Startup::Refused),
    };
    let remark = RuleFinding::on(line, level, what).fix(fix);
    let remark = remark.if_refused(startup);
    vec![match same {
        Some(offset) => remark.rewrite(Rewrite::Replace(format!(
            "{} = '{offset}'",
            line.entry.name
        ))),
        None => remark,
    }]
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
            &["risk: default_time_zone=UTC: a named time zone needs tables that"],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "default-time-zone='Asia/Tokyo'",
            &["set '+09:00', which is equivalent"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "default_time_zone=Asia/Shanghai",
            &["set '+08:00', which is equivalent for times after 1991"],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "default_time_zone=+15:00",
            &[
                "refused: default_time_zone=+15:00: this version does not accept this offset; set an offset from -12:59 to +13:00",
            ],
        );
        for offset in ["+09:00", "'+8:00'", "-03:30"] {
            let line = format!("default_time_zone = {offset}");
            assert_found(&RULE, "mysql-8.0.33", &line, &[]);
        }
        assert_found(&RULE, "mysql-5.6", "default_time_zone='+00:00'", &[]);
        assert_found(&RULE, "mysql-5.6", "default_time_zone=SYSTEM", &[]);
    }
}
