//! Checks of the tests themselves: what each level may use, and what depends on the machine's speed.

use crate::repository::File;

/// Where the tests are that start no real server.
const PROGRAM: &str = "crates/dbdyno/tests/suite/program";

const SUITE: &str = "crates/dbdyno/tests/suite/";

/// Its servers answer at once, or badly.
const TORTURE: &str = "crates/dbdyno/tests/suite/torture/";

/// What only a test with a real server names.
const REAL_SERVERS: &[&str] = &[
    concat!("Maria", "Db"),
    concat!("Scene::for_", "servers"),
    concat!("use ", "server::"),
    concat!("Lifetime::", "Owned"),
    concat!("servers", "::"),
];

/// A thread's sleep: what waits for a time does not know whether it was long enough.
const SLEEP: &str = concat!("thread::", "sleep(");
/// The one that is allowed: between two looks at a condition.
const POLL: &str = "POLL)";

/// Files that may sleep otherwise, each with its reason.
const SLEEPERS: &[(&str, &str)] = &[
    (
        "crates/dbdyno/tests/suite/torture/",
        "is late and stops at random moments: that is the torture",
    ),
    (
        "crates/dbdyno/tests/suite/long/",
        "measures a real server for a time, on a quiet machine",
    ),
    (
        "crates/files/src/replacement/tests.rs",
        "kills a writer at moments that nothing announces",
    ),
    (
        "crates/observer/tests/two_sides.rs",
        "an impostor answers late, as a network does",
    ),
    (
        "crates/telemetry/tests/telemetry/sysstat.rs",
        "a long round: samples as often as the tools beside it",
    ),
];

/// Texts in front of a port.
const PORTS: &[&str] = &[
    "--port=",
    "\"--port\", \"",
    "bind(\"127.0.0.1:",
    "connect(\"127.0.0.1:",
    "bind((\"127.0.0.1\", ",
];

/// Texts in front of the time that a run is measured.
const MEASURED: &[&str] = &[
    "duration = \\\"",
    "--duration\", \"",
    "--duration=",
    "--duration ",
];

fn is_test(file: &File) -> bool {
    file.path.starts_with("crates/")
        && (file.path.contains("/tests/") || file.path.ends_with("tests.rs"))
}

/// A test of the level `program` that could start a real server.
pub(crate) fn real_server_in_program(file: &File) -> Vec<String> {
    if !file.path.starts_with(PROGRAM) {
        return Vec::new();
    }
    problems(file, |line| {
        REAL_SERVERS
            .iter()
            .find(|name| line.contains(**name))
            .map(|name| format!("{name:?}: what needs a real server stands in `servers`"))
    })
}

/// A test that waits for a time in place of a condition.
pub(crate) fn sleep(file: &File) -> Vec<String> {
    let is_excused = SLEEPERS
        .iter()
        .any(|(path, _reason)| file.path.starts_with(path));
    if !is_test(file) || is_excused {
        return Vec::new();
    }
    problems(file, |line| {
        (line.contains(SLEEP) && !line.contains(POLL))
            .then(|| "sleeps: wait for a condition".to_owned())
    })
}

/// A test that listens on or connects to a port that it chose itself; one that is never used has at most two digits.
pub(crate) fn fixed_port(file: &File) -> Vec<String> {
    if !is_test(file) || !file.path.ends_with(".rs") {
        return Vec::new();
    }
    problems(file, |line| {
        let digits = |text: &str| {
            let (_, rest) = line.split_once(text)?;
            Some(rest.chars().take_while(char::is_ascii_digit).count())
        };
        PORTS
            .iter()
            .any(|text| digits(text).is_some_and(|digits| digits > 2))
            .then(|| "a port by number: let the system choose one".to_owned())
    })
}

/// A run on a real server that is measured for less than two seconds: on a busy machine no statement may begin or end in it,
/// which is an error.
pub(crate) fn brief_measurement(file: &File) -> Vec<String> {
    let may_fail = [PROGRAM, TORTURE]
        .iter()
        .any(|it| file.path.starts_with(it));
    if !file.path.starts_with(SUITE) || may_fail {
        return Vec::new();
    }
    problems(file, |line| {
        let is_brief = |text: &str| {
            let (_, rest) = line.split_once(text)?;
            let unit = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
            let digits = rest.strip_suffix(unit)?;
            Some(
                !digits.is_empty() && unit.starts_with("ms")
                    || digits == "1" && unit.starts_with('s'),
            )
        };
        MEASURED
            .iter()
            .any(|text| is_brief(text) == Some(true))
            .then(|| "measures for less than two seconds: nothing may end in it".to_owned())
    })
}

/// Rows of the table "Which tests a change needs" that lack, or that name a module which the suite does not have.
pub(crate) fn needs(page: &str, crates: &[&str], is_module: impl Fn(&str) -> bool) -> Vec<String> {
    let rows: Vec<(&str, Vec<&str>)> = page
        .lines()
        .skip_while(|line| !line.contains("Which tests a change needs"))
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split('|');
            let name = cells.next()?.trim().trim_end_matches('`');
            let modules = cells.next()?.split('`').skip(1).step_by(2);
            Some((name, modules.collect()))
        })
        .collect();
    let without_row = crates
        .iter()
        .filter(|name| rows.iter().all(|(row, _)| row != *name))
        .map(|name| format!("CONTRIBUTING.md: no row tells which tests the crate {name} needs"));
    let unknown = rows.iter().flat_map(|(row, modules)| {
        let unknown = modules.iter().filter(|module| !is_module(module));
        unknown
            .map(move |module| format!("CONTRIBUTING.md: {row}: the suite has no module {module}"))
    });
    without_row.chain(unknown).collect()
}

fn problems(file: &File, of: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let lines = file.text.lines().enumerate();
    lines
        .filter_map(|(at, line)| Some(format!("{}:{}: {}", file.path, at + 1, of(line)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_missing_row_and_a_missing_module_are_found() {
        let page = "| `a` | `x` |\n### Which tests a change needs\n| `b` | `x` `y` | |\n";
        let found = needs(page, &["a", "b"], |module| module == "x");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("crate a") && found[1].contains("no module y"));
    }

    #[test]
    fn a_real_server_is_found_in_program_only() {
        for name in REAL_SERVERS {
            let text = format!("    let it = {name};\n");
            let inside = file(&format!("{PROGRAM}/report.rs"), &text);
            assert_eq!(real_server_in_program(&inside).len(), 1, "{name}");
            let outside = file("crates/dbdyno/tests/suite/servers/report.rs", &text);
            assert_eq!(real_server_in_program(&outside), [""; 0]);
        }
    }

    #[test]
    fn a_sleep_is_found_in_tests_that_have_no_excuse() {
        let text = format!("std::{SLEEP}Duration::from_secs(1));");
        let found = |path: &str| sleep(&file(path, &text)).len();
        let polls = format!("std::{SLEEP}{POLL};");
        assert_eq!(sleep(&file("crates/a/tests/b.rs", &polls)), [""; 0]);
        assert_eq!(found("crates/a/tests/b.rs"), 1);
        assert_eq!(found("crates/a/src/b/tests.rs"), 1);
        assert_eq!(found("crates/a/src/b.rs"), 0);
        assert_eq!(found(SLEEPERS[0].0), 0);
    }

    #[test]
    fn a_brief_measurement_is_found_on_real_servers_only() {
        let found = |name: &str, text: &str| {
            brief_measurement(&file(&format!("{SUITE}{name}"), text)).len()
        };
        for text in MEASURED {
            assert_eq!(found("servers/ab.rs", &format!("{text}300ms")), 1, "{text}");
            assert_eq!(found("servers/ab.rs", &format!("{text}1s")), 1, "{text}");
            assert_eq!(found("experiment.rs", &format!("{text}300ms")), 1);
            assert_eq!(found("program/report.rs", &format!("{text}300ms")), 0);
            assert_eq!(found("torture/attack.rs", &format!("{text}300ms")), 0);
            for long in ["2s", "10s", "1m", "{duration}", "ms"] {
                assert_eq!(found("servers/ab.rs", &format!("{text}{long}")), 0);
            }
        }
    }

    #[test]
    fn a_port_by_number_is_found() {
        let found = |text: &str| fixed_port(&file("crates/a/tests/b.rs", text)).len();
        for port in PORTS {
            assert_eq!(found(&format!("{port}33061")), 1, "{port}");
            for free in ["0", "{port}", "1"] {
                assert_eq!(found(&format!("{port}{free}")), 0, "{port}{free}");
            }
        }
    }
}
