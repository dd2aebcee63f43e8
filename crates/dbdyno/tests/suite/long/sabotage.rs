//! Test with deliberate changes to a real server, for worse and better: whether `dbdyno compare` finds them and names
//! the changed cost.
//!
//! Every sabotage is one experiment with two levels, whose runs alternate at random, and one comparison of the levels.
//! A comparison without a change must find nothing. By default a few quick sabotages run, and a failed one is repeated
//! once, because the machine may be busy with other tests. `DBDYNO_SABOTAGE=2` runs all of them twice without repeats,
//! `DBDYNO_SABOTAGE_ONLY=cache` those with that text in their names. A sabotage that this machine does not permit is
//! reported as skipped; so is an undecided round during which other programs used the machine. The test prints a
//! table, which `cargo test -p dbdyno --test suite long::sabotage -- --ignored --nocapture` shows.

mod answer;
mod cases;
mod trial;

use answer::Answer;
use cases::{ALL, Case, Ground};

/// Minimum share of the sabotages whose cost must be named first.
const NAMED_AT_LEAST: f64 = 0.9;
/// Sabotages of the whole set that every machine with MariaDB permits: all but the two that need control groups.
const STAGED_AT_LEAST: usize = 8;

/// Results of a case's rounds.
#[derive(Default)]
struct Rounds {
    answers: Vec<Answer>,
    /// Reasons why the other rounds were skipped.
    skipped: Vec<String>,
    /// Number of the skipped rounds that other programs disturbed.
    disturbed: usize,
}

impl Rounds {
    /// Executes one round.
    fn add(&mut self, case: &Case, ground: &Ground, seed: u64) {
        let answer = match ground.try_out(case, seed) {
            Ok(answer) => answer,
            Err(why) => return self.skipped.push(why),
        };
        match &answer.disturbance {
            Some(how) if !answer.decides() && !case.is_right(&answer.decision) => {
                self.skipped.push(format!("{how}; {}", answer.words));
                self.disturbed += 1;
            }
            _ => self.answers.push(answer),
        }
    }

    fn found(&self, case: &Case) -> usize {
        let answers = self.answers.iter();
        answers
            .filter(|answer| case.is_right(&answer.decision))
            .count()
    }

    fn named(&self, case: &Case) -> usize {
        let answers = self.answers.iter();
        answers
            .filter(|answer| case.is_right(&answer.decision) && answer.rule == case.rule)
            .count()
    }

    fn line(&self, case: &Case) -> String {
        let mut line = format!(
            "{:<34} {:<20} found {} of {}, named {}",
            case.name,
            case.rule,
            self.found(case),
            self.answers.len(),
            self.named(case)
        );
        for answer in &self.answers {
            line.push_str(&format!("\n    {}", answer.words));
        }
        for why in &self.skipped {
            line.push_str(&format!("\n    skipped: {why}"));
        }
        line
    }
}

#[test]
#[ignore = "a long round: make test-all"]
fn what_was_made_worse_on_purpose_is_found_and_explained() {
    let counted = std::env::var("DBDYNO_SABOTAGE").ok();
    let rounds: u64 = counted.as_ref().map_or(1, |rounds| {
        rounds
            .parse()
            .expect("DBDYNO_SABOTAGE is a number of rounds")
    });
    let only = std::env::var("DBDYNO_SABOTAGE_ONLY").unwrap_or_default();
    let ground = Ground::new(if counted.is_some() { 2 } else { 1 });
    let cases = ALL
        .iter()
        .filter(|case| (counted.is_some() || case.is_quick) && case.name.contains(&only));
    let mut results: Vec<_> = cases.map(|case| (case, Rounds::default())).collect();
    for seed in 1..=rounds {
        for (case, result) in &mut results {
            result.add(case, &ground, seed);
            if let Some(answer) = result.answers.last() {
                eprintln!("# {}\n\n{}", case.name, answer.text);
            }
            if counted.is_none() && result.named(case) == 0 {
                let first = std::mem::take(result);
                result.add(case, &ground, seed + 1);
                eprintln!("second chance: {}", first.line(case));
            }
        }
    }
    let table: Vec<_> = results
        .iter()
        .map(|(case, rounds)| rounds.line(case))
        .collect();
    eprintln!("{}", table.join("\n"));
    let score = Score::of(&results);
    eprintln!(
        "{} of {} sabotages are found, the cost of {} is named first",
        score.found, score.staged, score.named
    );
    score.judge(counted.is_none() || !only.is_empty());
    nothing_is_found_in_the_same(&results);
}

/// Results of all sabotages.
struct Score {
    /// Number of cases that this machine permits, except disturbed ones.
    cases: usize,
    /// Number of rounds.
    staged: usize,
    found: usize,
    named: usize,
}

impl Score {
    fn of(results: &[(&Case, Rounds)]) -> Self {
        let sabotages = || results.iter().filter(|(case, _)| !case.is_of_the_same());
        let sum = |of: fn(&Rounds, &Case) -> usize| -> usize {
            sabotages().map(|(case, rounds)| of(rounds, case)).sum()
        };
        let could_be = |rounds: &Rounds| rounds.answers.len() + rounds.disturbed > 0;
        Self {
            cases: sabotages().filter(|(_, it)| could_be(it)).count(),
            staged: sum(|rounds, _| rounds.answers.len()),
            found: sum(Rounds::found),
            named: sum(Rounds::named),
        }
    }

    /// Asserts that every sabotage of every round is found, and that nine in ten are named.
    fn judge(&self, is_part: bool) {
        assert_eq!(self.found, self.staged, "not all are found");
        assert!(
            self.named as f64 >= NAMED_AT_LEAST * self.staged as f64,
            "{} of {} are fewer than nine in ten",
            self.named,
            self.staged
        );
        assert!(
            is_part || self.cases >= STAGED_AT_LEAST,
            "only {} could be staged",
            self.cases
        );
    }
}

/// Without a change, one experiment in twenty may report a side as faster: this is the meaning of the 5 %.
fn nothing_is_found_in_the_same(results: &[(&Case, Rounds)]) {
    for (case, rounds) in results.iter().filter(|(case, _)| case.is_of_the_same()) {
        let wrong = rounds.answers.len() - rounds.found(case);
        let is_chance = rounds.answers.len() > 1 && wrong <= 1;
        assert!(wrong == 0 || is_chance, "{}", rounds.line(case));
    }
}
