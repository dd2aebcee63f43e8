//! The combinations whose comparisons the runs so far decide; with stages, each stage is compared by itself.

use std::collections::BTreeMap;

use samples::{Record, STAGE, Staged};
use verdict::{Answer, Decision, Execution, Question};

/// True if these runs decide every comparison.
pub(crate) fn is_decided(question: &Question, runs: &[Record]) -> bool {
    let staged = Staged::of(runs);
    // The comparisons of all stages are one family.
    let answers = verdict::answers(question, &executions(staged.compared(runs)));
    let decided = |answer: &Answer| answer.decision != Decision::Inconclusive;
    !answers.is_empty() && answers.iter().all(decided)
}

/// The combinations whose comparison with the baseline is decided, in each of their stages.
pub(crate) fn decided_combinations(
    question: &Question,
    runs: &[Record],
) -> Vec<BTreeMap<String, String>> {
    let staged = Staged::of(runs);
    let decided = verdict::decided_combinations(question, &executions(staged.compared(runs)));
    if staged.is_empty() {
        return decided;
    }
    let combinations = staged.records.iter().map(|it| &it.header.combination);
    let open = combinations.filter(|it| !decided.contains(it)).map(of_run);
    let open: Vec<_> = open.collect();
    let mut of_runs: Vec<_> = decided.iter().map(of_run).collect();
    of_runs.sort_unstable();
    of_runs.dedup();
    of_runs.retain(|it| !open.contains(it));
    of_runs
}

fn executions(compared: &[Record]) -> Vec<Execution<'_>> {
    compared.iter().map(|it| Execution::of(it, 1)).collect()
}

/// The combination of the run that a stage is of.
fn of_run(combination: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut combination = combination.clone();
    combination.remove(STAGE);
    combination
}
