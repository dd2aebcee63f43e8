//! The review of an option file for one version, or of a running server: all rules over it.

use std::collections::BTreeSet;
use std::path::Path;

use crate::counter_rule::RuleOutcome;
use crate::counter_rules::COUNTER_RULES;
use crate::durability::{Durability, durability};
use crate::entry::Origin;
use crate::file::OptionFile;
use crate::finding::Finding;
use crate::fix::Fix;
use crate::machine::Machine;
use crate::rule::{Advice, Basis, Level, Rule, RuleFinding, Startup};
use crate::rules::{
    ABBREVIATED_NAME, ADJUSTED_VALUE, DEPRECATED_OPTION, EQUAL_TO_DEFAULT, OPTION_WITHOUT_EFFECT,
    REPEATED_OPTION, RULES_OF_SETTINGS, TIME_ZONE, UNKNOWN_OPTION, rules_of_files,
};
use crate::running_server::RunningServer;
use crate::shared_by_instances::shared_by_instances;
use crate::subject::Subject;
use crate::target::Target;
use crate::time_zone::TimeZone;

/// The "rule" of what a server's own validator says; its findings come from the server.
pub static VALIDATOR: Rule = Rule {
    id: "server-validator",
    title: "The server's own check",
    reason: "The server itself rejects or changes the line.",
    source: "the server's own validator, which runs without starting the server",
    check: |_| Vec::new(),
};

/// The "rule" of files that the server does not open; reading their mode is the caller's business.
pub static IGNORED_FILE: Rule = Rule {
    id: "world-writable-file",
    title: "File that the server ignores",
    reason: "All MySQL and MariaDB programs ignore an option file that is writable by all users, at most with a warning.",
    source: "MySQL Reference Manual, \"Using Option Files\"",
    check: |_| Vec::new(),
};

/// The "rule" of lines that are no option and no group, and of includes that cannot be read.
pub static UNREAD_LINE: Rule = Rule {
    id: "unread-line",
    title: "Line that cannot be read",
    reason: "A server does not start with a line that it cannot read, or if an !includedir directory does not exist. It ignores a missing !include file.",
    source: "MySQL Reference Manual, \"Using Option Files\"",
    check: |_| Vec::new(),
};

/// What a review found.
#[derive(Debug)]
pub struct Lint {
    /// The worst first, then those with which the server may not start, then in the order of the file.
    pub advice: Vec<Advice>,
    /// The durability class, and what keeps the file below D4.
    pub durability: Durability,
    /// Number of options that the server reads.
    pub options: usize,
    /// Those of them that can be set only at start.
    pub needs_restart: Vec<String>,
    /// What was judged by counters; `None` for a file, and without counters.
    pub counted: Option<Counted>,
}

/// What a review judged by the counters of a running server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// Time over which the counters counted, seconds.
    pub uptime_s: u64,
    /// Whether that time is too short, so that no rule judged by them.
    pub is_too_early: bool,
    /// Rules with too few events to judge by.
    pub too_few_events: Vec<&'static str>,
    /// Rules whose counters the version does not have.
    pub unknown: Vec<&'static str>,
}

/// Reviews a file for a version, by its nearest catalogue. `machine` is where the server runs or will run. Of a file for
/// the instances of mysqld_multi each is reviewed: the durability class is the lowest of them.
pub fn lint(file: &OptionFile, target: &Target, machine: &Machine) -> Lint {
    let servers = file.per_server();
    let subjects = servers.iter().map(|server| {
        let subject = Subject::new(&server.file, target, machine);
        (server.instance.as_deref(), subject)
    });
    let subjects: Vec<_> = subjects.collect();
    let durabilities = subjects.iter().map(|(_, subject)| durability(subject));
    let read = subjects.iter().flat_map(|(_, subject)| subject.read());
    let options: BTreeSet<_> = read.map(|line| line.entry.origin.to_string()).collect();
    let fixed = subjects
        .iter()
        .flat_map(|(_, subject)| needs_restart(subject));
    let needs_restart: BTreeSet<String> = fixed.collect();
    let mut lint = Lint {
        advice: unread(file)
            .chain(advice_for_all(&subjects))
            .chain(shared_by_instances(&subjects))
            .collect(),
        durability: durabilities
            .min_by_key(|durability| durability.class)
            .expect("a file is for one server at least"),
        options: options.len(),
        needs_restart: needs_restart.into_iter().collect(),
        counted: None,
    };
    lint.sort(file);
    lint
}

/// What the rules say of each server of a file, once where they say it of several. What is about no line names the
/// instance. A line is overridden only where it is for every instance that reads it.
pub(crate) fn advice_for_all(subjects: &[(Option<&str>, Subject<'_>)]) -> Vec<Advice> {
    let mut all: Vec<(Advice, usize)> = Vec::new();
    for (instance, subject) in subjects {
        for mut advice in advice(subject, rules_of_files()) {
            let remark = &mut advice.remark;
            if let (Some(instance), None) = (instance, &remark.at) {
                remark.option = format!("[{instance}] {}", remark.option);
            }
            let is_overridden = advice.rule.is_one_of(&OVERRIDDEN);
            let same = all.iter_mut().find(|(one, _)| {
                let is_of_line = is_overridden && one.remark.at == advice.remark.at;
                one.rule.is(advice.rule) && (is_of_line || one.remark == advice.remark)
            });
            match same {
                Some((_, servers)) => *servers += 1,
                None => all.push((advice, 1)),
            }
        }
    }
    let readers = |advice: &Advice| {
        let reads = |subject: &Subject<'_>| {
            let mut read = subject.read();
            read.any(|line| Some(&line.entry.origin) == advice.remark.at.as_ref())
        };
        subjects
            .iter()
            .filter(|(_, subject)| reads(subject))
            .count()
    };
    all.retain(|(advice, servers)| {
        !advice.rule.is_one_of(&OVERRIDDEN) || *servers >= readers(advice)
    });
    all.into_iter().map(|(advice, _)| advice).collect()
}

/// The rules about lines that another one overrides.
const OVERRIDDEN: [&Rule; 2] = [REPEATED_OPTION, OPTION_WITHOUT_EFFECT];

/// What is said of the lines that the review left out.
fn unread(file: &OptionFile) -> impl Iterator<Item = Advice> {
    file.faults().iter().map(|fault| {
        let level = if fault.is_elsewhere {
            Level::Note
        } else if fault.is_passed_over {
            Level::Warning
        } else {
            Level::Refused
        };
        Advice {
            rule: &UNREAD_LINE,
            remark: RuleFinding {
                at: Some(fault.at.clone()),
                ..RuleFinding::about("not read", level, fault.what.clone())
            },
            basis: Basis::Rule,
        }
    })
}

/// Reviews a running server by its variables, and by its counters if they counted for at least `uptime_min_s` seconds.
/// `options` of the result are the variables that differ from the version's defaults.
pub fn lint_server(
    server: &RunningServer,
    target: &Target,
    machine: &Machine,
    uptime_min_s: u64,
) -> Lint {
    let changed = server.changed(target);
    let subject = Subject::of_server(&changed, target, machine, server);
    let mut lint = Lint {
        advice: advice(&subject, RULES_OF_SETTINGS),
        durability: durability(&subject),
        options: subject.read().count(),
        needs_restart: needs_restart(&subject),
        counted: None,
    };
    lint.counted = server.counters.as_ref().map(|counters| Counted {
        uptime_s: counters.uptime_s(),
        is_too_early: counters.uptime_s() < uptime_min_s,
        too_few_events: Vec::new(),
        unknown: Vec::new(),
    });
    if let (Some(counters), Some(counted)) = (&server.counters, &mut lint.counted)
        && !counted.is_too_early
    {
        for counter_rule in COUNTER_RULES {
            let rule = &counter_rule.rule;
            match counter_rule.judge(&subject, counters) {
                RuleOutcome::Unknown => counted.unknown.push(rule.id),
                RuleOutcome::TooEarly => counted.too_few_events.push(rule.id),
                RuleOutcome::Found(remark) => lint.advice.extend(remark.map(|remark| Advice {
                    rule,
                    remark,
                    basis: Basis::Counter,
                })),
            }
        }
    }
    for advice in &mut lint.advice {
        // A running server has no lines, and no rewrite of one.
        advice.remark.at = None;
        advice.remark.rewrite = None;
    }
    // What is counted here comes before what is known of any server with such settings.
    lint.advice.sort_by_key(|advice| {
        (
            std::cmp::Reverse(advice.remark.level),
            advice.basis != Basis::Counter,
        )
    });
    lint
}

fn needs_restart(subject: &Subject<'_>) -> Vec<String> {
    let names = subject.read().map(|line| line.name());
    let fixed = names.filter(|name| subject.catalogue.needs_restart(name) == Some(true));
    let fixed: BTreeSet<&str> = fixed.collect();
    fixed.into_iter().map(str::to_owned).collect()
}

/// What rules say about a file, or the variables of a server.
pub(crate) fn advice(
    subject: &Subject<'_>,
    rules: impl IntoIterator<Item = &'static Rule>,
) -> Vec<Advice> {
    let advice = rules.into_iter().flat_map(|rule| {
        let remarks = (rule.check)(subject).into_iter();
        remarks.map(move |remark| Advice {
            rule,
            remark,
            basis: Basis::Rule,
        })
    });
    let mut advice: Vec<Advice> = advice.collect();
    let lines_of = |is: &dyn Fn(&Advice) -> bool| -> Vec<Origin> {
        let of_them = advice.iter().filter(|advice| is(advice));
        of_them
            .filter_map(|advice| advice.remark.at.clone())
            .collect()
    };
    // A line that another rule changes is not to be left out because it changes nothing.
    let changed =
        lines_of(&|advice| !advice.rule.is(EQUAL_TO_DEFAULT) && advice.remark.fix.is_some());
    // A version does not still accept a line with which it does not start.
    let refused = lines_of(&|advice| advice.remark.level == Level::Refused);
    advice.retain(|advice| {
        let at = advice.remark.at.as_ref();
        let is_of = |lines: &[Origin]| at.is_some_and(|at| lines.contains(at));
        if advice.rule.is(EQUAL_TO_DEFAULT) {
            !is_of(&changed)
        } else if advice.rule.is(DEPRECATED_OPTION) {
            advice.remark.rewrite.is_some() || !is_of(&refused)
        } else {
            true
        }
    });
    advice
}

/// The time zone that a file sets by its name, which a server accepts if its time zone tables hold it.
pub fn named_time_zone(file: &OptionFile, target: &Target) -> Option<String> {
    let machine = Machine::default();
    let subject = Subject::new(file, target, &machine);
    let zone = subject.set("default_time_zone")?.entry.value.clone()?;
    matches!(TimeZone::of(&zone), TimeZone::Named(_)).then_some(zone)
}

/// All rules, with how sure their advice is: those of option files, then those of running servers alone.
pub fn rules() -> impl Iterator<Item = (&'static Rule, Basis)> {
    let by_counters = COUNTER_RULES
        .iter()
        .map(|rule| (&rule.rule, Basis::Counter));
    rules_of_files()
        .map(|rule| (rule, Basis::Rule))
        .chain(by_counters)
}

impl Lint {
    pub fn count(&self, level: Level) -> usize {
        let of_level = self.advice.iter();
        of_level
            .filter(|advice| advice.remark.level == level)
            .count()
    }

    /// The worst level; `None` without findings.
    pub fn worst(&self) -> Option<Level> {
        self.advice.iter().map(|advice| advice.remark.level).max()
    }

    /// Adds that a file is writable by all users, so that the server passes over it.
    pub fn add_ignored_file(&mut self, path: &Path) {
        let what = "all users can write to the file, so the server does not read it";
        let remark = RuleFinding::about(&path.display().to_string(), Level::Refused, what);
        let remark = remark.if_refused(Startup::Ignoring);
        let advice = Advice {
            rule: &IGNORED_FILE,
            remark: remark.fix("chmod o-w"),
            basis: Basis::Rule,
        };
        self.advice.insert(0, advice);
    }

    /// Adds what the server's own validator says of the lines that it has `judged`. Where a rule has refused the line
    /// already, the rule's words remain; where it has only noted it, both stay. The server knows its own names: one that
    /// it takes is not unknown.
    pub fn add_validator(&mut self, findings: &[Finding], judged: &[Origin], file: &OptionFile) {
        let is_refused = |at: &Origin| {
            let mut findings = findings.iter();
            findings.any(|finding| finding.at == *at && finding.is_refusal())
        };
        for advice in &mut self.advice {
            let is_unknown = advice.refuses_name();
            let remark = &mut advice.remark;
            let is_taken = |at: &Origin| judged.contains(at) && !is_refused(at);
            let is_judged = remark.at.as_ref().is_some_and(|at| judged.contains(at));
            if is_judged && remark.startup() == Startup::Uncertain {
                // The server itself can tell.
                remark.if_refused = Startup::Refused;
            }
            if is_unknown && remark.at.as_ref().is_some_and(is_taken) {
                remark.level = Level::Note;
                "not in the catalogue of this version, but the installed server accepts it"
                    .clone_into(&mut remark.what);
                remark.fix = None;
                remark.rewrite = None;
                remark.successor = None;
            }
        }
        for finding in findings {
            // The server starts, though not as the line says.
            let is_taken_for_off = finding.what.contains("recognized. Set to OFF");
            let level = if is_taken_for_off {
                Level::Warning
            } else if finding.is_refusal() {
                Level::Refused
            } else {
                Level::Note
            };
            let same = |advice: &&Advice| {
                advice.remark.at.as_ref() == Some(&finding.at)
                    && advice.remark.option == finding.option
            };
            let covers = |advice: &Advice| {
                // A validator has an empty data directory, without the zones that a server may have.
                let is_zone = advice.rule.is(TIME_ZONE);
                (advice.remark.level >= level || is_zone)
                    && (finding.is_refusal() || advice.rule.is_one_of(&OF_VALIDATORS))
            };
            if self.advice.iter().filter(same).any(covers) {
                continue;
            }
            self.advice.push(Advice {
                rule: &VALIDATOR,
                remark: RuleFinding {
                    at: Some(finding.at.clone()),
                    fix: finding.hint.clone().map(Fix::Text),
                    ..RuleFinding::about(&finding.option, level, finding.what.clone())
                },
                basis: Basis::Rule,
            });
        }
        self.sort(file);
    }

    fn sort(&mut self, file: &OptionFile) {
        let is_certain = |advice: &Advice| advice.remark.startup() != Startup::Uncertain;
        let position = |advice: &Advice| {
            let at = advice.remark.at.as_ref();
            let entries = file.entries().iter();
            at.and_then(|at| entries.clone().position(|entry| entry.origin == *at))
                .unwrap_or(usize::MAX)
        };
        self.advice.sort_by_cached_key(|advice| {
            let level = std::cmp::Reverse(advice.remark.level);
            (level, is_certain(advice), position(advice))
        });
    }
}

/// The rules about names and values, of which validators have notes, too.
const OF_VALIDATORS: [&Rule; 5] = [
    UNKNOWN_OPTION,
    ADJUSTED_VALUE,
    DEPRECATED_OPTION,
    OPTION_WITHOUT_EFFECT,
    ABBREVIATED_NAME,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;

    #[test]
    fn each_instance_of_mysqld_multi_is_reviewed() {
        let text = "[mysqld_multi]\nuser=operator\n[mysqld]\nno_such_option=1\n[mysqld1]\nport=3307\n\
                    query_cache_size=8M\n[mysqld2]\nport=3308\ninnodb_buffer_pool_sizes=64M\n\
                    innodb_flush_log_at_trx_commit=2\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let target = Target::parse("mysql-8.0.33").unwrap();
        let lint = lint(&file, &target, &Machine::default());
        let refused = lint
            .advice
            .iter()
            .filter(|advice| advice.remark.level == Level::Refused);
        let refused: Vec<&str> = refused
            .map(|advice| advice.remark.option.as_str())
            .collect();
        let expected = [
            "no_such_option=1",
            "query_cache_size=8M",
            "innodb_buffer_pool_sizes=64M",
        ];
        assert_eq!(refused, expected);
        let repeated = lint
            .advice
            .iter()
            .any(|advice| ["repeated-option", "unread-group"].contains(&advice.rule.id));
        assert!(!repeated, "{:#?}", lint.advice);
        assert_eq!((lint.options, lint.durability.class.name()), (6, "D2"));
    }

    #[test]
    fn a_line_is_overridden_if_it_is_for_every_instance() {
        let text = "[mysqld_multi]\nuser=operator\n[mysqld]\nmax_connections=100\nback_log=90\n\
                    [mysqld1]\nmax_connections=200\nback_log=91\n[mysqld2]\nmax_connections=300\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let target = Target::parse("mysql-8.0.33").unwrap();
        let lint = lint(&file, &target, &Machine::default());
        let overridden = lint
            .advice
            .iter()
            .filter(|advice| advice.rule.is_one_of(&OVERRIDDEN));
        let overridden: Vec<&str> = overridden
            .map(|advice| advice.remark.option.as_str())
            .collect();
        assert_eq!(overridden, ["max_connections=100"]);
    }

    #[test]
    fn the_worst_comes_first_and_lines_in_their_order() {
        let text = "[mysqld]\nsync_binlog=1\nno_such_option=1\nmax_connections=0\nskip_name_resolve=maybe\n";
        let file = OptionFile::parse(text, Path::new("my.cnf")).unwrap();
        let target = Target::parse("mysql-5.7").unwrap();
        let mut lint = lint(&file, &target, &Machine::default());
        let shown = |lint: &Lint| -> Vec<String> {
            let advice = lint
                .advice
                .iter()
                .filter(|advice| advice.remark.at.is_some());
            advice
                .map(|advice| format!("{} {}", advice.rule.id, advice.remark.option))
                .collect()
        };
        let expected = [
            "unknown-option no_such_option=1",
            "adjusted-value max_connections=0",
            "wrong-value skip_name_resolve=maybe",
            "equal-to-default sync_binlog=1",
        ];
        assert_eq!(shown(&lint), expected);
        assert_eq!(lint.needs_restart, ["skip_name_resolve"]);
        assert_eq!((lint.options, lint.count(Level::Refused)), (4, 1));

        let entry = &file.entries()[1];
        let known = Finding::new(entry, Severity::Refused, "unknown");
        let new = Finding::new(&file.entries()[0], Severity::Refused, "something else");
        lint.add_validator(&[known.clone(), new.clone()], &[], &file);
        assert_eq!(shown(&lint)[0], "server-validator sync_binlog=1");
        assert_eq!(lint.advice.len(), expected.len() + 2, "{:?}", shown(&lint));

        // The server takes the name.
        let judged: Vec<_> = file
            .entries()
            .iter()
            .map(|entry| entry.origin.clone())
            .collect();
        lint.add_validator(&[known, new.clone()], &judged, &file);
        assert_eq!(lint.count(Level::Refused), 2);
        lint.add_validator(&[new], &judged, &file);
        assert_eq!(lint.count(Level::Refused), 1);
        let note = "unknown-option no_such_option=1".to_owned();
        assert!(shown(&lint).contains(&note));
    }
}
