//! The findings of `dbdyno config lint` for a terminal.

use std::{fmt::Write as _, time::Duration};

use mycnf::{Advice, Counted, Level, Lint, Startup};
use units::{bytes, counted, span};

use super::review::Review;
use super::running::Running;
use super::subject::catalogue_line;

/// Findings that fit below the answer without -v. All that are worse than a note are shown, even if they are more, and all
/// with which the server may not start.
const SHOWN_MAX: usize = 9;

/// The answer, and the findings below it.
pub(super) fn text(review: &Review, verbose: bool) -> String {
    let lint = &review.lint;
    let note = catalogue_line(&review.target);
    let mut text = format!("{}\n{note}{}\n", answer(review), durability(lint));
    let mut shown_max = SHOWN_MAX - usize::from(!note.is_empty());
    if review.running.is_none() && !review.knows_memory {
        text.push_str("memory not judged: --memory SIZE, or --here for a server on this machine\n");
        shown_max -= 1;
    }
    if let Some(running) = &review.running {
        writeln!(text, "{}", known(running, lint.counted.as_ref()))
            .expect("writing to a String cannot fail");
        shown_max -= 1;
    }
    // The worst come first.
    let worse_than_notes = lint.advice.len() - lint.count(Level::Note);
    let needed = worse_than_notes + lint.remarks_with(Startup::Uncertain).count();
    let shown = if verbose {
        usize::MAX
    } else {
        shown_max.max(needed)
    };
    for advice in lint.advice.iter().take(shown) {
        // All advice on a file is by rules; on a server the reader sees which is.
        let mark = review.running.is_some().then(|| advice.basis.name());
        text.push_str(&finding(advice, mark, verbose));
    }
    if let (true, Some(running)) = (verbose, &review.running) {
        text.push_str(&not_judged(running, lint.counted.as_ref()));
    }
    if verbose && !lint.needs_restart.is_empty() {
        writeln!(
            text,
            "set only at start, so a change needs a restart: {}",
            lint.needs_restart.join(", ")
        )
        .expect("writing to a String cannot fail");
    }
    let rest = lint.advice.get(shown..).unwrap_or_default();
    if !rest.is_empty() {
        writeln!(
            text,
            "{} not shown; -v shows all, with reason and source",
            counted(rest.len(), "note")
        )
        .expect("writing to a String cannot fail");
    }
    text
}

/// `my.cnf for mysql-8.0.33: does not start: 3 refused, 2 risks, 1 warning, 4 notes in 40 options`
fn answer(review: &Review) -> String {
    let lint = &review.lint;
    let refused = lint.count(Level::Refused);
    let by = if review.is_validated {
        "by the catalogues and the version's own option check (no server was started)"
    } else {
        "by the catalogues"
    };
    let verdict = match verdict(lint, &review.missing_directories) {
        Some(verdict) => format!("{verdict}, {by}"),
        None => "does not start as it is".to_owned(),
    };
    let levels = format!(
        "{refused} refused, {}, {}, {}",
        counted(lint.count(Level::Risk), "risk"),
        counted(lint.count(Level::Warning), "warning"),
        counted(lint.count(Level::Note), "note"),
    );
    let (name, target) = (review.name(), &review.target);
    if review.running.is_some() {
        let changed = counted(lint.options, "variable");
        return format!("{name} runs {target}: {levels}; {changed} not at the default");
    }
    let options = counted(lint.options, "option");
    format!("{name} for {target}: {verdict}: {levels} in {options}")
}

/// Whether the server starts, on which conditions, and what of the file it ignores:
/// `starts only if the directory that line 3 includes exists, but ignores 1 line`. `None` if it does not start.
fn verdict(lint: &Lint, missing_directories: &[u32]) -> Option<String> {
    if lint.startup() == Startup::Refused {
        return None;
    }
    let zones = lint.remarks_with(Startup::WithTimeZones);
    let zones: Vec<u32> = zones
        .filter_map(|remark| remark.at.as_ref()?.number())
        .collect();
    let zones = match zones.as_slice() {
        [] => None,
        [line] => Some(format!(
            "its time zone tables contain the zone of line {line}"
        )),
        lines => Some(format!(
            "its time zone tables contain the zones of lines {}",
            listed(lines)
        )),
    };
    // No server starts without such a directory, and the machine that the file is for may have it.
    let directories = match missing_directories {
        [] => None,
        [line] => Some(format!("the directory that line {line} includes exists")),
        lines => Some(format!(
            "the directories that lines {} include exist",
            listed(lines)
        )),
    };
    let conditions: Vec<String> = [zones, directories].into_iter().flatten().collect();
    let doubts = lint.remarks_with(Startup::Uncertain).count();
    let mut verdict = if doubts > 0 {
        format!("may not start because of {}", counted(doubts, "line"))
    } else {
        "starts".to_owned()
    };
    if !conditions.is_empty() {
        let starts = if doubts > 0 { ", and starts" } else { "" };
        verdict = format!("{verdict}{starts} only if {}", conditions.join(" and "));
    }
    // A file that the server ignores is a finding without a line.
    let ignored = lint.remarks_with(Startup::Ignoring);
    let (lines, files): (Vec<_>, Vec<_>) = ignored.partition(|remark| remark.at.is_some());
    let ignored = [(files.len(), "file"), (lines.len(), "line")];
    let ignored = ignored.into_iter().filter(|(count, _)| *count > 0);
    let ignored: Vec<String> = ignored.map(|(count, noun)| counted(count, noun)).collect();
    if !ignored.is_empty() {
        let conjunction = if doubts > 0 { "and" } else { "but" };
        verdict = format!("{verdict}, {conjunction} ignores {}", ignored.join(" and "));
    }
    Some(verdict)
}

/// `3, 5`
fn listed(lines: &[u32]) -> String {
    let lines: Vec<String> = lines.iter().map(u32::to_string).collect();
    lines.join(", ")
}

/// `durability D2: the last commits are lost in a power cut (innodb_flush_log_at_trx_commit)`
fn durability(lint: &Lint) -> String {
    let class = lint.durability.class;
    let causes: Vec<&str> = lint
        .durability
        .lacks
        .iter()
        .map(|lack| lack.option)
        .collect();
    let causes = if causes.is_empty() {
        String::new()
    } else {
        format!(" ({})", causes.join(", "))
    };
    format!("durability {}: {}{causes}", class.name(), class.in_words())
}

/// The machine and the time that the counters cover, or what of it is unknown:
/// `machine: 31.1 GiB, 8 CPUs, data on ext4 of 252 GiB; counters of 3 h`
fn known(running: &Running, counters: Option<&Counted>) -> String {
    let machine = &running.machine;
    let disk = match (&machine.file_system, machine.disk_bytes) {
        (Some(name), Some(size)) => Some(format!("data on {name} of {}", bytes(size))),
        (Some(name), None) => Some(format!("data on {name}")),
        (None, Some(size)) => Some(format!("data on {}", bytes(size))),
        (None, None) => None,
    };
    let parts = [
        machine
            .memory_bytes
            .map_or("memory unknown".to_owned(), bytes),
        machine
            .cpus
            .map_or("CPUs unknown".to_owned(), |cpus| counted(cpus, "CPU")),
        disk.unwrap_or("disk unknown".to_owned()),
    ];
    let counters = match counters {
        None => "no counters".to_owned(),
        Some(counters) if counters.is_too_early => format!(
            "counters of {}: too early to judge by them (--counters-after)",
            uptime(counters)
        ),
        Some(counters) => format!("counters of {}", uptime(counters)),
    };
    format!("machine: {}; {counters}", parts.join(", "))
}

fn uptime(counters: &Counted) -> String {
    span(Duration::from_secs(counters.uptime_s))
}

/// What was not judged, and why.
fn not_judged(running: &Running, counters: Option<&Counted>) -> String {
    let mut lines: Vec<String> = running.unknown.clone();
    if let Some(counters) = counters {
        for (why, rules) in [
            ("too early, too few events", &counters.too_few_events),
            (
                "counters that this version does not have",
                &counters.unknown,
            ),
        ] {
            if !rules.is_empty() {
                lines.push(format!("{why}: {}", rules.join(", ")));
            }
        }
    }
    lines
        .into_iter()
        .map(|line| format!("not judged: {line}\n"))
        .collect()
}

/// One finding, with how sure it is if that is asked; with `verbose` its reason and source below.
fn finding(advice: &Advice, mark: Option<&str>, verbose: bool) -> String {
    let remark = &advice.remark;
    let mark = mark.map(|mark| format!("{mark:<8} ")).unwrap_or_default();
    let place = remark
        .at
        .as_ref()
        .map(|at| format!("{at}: "))
        .unwrap_or_default();
    let fix = remark
        .fix
        .as_ref()
        .map(|fix| format!("; {fix}"))
        .unwrap_or_default();
    let mut text = format!(
        "{:<8} {mark}{place}{}: {}{fix}\n",
        remark.level.name(),
        remark.option,
        remark.what
    );
    if verbose {
        let rule = advice.rule;
        writeln!(
            text,
            "         {}: {} Source: {}",
            rule.id, rule.reason, rule.source
        )
        .expect("writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use mycnf::{Level, Machine, OptionFile, Target};
    use units::counted;

    use super::{Review, SHOWN_MAX, text, verdict};

    /// The review of a file whose server is not installed.
    fn review(file: &OptionFile, target: Target) -> Review {
        Review {
            files: vec!["my.cnf".into()],
            lint: mycnf::lint(file, &target, &Machine::default()),
            target,
            is_validated: false,
            running: None,
            missing_directories: Vec::new(),
            knows_memory: false,
        }
    }

    #[test]
    fn only_notes_are_not_shown() {
        let switches = [
            "general_log",
            "slow_query_log",
            "local_infile",
            "low_priority_updates",
            "log_queries_not_using_indexes",
            "log_slow_admin_statements",
            "automatic_sp_privileges",
            "skip_name_resolve",
            "read_only",
            "relay_log_recovery",
            "log_slave_updates",
            "old_alter_table",
        ];
        let wrong: String = switches.map(|name| format!("{name}=maybe\n")).concat();
        let file = format!("[mysqld]\nsync_binlog=1\n{wrong}");
        let file = OptionFile::parse(&file, Path::new("my.cnf")).unwrap();
        let target = Target::parse("mysql-5.7").unwrap();
        let review = review(&file, target);
        let shown = text(&review, false);
        let (notes, all) = (review.lint.count(Level::Note), review.lint.advice.len());
        assert!(notes > 0 && all - notes > SHOWN_MAX, "{shown}");
        for name in switches {
            assert!(shown.contains(&format!(": {name}=maybe: ")), "{shown}");
        }
        let last = format!(
            "{} not shown; -v shows all, with reason and source",
            counted(notes, "note")
        );
        assert_eq!(shown.lines().last(), Some(last.as_str()), "{shown}");
    }

    #[test]
    fn the_lines_with_which_a_server_may_not_start_come_first() {
        let accepted: String = (0..12).map(|port| format!("port={port}\n")).collect();
        let file = format!("[mysqld]\n{accepted}query_cache_size=8M\nuserstat=ON\n");
        let file = OptionFile::parse(&file, Path::new("my.cnf")).unwrap();
        let target = Target::parse("percona-8.4").unwrap();
        let review = review(&file, target);
        let shown = text(&review, false);
        let answer = "my.cnf for percona-8.4: may not start because of 2 lines, by the catalogues: 0 refused, ";
        assert!(shown.starts_with(answer), "{shown}");
        let notes = shown.lines().filter(|line| line.starts_with("note "));
        let notes: Vec<&str> = notes.take(2).collect();
        assert_eq!(notes.len(), 2, "{shown}");
        for (note, line) in notes
            .iter()
            .zip(["query_cache_size=8M: unknown", "userstat=ON: unknown"])
        {
            assert!(note.contains(line), "{shown}");
        }
    }

    #[test]
    fn an_answer_has_all_conditions_of_the_start() {
        let (fast, zone) = ("innodb_doublewrite=fast", "default_time_zone=Europe/Berln");
        let cases: [(&str, &[u32], Option<&str>); 6] = [
            ("max_connections=300", &[], Some("starts")),
            (
                "max_connections=300",
                &[3],
                Some("starts only if the directory that line 3 includes exists"),
            ),
            (fast, &[], Some("starts, but ignores 1 line")),
            (
                fast,
                &[4, 5],
                Some(
                    "starts only if the directories that lines 4, 5 include exist, but ignores 1 line",
                ),
            ),
            (
                zone,
                &[3],
                Some(
                    "starts only if its time zone tables contain the zone of line 2 and the directory that line 3 includes \
                     exists",
                ),
            ),
            ("no_such_option=1", &[3], None),
        ];
        let verdict_of = |target: &str, line: &str, missing: &[u32]| {
            let text = format!("[mysqld]\n{line}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let target = Target::parse(target).unwrap();
            verdict(&mycnf::lint(&file, &target, &Machine::default()), missing)
        };
        for (line, missing, expected) in cases {
            let found = verdict_of("mysql-8.0.12", line, missing);
            assert_eq!(found.as_deref(), expected, "{line}");
        }
        let both = format!("query_cache_size=1M\n{zone}");
        for (line, expected) in [
            ("query_cache_size=1M", "may not start because of 1 line"),
            (
                both.as_str(),
                "may not start because of 1 line, and starts only if its time zone tables contain the zone of line 3",
            ),
        ] {
            assert_eq!(
                verdict_of("percona-8.4", line, &[]).as_deref(),
                Some(expected)
            );
        }
    }
}
