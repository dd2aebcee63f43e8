//! Rule: a later line overrides this one.

use crate::assignment::Assignment;
use crate::name::is_switched_on;
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::secret::shown_value;
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "repeated-option",
    title: "Option set more than once",
    reason: "If several lines set an option, only the last line takes effect. The other lines mislead readers.",
    source: "MySQL Reference Manual, \"Using Option Files\": a later value takes precedence",
    check,
};

/// Options that collect the values of all their lines.
const COLLECTING: [&str; 14] = [
    "binlog_do_db",
    "binlog_ignore_db",
    "early_plugin_load",
    "ignore_db_dir",
    "ignore_db_dirs",
    "optimizer_switch",
    "performance_schema_instrument",
    "plugin_load_add",
    "replicate_do_db",
    "replicate_do_table",
    "replicate_ignore_db",
    "replicate_ignore_table",
    "replicate_rewrite_db",
    "replicate_wild_ignore_table",
];

/// Whether a line of an option that the version does not know switches it on or off; `None` for another value.
fn switched(line: &Assignment<'_>) -> Option<bool> {
    is_switched_on(&line.entry.name, line.entry.value.as_deref())
}

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let lines: Vec<_> = subject.read().collect();
    let mut remarks = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let name = line.name();
        if COLLECTING.contains(&name) || name.starts_with("replicate_") {
            continue;
        }
        let Some(later) = lines[index + 1..]
            .iter()
            .rev()
            .find(|later| later.name() == name)
        else {
            continue;
        };
        let is_same = match line.option {
            Some(_) => line.value() == later.value(),
            None => switched(line).is_some_and(|is_on| switched(later) == Some(is_on)),
        };
        let (level, what) = if is_same {
            (
                Level::Note,
                format!("set again, to the same value, in {}", later.entry.origin),
            )
        } else {
            let is_off = later.entry.name.switches_off();
            // `skip_log_bin` has no value, and switches the option off.
            let written = later.entry.value.clone().filter(|_| !is_off);
            let now = written.or_else(|| later.value());
            let now = now.unwrap_or_else(|| if is_off { "OFF" } else { "ON" }.to_owned());
            let now = shown_value(&later.entry.name, &now);
            (
                Level::Warning,
                format!("overridden in {} with the value {now}", later.entry.origin),
            )
        };
        let remark = RuleFinding::on(line, level, what).fix("keep only one of the lines");
        remarks.push(remark.rewrite(Rewrite::Remove));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn the_last_line_counts() {
        assert_found(
            &RULE,
            "mysql-5.7",
            "sort_buffer_size=2M\nmax_connections=5\nsort-buffer-size=4M\nmax_connections=5",
            &[
                "warning: sort_buffer_size=2M: overridden in my.cnf line 4 with the value 4M",
                "note: max_connections=5: set again",
            ],
        );
        for (lines, value) in [
            ("log_bin=binlog\nskip_log_bin", "OFF"),
            ("skip_log_bin\nlog_bin=binlog", "binlog"),
            ("local_infile=0\nlocal_infile", "ON"),
            ("local_infile\nskip-local-infile", "OFF"),
            // Of an option that the version does not know, the names alone say what is off.
            ("no_such_switch=ON\nskip_no_such_switch", "OFF"),
            ("skip_no_such_switch\nno_such_switch", "ON"),
        ] {
            let found = format!("overridden in my.cnf line 3 with the value {value}");
            assert_found(&RULE, "mysql-8.0.33", lines, &[&found]);
        }
        assert_found(
            &RULE,
            "mysql-5.6",
            "report_password=mimsy\nreport_pa=borogove",
            &["warning: report_password=...: overridden in my.cnf line 3 with the value ...;"],
        );
        let found = "overridden in my.cnf line 3 with the value OFF";
        assert_found(
            &RULE,
            "mariadb-10.11",
            "log_bin=binlog\nSkip-Log-Bin",
            &[found],
        );
        let again = "note: no_such_switch=OFF: set again, to the same value, in my.cnf line 3";
        assert_found(
            &RULE,
            "mysql-8.4",
            "no_such_switch=OFF\nskip_no_such_switch",
            &[again],
        );
        assert_found(
            &RULE,
            "mysql-5.6",
            "key_buffer=1M\nkey_buffer_size=2M",
            &["overridden in my.cnf line 3"],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "replicate_ignore_db=a\nreplicate_ignore_db=b",
            &[],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "ignore-db-dir=lost+found\nignore-db-dir=.snapshot",
            &[],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "ignore_db_dirs=lost+found\nignore_db_dirs=.snapshot",
            &[],
        );
    }
}
