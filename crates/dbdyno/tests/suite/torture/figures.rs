//! Cases and faults by kind, and the loop that runs the cases.

use std::{
    collections::BTreeMap,
    fmt,
    panic::{self, AssertUnwindSafe},
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::torture::{budget::Budget, chance::Chance, trial::Ended};

/// A kind of torture.
pub(crate) trait Kind: Sync {
    fn name(&self) -> &'static str;
    /// Number of concurrent cases.
    fn workers(&self) -> usize {
        2
    }
    /// Runs the case with this number.
    fn case(&self, number: u64, chance: Chance) -> Case;
}

/// A finished case.
pub(crate) struct Case {
    /// Short name of the attack; cases are counted by it.
    pub(crate) sort: String,
    /// Full description, with the command line.
    pub(crate) story: String,
    pub(crate) faults: Vec<String>,
}

impl Case {
    /// A case of one command.
    pub(crate) fn of(sort: String, story: &str, ended: &Ended, faults: Vec<String>) -> Self {
        let mut story = format!("{story}\n{}\n{}", ended.line, end(ended));
        if !faults.is_empty() {
            story.push_str(&outputs(ended));
        }
        Self {
            sort,
            story,
            faults,
        }
    }
}

fn end(ended: &Ended) -> String {
    let how = match (ended.code, ended.signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, signal) => format!("signal {signal:?}"),
    };
    let mib = ended.peak_bytes >> 20;
    format!("{how} after {:.1?}, {mib} MiB at most", ended.took)
}

/// Its output, without the middle part.
pub(crate) fn outputs(ended: &Ended) -> String {
    let cut = |text: &str| match text.char_indices().nth(2000) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text.to_owned(),
    };
    let stdout = String::from_utf8_lossy(&ended.stdout);
    format!(
        "\n--- output\n{}\n--- error output\n{}",
        cut(&stdout),
        cut(&ended.stderr)
    )
}

/// Results of a kind.
#[derive(Default)]
pub(crate) struct Figures {
    by_sort: BTreeMap<String, (usize, usize)>,
    skipped: Option<String>,
    pub(crate) cases: usize,
    pub(crate) faults: usize,
    shown: Vec<String>,
}

/// Maximum faults that are printed in full.
const SHOWN: usize = 25;

impl Figures {
    /// Runs cases of a kind until the time is over, at least one.
    pub(crate) fn of(kind: &dyn Kind, budget: &Budget, time: Duration) -> Self {
        let end = Instant::now() + time;
        let figures = Mutex::new(Self::default());
        let next = AtomicU64::new(budget.case.unwrap_or(0));
        let workers = if budget.case.is_some() {
            1
        } else {
            kind.workers()
        };
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let case = one(kind, budget.seed, number);
                        figures.lock().expect("adding does not panic").add(
                            kind,
                            budget.seed,
                            number,
                            case,
                        );
                        if Instant::now() > end || budget.case.is_some() {
                            return;
                        }
                    }
                });
            }
        });
        figures.into_inner().expect("adding does not panic")
    }

    fn add(&mut self, kind: &dyn Kind, seed: u64, number: u64, case: Case) {
        self.cases += 1;
        let counted = self.by_sort.entry(case.sort.clone()).or_default();
        counted.0 += 1;
        if case.faults.is_empty() {
            return;
        }
        counted.1 += 1;
        self.faults += 1;
        let name = kind.name();
        let faults = case.faults.join("; ");
        let shown = format!(
            "FAULT {name} {number} ({}): {faults}\n\
             again: DBDYNO_TORTURE_SEED={seed} DBDYNO_TORTURE_ONLY={name} DBDYNO_TORTURE_CASE={number} \
             cargo test -p dbdyno --test suite torture -- --nocapture\n{}\n",
            case.sort, case.story
        );
        eprintln!("{shown}");
        if self.shown.len() < SHOWN {
            self.shown.push(shown);
        }
    }

    /// No cases, with the reason.
    pub(crate) fn skipped(why: String) -> Self {
        Self {
            skipped: Some(why),
            ..Self::default()
        }
    }

    /// The faults, with the commands that repeat them.
    pub(crate) fn shown(&self) -> String {
        self.shown.join("\n")
    }
}

/// A panic of the harness counts as a fault.
fn one(kind: &dyn Kind, seed: u64, number: u64) -> Case {
    let chance = Chance::new(seed, kind.name(), number);
    let case = panic::catch_unwind(AssertUnwindSafe(|| kind.case(number, chance)));
    case.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Case {
            sort: "the harness".to_owned(),
            story: text.unwrap_or_default(),
            faults: vec!["the harness panicked".to_owned()],
        }
    })
}

impl fmt::Display for Figures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (sort, (cases, faults)) in &self.by_sort {
            writeln!(
                formatter,
                "    {sort:<52} {cases:>6} cases {faults:>4} faults"
            )?;
        }
        if let Some(why) = &self.skipped {
            writeln!(formatter, "    skipped: {why}")?;
        }
        Ok(())
    }
}
