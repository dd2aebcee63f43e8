//! Rule: the server offers no TLS, although it should, or not with all protocols of its list.

use crate::catalogue::Family;
use crate::finding::option_as_written;
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::subject::Subject;
use crate::tls::{PROTOCOLS, line_without_tls, protocols};

pub(super) const RULE: Rule = Rule {
    id: "tls-unavailable",
    title: "TLS not available",
    reason: "A server whose list of protocols has no known name starts without TLS. Clients and accounts that require TLS then cannot connect.",
    source: "MySQL Reference Manual, \"Encrypted Connection TLS Protocols and Ciphers\" and \"require_secure_transport\"; \
        MySQL 8.0, `process_tls_version` in vio/viosslfactories.cc",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let required = subject
        .set("require_secure_transport")
        .filter(|_| subject.is_on("require_secure_transport") == Some(true));
    let refused = "require_secure_transport then refuses all TCP connections";
    let mut remarks = Vec::new();
    if let (Some(line), Some(required)) = (line_without_tls(subject), required) {
        let what = format!("the line turns TLS off, and {refused}");
        let required = option_as_written(required.entry);
        let fix = format!("remove this line, or {required}");
        remarks.push(RuleFinding::on(line, Level::Risk, what).fix(fix));
    }
    // Without TLS, the list has no effect.
    let has_list = subject.target.family() == Family::MySql && line_without_tls(subject).is_none();
    let Some(line) = subject.set(PROTOCOLS).filter(|_| has_list) else {
        return remarks;
    };
    let known = protocols(subject.target);
    let is_known = |name: &&str| known.iter().any(|known| known.eq_ignore_ascii_case(name));
    let list = line.entry.value.as_deref().unwrap_or_default();
    let names = list.split(',').map(str::trim);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let (kept, lost): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| is_known(name));
    let all = format!("set {PROTOCOLS} = {}", known.join(","));
    if names.is_empty() {
        let what = format!("an empty list turns TLS off, and {refused}");
        let remark = required.map(|_| RuleFinding::on(line, Level::Risk, what).fix(all));
        remarks.extend(remark);
    } else if kept.is_empty() {
        let consequence = match required {
            Some(_) => refused,
            None => "accounts that require TLS cannot log in",
        };
        let what = format!(
            "this version has none of these protocols, so it offers no TLS, and {consequence}"
        );
        remarks.push(RuleFinding::on(line, Level::Risk, what).fix(all));
    } else if !lost.is_empty() {
        let new = format!("{} = {}", line.entry.name, kept.join(","));
        let what = format!(
            "this version does not have {}, and ignores it in the list",
            lost.join(" and ")
        );
        let remark = RuleFinding::on(line, Level::Note, what).fix(format!("write {new}"));
        remarks.push(remark.rewrite(Rewrite::Replace(new)));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn a_list_without_a_known_protocol_is_no_tls() {
        let required = "require_secure_transport=ON\n";
        let old = "tls_version=TLSv1,TLSv1.1";
        let with = |line: &str| format!("{required}{line}");
        for version in [
            "mysql-8.0.28",
            "mysql-8.0",
            "percona-8.0",
            "mysql-8.4",
            "mysql-9.7",
        ] {
            let part = "risk: tls_version=TLSv1,TLSv1.1: this version has none of these protocols, so it offers no TLS, \
                        and require_secure_transport then refuses all TCP connections; set tls_version = TLSv1.2,TLSv1.3";
            assert_found(&RULE, version, &with(old), &[part]);
            assert_found(
                &RULE,
                version,
                old,
                &["accounts that require TLS cannot log in"],
            );
        }
        let new = "tls_version=TLSv1.3";
        assert_found(
            &RULE,
            "mysql-5.7",
            new,
            &["set tls_version = TLSv1,TLSv1.1,TLSv1.2"],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            &with("tls_version="),
            &["an empty list turns TLS off"],
        );
        let mixed = "tls_version=TLSv1,TLSv1.1,TLSv1.2";
        let part = "note: tls_version=TLSv1,TLSv1.1,TLSv1.2: this version does not have TLSv1 and TLSv1.1, and ignores it";
        assert_found(&RULE, "mysql-8.0.36", mixed, &[part]);
        for (version, right) in [
            ("mysql-8.0.27", old),
            ("mysql-8.0.33", new),
            ("mysql-8.0.33", "tls_version=''"),
            ("mysql-8.0.33", "ssl=0\ntls_version=TLSv1"),
            ("mysql-5.7", mixed),
        ] {
            assert_found(&RULE, version, right, &[]);
        }
    }

    #[test]
    fn tls_that_is_off_is_not_required() {
        let part = "the line turns TLS off, and require_secure_transport then refuses all TCP connections; remove this \
                    line, or require_secure_transport=ON";
        for (version, off) in [
            ("mysql-5.7", "ssl_ca=/ca.pem\nskip_ssl"),
            ("mysql-8.0.33", "ssl=0"),
            ("mariadb-11.4", "skip-ssl"),
        ] {
            let lines = format!("require_secure_transport=ON\n{off}");
            assert_found(&RULE, version, &lines, &[part]);
        }
        for right in [
            "require_secure_transport=ON",
            "skip_ssl",
            "require_secure_transport=ON\nskip_ssl\nssl_ca=/ca.pem",
            "require_secure_transport=ON\nssl",
        ] {
            assert_found(&RULE, "mysql-8.0.33", right, &[]);
        }
    }
}
