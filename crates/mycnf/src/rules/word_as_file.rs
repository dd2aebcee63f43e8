//! Rule: ON, OFF or a similar word is used as a file name.

use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "word-as-file-name",
    title: "Word used as a file name",
    reason: "These options take a file name. If the value is ON or OFF, the server uses a file of this name, and does not switch anything on or off.",
    source: "MySQL Reference Manual, \"Binary Logging Options and Variables\" and \"Server Command Options\"; MariaDB \
        documentation, \"Activating the Binary Log\": the value is the prefix of the file names",
    check,
};

/// Words for a switch.
const WORDS: [&str; 8] = ["ON", "OFF", "1", "0", "TRUE", "FALSE", "YES", "NO"];
/// The words for off.
const OFF: [&str; 4] = ["OFF", "0", "FALSE", "NO"];

/// Options that name a file, with the option that is their switch, if they have one.
const FILES: [(&str, Option<&str>); 11] = [
    ("general_log_file", Some("general_log")),
    ("init_file", None),
    ("log", Some("general_log")),
    ("log_bin_index", None),
    ("log_error", None),
    ("log_slow_queries", Some("slow_query_log")),
    ("log_slow_query_file", Some("log_slow_query")),
    ("pid_file", None),
    ("relay_log", None),
    ("relay_log_index", None),
    ("slow_query_log_file", Some("slow_query_log")),
];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let mut remarks = Vec::new();
    for line in subject.read() {
        let Some(word) = line.entry.value.as_deref() else {
            continue;
        };
        let is_one_of = |words: &[&str]| words.iter().any(|one| one.eq_ignore_ascii_case(word));
        let written = &line.entry.name;
        let is_off = written.switches_off() || written.disables(Some(word));
        if line.option.is_none() || !is_one_of(&WORDS) || is_off {
            continue;
        }
        let name = line.name();
        if name == "log_bin" {
            let (what, fix) = if is_one_of(&OFF) {
                (
                    format!("the binary log is enabled, and its first file is named {word}.000001"),
                    "write skip_log_bin".to_owned(),
                )
            } else {
                (
                    format!("the first file of the binary log is named {word}.000001"),
                    "write log_bin without a value, or with a prefix for the file names".to_owned(),
                )
            };
            remarks.push(RuleFinding::on(line, Level::Warning, what).fix(fix));
        } else if let Some((_, switch)) = FILES.iter().find(|(file, _)| *file == name) {
            let what =
                format!("this option takes a file name, so the server uses a file named {word}");
            let fix = match switch.filter(|switch| subject.has(switch)) {
                Some(switch) => format!("write {switch} = {}", u8::from(!is_one_of(&OFF))),
                None => "set a file name, or remove the line".to_owned(),
            };
            remarks.push(RuleFinding::on(line, Level::Warning, what).fix(fix));
        }
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn switches_that_are_no_switches() {
        assert_found(
            &RULE,
            "mariadb-10.11",
            "log_bin=ON\nrelay-log=1\nslow_query_log_file=on\nlog_error=OFF\npid_file=/run/mysqld.pid",
            &[
                "warning: log_bin=ON: the first file of the binary log is named ON.000001; write log_bin without a value",
                "warning: relay-log=1: this option takes a file name, so the server uses a file named 1; set a file name",
                "warning: slow_query_log_file=on: this option takes a file name, so the server uses a file named on; write slow_query_log = 1",
                "warning: log_error=OFF: this option takes a file name",
            ],
        );
        assert_found(
            &RULE,
            "mysql-8.4",
            "log_bin = off",
            &[
                "the binary log is enabled, and its first file is named off.000001; write skip_log_bin",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "log_bin=0",
            &[
                "the binary log is enabled, and its first file is named 0.000001; write skip_log_bin",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.5",
            "log_slow_queries=ON",
            &[
                "log_slow_queries=ON: this option takes a file name, so the server uses a file named ON; write slow_query_log = 1",
            ],
        );
        let right = "log_bin\nlog-bin=mysql-bin\nskip_log_bin\nrelay_log=relay\ngeneral_log=ON";
        assert_found(&RULE, "mysql-8.0.33", right, &[]);
        assert_found(&RULE, "mysql-8.0.33", "disable_log_bin=1", &[]);
        assert_found(&RULE, "mysql-8.0.33", "enable_log_bin=0", &[]);
    }
}
