//! Rule: the file names an authentication plugin that the version does not have.

use crate::authentication::{enables_native_password, has_plugin, plugins_of_policy};
use crate::catalogue::Family;
use crate::print::option_line;
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "authentication-plugin",
    title: "Authentication plugin",
    reason: "A server does not start if authentication_policy names a plugin that the server does not have. The server's own validator does not detect this.",
    source: "tested: authentication_policy = mysql_native_password,, on MySQL 9.7; auth_socket,, on MySQL 8.0.33 and 9.7 without \
        loading the plugin",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let Some(line) = subject.set("authentication_policy") else {
        return Vec::new();
    };
    let policy = line.entry.value.as_deref().unwrap_or_default();
    let mut plugins = plugins_of_policy(policy);
    if let Some(plugin) = plugins.find(|plugin| !has_plugin(subject, plugin)) {
        let what = format!(
            "the plugin {plugin} is not built into this version, and the file does not load it, so the server does not start"
        );
        let factors = policy.split(',').map(|factor| {
            let is_known = plugins_of_policy(factor).all(|plugin| has_plugin(subject, plugin));
            if is_known { factor } else { "*" }
        });
        let factors: Vec<&str> = factors.collect();
        let new = option_line(line.entry.name.as_written(), Some(&factors.join(",")));
        let fix = format!("set {new}, and switch accounts that use {plugin} to another plugin");
        let remark = RuleFinding::on(line, Level::Refused, what).fix(fix);
        return vec![remark.rewrite(Rewrite::Replace(new))];
    }
    let is_8_4 = subject.target.is_at_least(Family::MySql, &[8, 4]);
    let is_disabled = is_8_4 && !enables_native_password(subject);
    if is_disabled && plugins_of_policy(policy).any(|plugin| plugin == "mysql_native_password") {
        let what = "MySQL 8.4 disables the plugin mysql_native_password by default";
        let fix = "add loose_mysql_native_password = ON, or use caching_sha2_password instead";
        return vec![RuleFinding::on(line, Level::Warning, what).fix(fix)];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn plugins_by_version() {
        let line = "authentication_policy = mysql_native_password,,";
        assert_found(
            &RULE,
            "mysql-9.7",
            line,
            &[
                "refused: authentication_policy=mysql_native_password,,: the plugin mysql_native_password is not built into this version, and the file does not load it, so the server does not start; set authentication_policy = *,,",
            ],
        );
        assert_found(&RULE, "mysql-8.0.33", line, &[]);
        assert_found(&RULE, "mysql-8.4", line, &["warning: "]);
        let enabled = format!("{line}\nmysql_native_password=ON");
        assert_found(&RULE, "mysql-8.4", &enabled, &[]);
        assert_found(
            &RULE,
            "mysql-9.7",
            "authentication_policy='*:sha256_password,*,'",
            &[],
        );
        let socket = "authentication_policy=*,auth_socket";
        assert_found(
            &RULE,
            "mysql-8.0.33",
            socket,
            &["set authentication_policy = *,*"],
        );
        let loaded = format!("{socket}\nplugin_load_add=auth_socket.so");
        assert_found(&RULE, "mysql-8.0.33", &loaded, &[]);
    }
}
