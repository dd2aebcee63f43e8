//! Test that a report names limits imposed on purpose on a real server, client or machine.
//!
//! Every case is one run of the real program against one private MariaDB; its output must name the limit.
//! By default a case with a wrong name is repeated once, because few samples of a busy machine may mislead.
//! `DBDYNO_STAGED=5` runs all cases five times without repeats, `DBDYNO_STAGED_ONLY=link` those with that text in
//! their names. A case that this machine does not permit is reported as skipped; so is a round in which other
//! programs used the machine. The test prints a table, which
//! `cargo test -p dbdyno --test suite long::bottlenecks -- --ignored --nocapture` shows.

mod cases;
mod load;

use crate::long::staging::stage::Stage;
use cases::{ALL, Case};
use load::Seen;

/// Attempts at a round that other programs disturb.
const ATTEMPTS: u32 = 2;
/// Number of cases that every machine permits; a case that is always disturbed counts.
const STAGED_AT_LEAST: usize = 6;

/// Results of a case's rounds.
#[derive(Default)]
struct Rounds {
    right: u32,
    wrong: Vec<Seen>,
    /// Reasons why the other rounds were skipped.
    skipped: Vec<String>,
    /// Number of the skipped rounds that other programs disturbed.
    disturbed: usize,
}

impl Rounds {
    /// Executes one round.
    fn add(&mut self, case: &Case, stage: &Stage) {
        let mut disturbance = String::new();
        for _ in 0..ATTEMPTS {
            let seen = match (case.run)(stage) {
                Ok(seen) => seen,
                Err(why) => return self.skipped.push(why),
            };
            if seen.named == case.limit {
                self.right += 1;
                return;
            }
            match seen.disturbed() {
                None => return self.wrong.push(seen),
                Some(how) => disturbance = how,
            }
        }
        self.skipped.push(disturbance);
        self.disturbed += 1;
    }

    fn staged(&self) -> usize {
        self.right as usize + self.wrong.len()
    }

    fn line(&self, case: &Case) -> String {
        let mut line = format!(
            "{:<34} {:<16} {:>2} of {}",
            case.name,
            case.limit,
            self.right,
            self.staged()
        );
        for seen in &self.wrong {
            line.push_str(&format!("\n    instead: {}", seen.words));
        }
        for why in &self.skipped {
            line.push_str(&format!("\n    skipped: {why}"));
        }
        line
    }
}

#[test]
#[ignore = "a long round: make test-all"]
fn the_limit_that_was_put_is_the_limit_that_is_named() {
    let counted = std::env::var("DBDYNO_STAGED").ok();
    let rounds = counted.as_ref().map_or(1, |rounds| {
        rounds.parse().expect("DBDYNO_STAGED is a number of rounds")
    });
    let only = std::env::var("DBDYNO_STAGED_ONLY").unwrap_or_default();
    let stage = Stage::set(&[]);
    let cases = ALL.iter().filter(|case| case.name.contains(&only));
    let mut results: Vec<_> = cases.map(|case| (case, Rounds::default())).collect();
    for _ in 0..rounds {
        for (case, result) in &mut results {
            result.add(case, &stage);
            if counted.is_none() && !result.wrong.is_empty() {
                let first = std::mem::take(result);
                result.add(case, &stage);
                eprintln!("second chance: {}", first.line(case));
            }
        }
    }
    let table: Vec<_> = results
        .iter()
        .map(|(case, rounds)| rounds.line(case))
        .collect();
    eprintln!("{}", table.join("\n"));
    let staged: usize = results.iter().map(|(_, rounds)| rounds.staged()).sum();
    let right: u32 = results.iter().map(|(_, rounds)| rounds.right).sum();
    eprintln!("{right} of {staged} staged rounds are named right");
    let cases_staged = results
        .iter()
        .filter(|(_, rounds)| rounds.staged() + rounds.disturbed > 0)
        .count();
    assert!(
        cases_staged >= STAGED_AT_LEAST.min(results.len()),
        "only {cases_staged} cases could be staged"
    );
    assert!(
        f64::from(right) >= 0.9 * staged as f64,
        "{right} of {staged} are fewer than nine in ten"
    );
    // An unlimited run must not be reported as limited.
    let unlimited = results.iter().filter(|(case, _)| case.limit == cases::NONE);
    for (case, rounds) in unlimited {
        assert!(rounds.wrong.is_empty(), "{}", rounds.line(case));
    }
}
