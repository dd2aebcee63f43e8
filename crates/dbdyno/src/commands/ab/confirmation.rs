//! `--confirm`: classical runs of two combinations after a comparison side by side, and whether both answers agree.

use std::path::{Path, PathBuf};

use audit::Level as FindingLevel;
use blame::{Blame, Blamed};
use report::Results;
use toml_edit::{Table, value};
use verdict::{Answer, Decision, Execution, interim_answer};

use super::factor::{Factor, Level};

/// The rule about servers that work while others have their turns.
const IDLE_SERVERS: &str = "M13";

/// A decided comparison of runs side by side, which classical runs are to confirm.
pub(super) struct Decided {
    /// The levels of the baseline.
    baseline: Vec<(String, String)>,
    answer: Answer,
    /// True if a server worked while another one was measured.
    has_idle_work: bool,
}

impl Decided {
    /// The one of the combination that is best by its comparison with the baseline; `None` if no comparison is decided.
    pub(super) fn of(results: &Results) -> Option<Self> {
        let question = results.verdict.as_ref()?;
        let answer = best(answers(results))?;
        Some(Self {
            baseline: question.baseline.clone(),
            answer,
            has_idle_work: has_idle_work(results),
        })
    }

    /// The same factors with the levels of the two combinations only, the baseline's first.
    pub(super) fn factors(&self, factors: &[Factor]) -> Vec<Factor> {
        let of_sides = |factor: &Factor| {
            let name = factor.name();
            let sides = [&self.baseline, &self.answer.levels];
            let labels = sides.into_iter().flat_map(|side| {
                let own = side.iter().find(|(known, _)| *known == name);
                own.map(|(_, label)| label)
            });
            let named = |label: &String| factor.levels.iter().find(|it| it.label == *label);
            let mut levels: Vec<Level> = labels.filter_map(named).cloned().collect();
            levels.dedup();
            Factor {
                levels,
                ..factor.clone()
            }
        };
        let factors = factors.iter();
        factors
            .map(|factor| {
                if factor.varies() {
                    of_sides(factor)
                } else {
                    factor.clone()
                }
            })
            .collect()
    }

    /// What the classical runs say of it.
    ///
    /// ```text
    /// confirmed by classical runs: +21 % (+12 % to +31 %)
    /// ```
    pub(super) fn in_words(&self, classical: &Results) -> String {
        // They are of two combinations.
        let answers = answers(classical);
        self.compared_with(answers.first(), are_shared(classical))
    }

    /// The same of the answer of classical runs; `are_disturbed` if other programs used the machine during most of them.
    fn compared_with(&self, classical: Option<&Answer>, are_disturbed: bool) -> String {
        let decision = classical.map_or(Decision::Inconclusive, |it| it.decision);
        let found = classical.map_or_else(|| "no run is complete".to_owned(), in_words);
        if decision == self.answer.decision {
            let change = found.split_once(", ").map_or("", |(_, change)| change);
            return format!("confirmed by classical runs: {change}");
        }
        let own = in_words(&self.answer);
        let what = match decision {
            Decision::Inconclusive => "not confirmed",
            Decision::Faster | Decision::Slower | Decision::Equivalent => "contradicted",
        };
        let trust = match (decision, are_disturbed, self.has_idle_work) {
            (_, true, _) => {
                "trust neither: other programs used the machine during the classical runs (H14)"
            }
            (Decision::Inconclusive, false, true) => {
                "trust neither: side by side, a server worked while others had their turns (M13); use a longer --budget"
            }
            (Decision::Inconclusive, false, false) => {
                "trust the answer side by side: its slices share the noise of the machine, which classical runs do not; \
                 a longer --budget gives more of them"
            }
            (_, false, true) => {
                "trust the classical runs: side by side, a server worked while others had their turns (M13)"
            }
            (_, false, false) => {
                "trust the classical runs: each of their servers has the machine to itself, and pays for the work that it \
                 postpones"
            }
        };
        format!("{what} by classical runs: {found}; side by side: {own}; {trust}")
    }
}

/// Where the classical runs are recorded, beside the results with this name; an error if something is there already.
pub(super) fn results_beside(results: &Path) -> Result<PathBuf, Blamed> {
    let mut name = results.as_os_str().to_owned();
    name.push("-classical");
    let path = PathBuf::from(name);
    if path.symlink_metadata().is_err() {
        return Ok(path);
    }
    let message = format!(
        "{} exists already, and --confirm records the classical runs there",
        path.display()
    );
    let hint = "name another directory with --results".to_owned();
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

/// The tables of `[[exclude]]` that leave two combinations of factors with two levels each: that of all first levels, and
/// that of all second ones.
pub(super) fn mixed_combinations(factors: &[Factor]) -> Vec<Table> {
    let mut varied = factors.iter().filter(|factor| factor.varies());
    let Some(leader) = varied.next() else {
        return Vec::new();
    };
    let condition = |factor: &Factor, level: &Level| (factor.name(), value(level.label.as_str()));
    let tables = varied.flat_map(|follower| {
        let mixed = leader.levels.iter().zip(follower.levels.iter().rev());
        mixed.map(move |(own, other)| {
            Table::from_iter([condition(leader, own), condition(follower, other)])
        })
    });
    tables.collect()
}

/// The comparisons of results with their baseline.
fn answers(results: &Results) -> Vec<Answer> {
    let Some(question) = &results.verdict else {
        return Vec::new();
    };
    let compared = results.compared().iter();
    let executions: Vec<Execution<'_>> = compared.map(|it| Execution::of(it, 1)).collect();
    verdict::answers(question, &executions)
}

/// The decided comparison with the best outcome: the largest gain, else none, else the smallest loss.
fn best(answers: Vec<Answer>) -> Option<Answer> {
    let distance = |it: &Answer| {
        it.comparison
            .map_or(0.0, |found| found.ratio.estimate.ln().abs())
    };
    let rank = |it: &Answer| match it.decision {
        Decision::Faster => Some((2, distance(it))),
        Decision::Equivalent => Some((1, 0.0)),
        Decision::Slower => Some((0, -distance(it))),
        Decision::Inconclusive => None,
    };
    let decided = answers.into_iter().filter_map(|it| Some((rank(&it)?, it)));
    let best = decided.max_by(|(one, _), (other, _)| {
        let order = one.0.cmp(&other.0);
        order.then(one.1.total_cmp(&other.1))
    });
    best.map(|(_, answer)| answer)
}

/// `faster, +21 % (+12 % to +31 %)`
fn in_words(answer: &Answer) -> String {
    let change = interim_answer(std::slice::from_ref(answer));
    let change = change.unwrap_or_else(|| "too few runs to compare".to_owned());
    format!("{}, {change}", answer.decision.word())
}

/// True if a server worked while other servers had their turns.
fn has_idle_work(results: &Results) -> bool {
    let judgements = results.audit.iter().flat_map(|audit| &audit.judgements);
    let mut of_rule = judgements.filter(|it| it.rule.id == IDLE_SERVERS);
    of_rule.any(|it| {
        let outcome = it.outcome.as_ref();
        outcome.is_ok_and(|finding| finding.level >= FindingLevel::Warn)
    })
}

/// True if other programs used the machine during most of the complete runs.
fn are_shared(results: &Results) -> bool {
    let complete = results.runs.iter().filter(|run| run.is_complete());
    let (shared, quiet): (Vec<_>, Vec<_>) =
        complete.partition(|run| audit::shared_machine(run).is_some());
    shared.len() > quiet.len()
}

#[cfg(test)]
mod tests {
    use stats::compare_pairs;

    use super::{
        super::factor::{setting, versions},
        *,
    };

    fn named(levels: &[(&str, &str)]) -> Vec<(String, String)> {
        let levels = levels.iter();
        levels
            .map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()))
            .collect()
    }

    /// A comparison of the second side with 100, which did this.
    fn answer(levels: &[(&str, &str)], decision: Decision, value: f64) -> Answer {
        let pairs = [-1.0, 0.0, 1.0].map(|noise| (100.0, value + noise));
        Answer {
            within: Vec::new(),
            levels: named(levels),
            of_batches: true,
            means: Some([100.0, value]),
            decision,
            comparison: compare_pairs(&pairs, 0.95),
            paired: true,
            p_value: None,
            executions_needed: None,
            effect: 0.02,
            smallest_effect: None,
            looks: None,
            short_slices: None,
        }
    }

    #[test]
    fn the_best_decided_combination_is_confirmed() {
        let levels = |level| [("flush", level)];
        let of = |decision, value| answer(&levels("2"), decision, value);
        for (values, expected) in [
            (
                vec![(Decision::Faster, 110.0), (Decision::Faster, 130.0)],
                Some(130.0),
            ),
            (
                vec![(Decision::Slower, 70.0), (Decision::Slower, 90.0)],
                Some(90.0),
            ),
            (
                vec![(Decision::Slower, 90.0), (Decision::Faster, 103.0)],
                Some(103.0),
            ),
            (
                vec![
                    (Decision::Inconclusive, 150.0),
                    (Decision::Equivalent, 100.0),
                    (Decision::Slower, 90.0),
                ],
                Some(100.0),
            ),
            (vec![(Decision::Inconclusive, 150.0)], None),
        ] {
            let answers = values.iter().map(|(decision, value)| of(*decision, *value));
            let found = best(answers.collect());
            let value = found.and_then(|it| it.means).map(|means| means[1]);
            assert_eq!(value, expected, "{values:?}");
        }
    }

    fn decided(has_idle_work: bool) -> Decided {
        Decided {
            baseline: named(&[("flush", "1"), ("sync", "0"), ("version", "mariadb-10.11")]),
            answer: answer(
                &[("flush", "2"), ("sync", "0"), ("version", "mysql-9.7")],
                Decision::Faster,
                121.0,
            ),
            has_idle_work,
        }
    }

    #[test]
    fn both_answers_are_named_and_the_one_to_trust() {
        let own = in_words(&decided(false).answer);
        let classical = |decision, value| answer(&[], decision, value);
        let same = classical(Decision::Faster, 119.0);
        let change = in_words(&same).replacen("faster, ", "", 1);
        assert_eq!(
            decided(true).compared_with(Some(&same), true),
            format!("confirmed by classical runs: {change}")
        );
        let equivalent = classical(Decision::Equivalent, 100.0);
        let open = classical(Decision::Inconclusive, 110.0);
        for (other, are_disturbed, has_idle_work, what, trust) in [
            (
                &equivalent,
                false,
                false,
                "contradicted",
                "trust the classical runs: each",
            ),
            (
                &equivalent,
                false,
                true,
                "contradicted",
                "trust the classical runs: side by side",
            ),
            (
                &equivalent,
                true,
                true,
                "contradicted",
                "trust neither: other programs",
            ),
            (
                &open,
                false,
                false,
                "not confirmed",
                "trust the answer side by side: ",
            ),
            (
                &open,
                false,
                true,
                "not confirmed",
                "trust neither: side by side",
            ),
        ] {
            let said = decided(has_idle_work).compared_with(Some(other), are_disturbed);
            let found = in_words(other);
            let begin = format!("{what} by classical runs: {found}; side by side: {own}; {trust}");
            assert!(said.starts_with(&begin), "{said}");
        }
        let nothing = decided(false).compared_with(None, false);
        assert!(
            nothing.starts_with("not confirmed by classical runs: no run is complete; "),
            "{nothing}"
        );
    }

    #[test]
    fn the_classical_runs_are_of_the_two_combinations() {
        let factors = [
            setting("flush=0,1,2").unwrap(),
            setting("sync=0,1").unwrap(),
            versions("mariadb-10.11,mysql-9.7").unwrap(),
            setting("fixed=7").unwrap(),
        ];
        let found = decided(false).factors(&factors);
        let labels = found.iter().map(|factor| {
            let labels = factor.levels.iter().map(|level| level.label.as_str());
            labels.collect::<Vec<_>>()
        });
        assert_eq!(
            labels.collect::<Vec<_>>(),
            [
                vec!["1", "2"],
                vec!["0"],
                vec!["mariadb-10.11", "mysql-9.7"],
                vec!["7"]
            ]
        );
        let mixed = mixed_combinations(&found);
        let mixed: Vec<String> = mixed.iter().map(ToString::to_string).collect();
        assert_eq!(
            mixed,
            [
                "flush = \"1\"\nversion = \"mysql-9.7\"\n",
                "flush = \"2\"\nversion = \"mariadb-10.11\"\n",
            ]
        );
        assert!(mixed_combinations(&found[..2]).is_empty());
    }

    #[test]
    fn the_classical_runs_have_a_directory_beside() {
        let directory = tempfile::tempdir().unwrap();
        let results = directory.path().join("out");
        let beside = results_beside(&results).unwrap();
        assert_eq!(beside, directory.path().join("out-classical"));
        std::fs::create_dir(&beside).unwrap();
        assert_eq!(results_beside(&results).unwrap_err().blame, Blame::Input);
    }
}
