//! Comparisons of equal servers: how often a difference is found where there is none.

use std::fmt::Write;

use anyhow::Result;
use harness::verdict::digits;

use crate::{
    answer::{Decision, Session},
    figures::{
        count, count_holding, estimates, mean_half_width, seconds, signed, summary, times_s,
    },
    spread::{lag_one, session_spread, variance},
    store::{Outcome, Store, words},
};

/// A setting with two values that differ in nothing: the slow query log is off.
const EQUAL: &str = "long_query_time=10,11";

/// The rate of false differences that is promised.
const FALSE_RATE: f64 = 0.05;

/// How many comparisons of equal servers there are, and how each is made.
#[derive(Debug, clap::Args)]
pub(crate) struct EqualServers {
    /// Number of comparisons, each with a new pair of servers
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u16).range(2..))]
    pub(crate) comparisons: u16,
    /// Measured time of each server in a comparison
    #[arg(long, value_name = "TIME", default_value = "20s")]
    duration: String,
    /// Time budget of a comparison: the default has time for one session
    #[arg(long, value_name = "TIME", default_value = "100s")]
    session_budget: String,
    /// Further options of `dbdyno ab`, after `--`
    #[arg(last = true, value_name = "AB_OPTION")]
    ab_options: Vec<String>,
}

impl EqualServers {
    /// Makes the comparisons; those that fail are missing.
    pub(crate) fn measure(
        &self,
        store: &mut Store,
        place: &str,
        seed: u64,
    ) -> Result<Vec<Outcome>> {
        let mut outcomes = Vec::new();
        for number in 1..=self.comparisons {
            let name = format!("{place}/{number:03}");
            let seed = (seed + u64::from(number)).to_string();
            let outcome = store.outcome(&name, &self.command(&seed))?;
            outcomes.extend(outcome);
        }
        Ok(outcomes)
    }

    fn command(&self, seed: &str) -> Vec<String> {
        let mut command = words(&["ab", "--design", "side-by-side", "--set", EQUAL]);
        command.extend(words(&["--duration", &self.duration]));
        command.extend(words(&["--budget", &self.session_budget, "--seed", seed]));
        command.extend_from_slice(&self.ab_options);
        command.extend(words(&["oltp", "read_write", "--table-size", "25k"]));
        command
    }
}

/// The table of equal servers.
pub(crate) fn table(outcomes: &[Outcome]) -> String {
    let outcomes: &[&Outcome] = &outcomes.iter().collect::<Vec<_>>();
    let (all, mut text) = (outcomes.len(), String::new());
    let mut row = |what: &str, value: String| {
        let _ = writeln!(text, "| {what} | {value} |");
    };
    row("equal servers", "measured".to_owned());
    row("---", "---".to_owned());
    let different = count(outcomes, Decision::Faster) + count(outcomes, Decision::Slower);
    let too_many = unlikely_count(all, FALSE_RATE);
    row(
        "called different",
        format!("{different} of {all} ({too_many} or more would show a rate above 5 %)"),
    );
    let equivalent = count(outcomes, Decision::Equivalent);
    row("called equivalent", format!("{equivalent} of {all}"));
    let holding = count_holding(outcomes, 1.0);
    row("intervals that hold 0", format!("{holding} of {all}"));
    let found = estimates(outcomes);
    row(
        "estimated difference, %: median (least to greatest)",
        summary(&found, signed),
    );
    let deviation = variance(&found).map_or("-".to_owned(), |it| digits(it.sqrt()));
    row("standard deviation of the estimates, %", deviation);
    row(
        "mean half width of the intervals, %",
        mean_half_width(outcomes),
    );
    row(
        "time to the end, s: median (least to greatest)",
        summary(&times_s(outcomes), seconds),
    );
    row(
        "lag-1 correlation of pairs of batches",
        correlation(outcomes, |session| &session.batches),
    );
    row(
        "lag-1 correlation of pairs of slices",
        correlation(outcomes, |session| &session.slices),
    );
    row(
        "standard deviation of the sessions' means, %",
        between(outcomes),
    );
    text.push_str("\nEstimates in the order of the comparisons, %:");
    for estimate in found {
        let _ = write!(text, " {}", signed(estimate));
    }
    text.push('\n');
    text
}

fn sessions<'o>(outcomes: &[&'o Outcome]) -> impl Iterator<Item = &'o Session> {
    outcomes.iter().flat_map(|it| &it.answer.sessions)
}

/// `-0.05 (-0.12 if nothing were correlated)`
fn correlation(outcomes: &[&Outcome], values: fn(&Session) -> &[f64]) -> String {
    let found = lag_one(sessions(outcomes).map(values));
    found.map_or("-".to_owned(), |it| {
        format!(
            "{:+.2} ({:+.2} if nothing were correlated)",
            it.correlation, it.of_unrelated
        )
    })
}

/// `0.9; from the spread within the sessions 0.7, from the placement of the servers 0.6 (40 sessions)`
fn between(outcomes: &[&Outcome]) -> String {
    let spread = session_spread(sessions(outcomes).map(|it| it.batches.as_slice()));
    // A logarithm of a ratio near 1 is the difference.
    let shown = |deviation: f64| digits(deviation * 100.0);
    spread.map_or("-".to_owned(), |it| {
        format!(
            "{}; from the spread within the sessions {}, from the placement of the servers {} ({} sessions)",
            shown(it.of_means),
            shown(it.from_within),
            shown(it.of_placement),
            it.sessions
        )
    })
}

/// The least count that is reached or exceeded with a probability of at most 5 %, if each of `all` has this chance.
///
/// Source: the upper tail of the binomial distribution.
fn unlikely_count(all: usize, chance: f64) -> usize {
    let mut below = 0.0;
    let mut term = (1.0 - chance).powi(all as i32);
    for count in 0..=all {
        if 1.0 - below <= 0.05 {
            return count;
        }
        below += term;
        term *= (all - count) as f64 / (count + 1) as f64 * chance / (1.0 - chance);
    }
    all + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::outcome;

    #[test]
    fn the_servers_differ_in_nothing_but_what_is_not_used() {
        let equal = EqualServers {
            comparisons: 40,
            duration: "20s".to_owned(),
            session_budget: "100s".to_owned(),
            ab_options: words(&["--settle", "200ms"]),
        };
        let expected = "ab --design side-by-side --set long_query_time=10,11 --duration 20s --budget 100s --seed 7 \
                        --settle 200ms oltp read_write --table-size 25k";
        assert_eq!(equal.command("7").join(" "), expected);
    }

    #[test]
    fn counts_that_show_a_rate_above_five_per_cent() {
        // Tables of the binomial distribution: P(X >= 5) of 40 is 4.8 %, and P(X >= 3) of 10 is 1.2 %.
        assert_eq!(unlikely_count(40, 0.05), 5);
        assert_eq!(unlikely_count(10, 0.05), 3);
        assert_eq!(unlikely_count(0, 0.05), 1);
    }

    #[test]
    fn the_table_has_all_figures() {
        let session = |batches: &[f64]| Session {
            batches: batches.to_vec(),
            slices: batches.to_vec(),
        };
        let mut outcomes = [
            outcome(Decision::Inconclusive, 0.98, 1.02, 60.0),
            outcome(Decision::Slower, 0.96, 0.98, 40.0),
        ];
        outcomes[0].answer.sessions = vec![session(&[0.02, -0.02])];
        outcomes[1].answer.sessions = vec![session(&[-0.01, -0.05])];
        let expected = "\
| equal servers | measured |
| --- | --- |
| called different | 1 of 2 (2 or more would show a rate above 5 %) |
| called equivalent | 0 of 2 |
| intervals that hold 0 | 1 of 2 |
| estimated difference, %: median (least to greatest) | -1.5 (-3.0 to +0.0) |
| standard deviation of the estimates, % | 2.12 |
| mean half width of the intervals, % | 1.5 |
| time to the end, s: median (least to greatest) | 50 (40 to 60) |
| lag-1 correlation of pairs of batches | -0.50 (-0.50 if nothing were correlated) |
| lag-1 correlation of pairs of slices | -0.50 (-0.50 if nothing were correlated) |
| standard deviation of the sessions' means, % | 2.12; from the spread within the sessions 2.00, from the placement of the servers 0.707 (2 sessions) |

Estimates in the order of the comparisons, %: +0.0 -3.0
";
        assert_eq!(table(&outcomes), expected);
    }
}
