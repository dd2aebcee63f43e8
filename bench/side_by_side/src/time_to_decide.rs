//! How long it takes until a true difference of 5 % is decided, side by side and one run after the other.

use std::fmt::Write;

use anyhow::Result;
use harness::{target::Target, verdict::Bound};

use crate::{
    answer::Decision,
    costly_server::{self, Cost},
    design::Design,
    figures::{
        count, count_holding, estimates, mean_half_width, seconds, signed, summary, times_s,
    },
    null_pair::NullPair,
    store::{Outcome, Store, words},
};

/// The part of the classical design's time that the target allows.
const TIME_AT_MOST: f64 = 0.2;

/// The statement of the load on null servers.
const POINT_SELECT: &str = "\\set id random(1, 100000)\nSELECT c FROM sbtest1 WHERE id = :id;\n";

/// How many decisions are timed.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct TimeToDecide {
    /// Number of comparisons with each design, in turn
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..))]
    pub(crate) rounds: u16,
    /// Time budget of a comparison, minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 10, value_parser = clap::value_parser!(u32).range(3..=600))]
    budget: u32,
}

/// What differs by 5 % between the two servers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Servers {
    Null,
    MariaDb(Cost),
}

/// The comparisons with both designs, one of each in a round; `None` for one that failed.
#[derive(Debug, Default)]
pub(crate) struct Race {
    side_by_side: Vec<Option<Outcome>>,
    classical: Vec<Option<Outcome>>,
}

impl TimeToDecide {
    /// Makes the comparisons, in turn; the design that comes first alternates.
    pub(crate) fn measure(
        self,
        store: &mut Store,
        place: &str,
        servers: Servers,
        seed: u64,
    ) -> Result<Race> {
        let mut race = Race::default();
        for round in 1..=self.rounds {
            let mut designs = [Design::SideBySide, Design::Classical];
            if round % 2 == 0 {
                designs.reverse();
            }
            for design in designs {
                let name = format!("{place}/{}-{round:02}", design.name());
                let seed = seed + u64::from(round);
                let outcome = match servers {
                    Servers::Null => self.on_null_servers(store, &name, design, seed)?,
                    Servers::MariaDb(cost) => {
                        let hashes = cost.hashes;
                        let budget = self.budget;
                        let words =
                            costly_server::race(store, &name, design, hashes, budget, seed)?;
                        store.outcome(&name, &words)?
                    }
                };
                race.outcomes_mut(design).push(outcome);
            }
        }
        Ok(race)
    }

    fn on_null_servers(
        self,
        store: &mut Store,
        name: &str,
        design: Design,
        seed: u64,
    ) -> Result<Option<Outcome>> {
        let script = store.write("experiments/point.sql", POINT_SELECT)?;
        let sockets = NullPair::sockets(store.work());
        let hosts = sockets.map(|it| it.display().to_string()).join(",");
        let budget = format!("{}m", self.budget);
        let mut command = words(&["ab", "--host", &hosts, "--user", "bench"]);
        command.extend(words(&["--design", design.name(), "--budget", &budget]));
        command.extend(words(&["--seed", &seed.to_string(), "script"]));
        command.push(script.display().to_string());
        let _servers = if store.has(name) {
            None
        } else {
            Some(NullPair::start(store.dbdyno(), store.work(), seed)?)
        };
        store.outcome(name, &command)
    }
}

impl Race {
    fn outcomes_mut(&mut self, design: Design) -> &mut Vec<Option<Outcome>> {
        match design {
            Design::SideBySide => &mut self.side_by_side,
            Design::Classical => &mut self.classical,
        }
    }

    pub(crate) fn outcomes(&self, design: Design) -> impl Iterator<Item = &Outcome> {
        let outcomes = match design {
            Design::SideBySide => &self.side_by_side,
            Design::Classical => &self.classical,
        };
        outcomes.iter().flatten()
    }

    /// The comparisons that did not fail.
    pub(crate) fn made(&self) -> usize {
        self.outcomes(Design::SideBySide).count() + self.outcomes(Design::Classical).count()
    }

    /// The target for the time: the ratios of the rounds in which neither comparison failed.
    ///
    /// A classical comparison that ended undecided would have needed more time: the ratio of its round is too large, in
    /// favour of the classical design. One side by side that is undecided or wrong makes the target void.
    pub(crate) fn target(&self, what: &str) -> Target {
        let rounds = self.side_by_side.iter().zip(&self.classical);
        let times: Vec<(f64, f64)> = rounds
            .filter_map(|(beside, classical)| {
                Some((beside.as_ref()?.wall_s, classical.as_ref()?.wall_s))
            })
            .collect();
        let what = format!("time to decide, side by side / classical: {what}");
        Target::of_pairs(what, Bound::AtMost(TIME_AT_MOST), &times)
            .void_where(self.not_decided().as_ref())
    }

    /// The time of each round by that of the same round of another race, side by side.
    pub(crate) fn slower_than(&self, other: &Self, what: String, bound: f64) -> Target {
        let rounds = self.side_by_side.iter().zip(&other.side_by_side);
        let times: Vec<(f64, f64)> = rounds
            .filter_map(|(own, other)| Some((own.as_ref()?.wall_s, other.as_ref()?.wall_s)))
            .collect();
        Target::of_pairs(what, Bound::AtMost(bound), &times).void_where(self.not_decided().as_ref())
    }

    /// Why a time side by side is not one of a right decision, if any is not.
    fn not_decided(&self) -> Option<String> {
        let outcomes: Vec<&Outcome> = self.outcomes(Design::SideBySide).collect();
        match outcomes.len() - count(&outcomes, Decision::Slower) {
            0 => None,
            others => Some(format!(
                "{others} of {} comparisons side by side did not find the slower server",
                outcomes.len()
            )),
        }
    }
}

/// The tables of races, each with its title and the true ratio where it is known.
pub(crate) fn table(races: &[(&str, &Race, Option<f64>)]) -> String {
    let mut text = "| difference of 5 %, design | comparisons | slower (right) | faster (wrong) | equivalent | \
                    undecided | time to the end, s: median (least to greatest) | estimate, %: median (least to \
                    greatest) | mean half width, % | intervals that hold the true difference |\n\
                    | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for (title, race, truth) in races {
        for design in [Design::SideBySide, Design::Classical] {
            let outcomes: Vec<&Outcome> = race.outcomes(design).collect();
            let holding = truth.map_or("-".to_owned(), |truth| {
                format!("{} of {}", count_holding(&outcomes, truth), outcomes.len())
            });
            let _ = writeln!(
                text,
                "| {title}, {} | {} | {} | {} | {} | {} | {} | {} | {} | {holding} |",
                design.title(),
                outcomes.len(),
                count(&outcomes, Decision::Slower),
                count(&outcomes, Decision::Faster),
                count(&outcomes, Decision::Equivalent),
                count(&outcomes, Decision::Inconclusive),
                summary(&times_s(&outcomes), seconds),
                summary(&estimates(&outcomes), signed),
                mean_half_width(&outcomes),
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use harness::verdict::Verdict;

    use super::*;
    use crate::figures::tests::outcome;

    /// A race with these times of the two designs, all decided.
    fn race(times_s: &[(f64, f64)]) -> Race {
        let decided = |wall_s| Some(outcome(Decision::Slower, 0.94, 0.97, wall_s));
        Race {
            side_by_side: times_s.iter().map(|it| decided(it.0)).collect(),
            classical: times_s.iter().map(|it| decided(it.1)).collect(),
        }
    }

    #[test]
    fn times_of_the_same_round_are_compared() {
        let mut found = race(&[(30.0, 300.0), (50.0, 500.0), (40.0, 400.0)]);
        let target = found.target("MariaDB");
        assert!((target.measured.unwrap().estimate - 0.1).abs() < 1e-9);
        assert_eq!((target.rounds, &target.verdict), (3, &Verdict::Met));
        // A failed comparison takes its round with it.
        found.classical[1] = None;
        assert_eq!((found.target("MariaDB").rounds, found.made()), (2, 5));
        found.side_by_side[0] = Some(outcome(Decision::Inconclusive, 0.94, 1.01, 600.0));
        let void = found.target("MariaDB").verdict;
        assert!(
            matches!(&void, Verdict::Void(why) if why.starts_with("1 of 3 ")),
            "{void}"
        );
    }

    #[test]
    fn a_race_beside_a_neighbour_is_compared_with_the_quiet_one() {
        let quiet = race(&[(30.0, 300.0), (40.0, 300.0)]);
        let noisy = race(&[(45.0, 900.0), (60.0, 900.0)]);
        let target = noisy.slower_than(&quiet, "beside a neighbour".to_owned(), 2.0);
        assert!((target.measured.unwrap().estimate - 1.5).abs() < 1e-9);
        assert_eq!(target.verdict, Verdict::Met);
    }

    #[test]
    fn a_line_for_each_design() {
        let mut found = race(&[(30.0, 300.0), (40.0, 200.0)]);
        found.classical[0] = Some(outcome(Decision::Inconclusive, 0.96, 1.03, 600.0));
        let text = table(&[("MariaDB", &found, Some(0.95)), ("null", &found, None)]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines[..2],
            [
                "| MariaDB, side by side | 2 | 2 | 0 | 0 | 0 | 35 (30 to 40) | -4.5 (-4.5 to -4.5) | 1.5 | 2 of 2 |",
                "| MariaDB, classical | 2 | 1 | 0 | 0 | 1 | 400 (200 to 600) | -2.5 (-4.5 to -0.5) | 2.5 | 1 of 2 |",
            ]
        );
        assert!(lines[2].starts_with("| null, side by side ") && lines[2].ends_with("| - |"));
    }
}
