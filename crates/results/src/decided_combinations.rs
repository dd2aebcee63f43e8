//! The combinations whose comparisons the runs so far decide; each stage, and each of several loads, is compared by itself,
//! and runs side by side by their batches of slices.

use std::collections::BTreeMap;

use samples::{LOAD, Record, RunParts, STAGE};
use verdict::{Decision, Execution, Question, ShortSlices};

/// Why these runs are enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Enough {
    /// They decide every comparison.
    Decided,
    /// Their slices are too short, so that more of them decide none of the comparisons that are open.
    Undecidable(ShortSlices),
}

/// Why no further run is needed after these; `None` if one is. The comparisons of all stages are one family.
pub(crate) fn enough(question: &Question, runs: &[Record]) -> Option<Enough> {
    let parts = RunParts::of(runs);
    let answers = verdict::answers(question, &executions(parts.compared(runs)));
    if verdict::are_decided(&answers) {
        Some(Enough::Decided)
    } else {
        verdict::undecidable_slices(&answers).map(Enough::Undecidable)
    }
}

/// The combinations of the plan whose comparison with the baseline is decided, of each of their stages and of their
/// `loads`, which are their names where the experiment has several.
pub(crate) fn decided_combinations(
    question: &Question,
    runs: &[Record],
    loads: &[String],
) -> Vec<BTreeMap<String, String>> {
    let of_run = |combination: &BTreeMap<String, String>| {
        let mut combination = combination.clone();
        combination.remove(STAGE);
        if !loads.is_empty() {
            combination.remove(LOAD);
        }
        combination
    };
    let parts = RunParts::of(runs);
    let executions = executions(parts.compared(runs));
    let answers = verdict::answers(question, &executions).into_iter();
    let open = answers.filter(|answer| answer.decision == Decision::Inconclusive);
    let open = open.map(|answer| answer.levels.into_iter().chain(answer.within).collect());
    let open: Vec<_> = open.map(|it| of_run(&it)).collect();
    let decided = verdict::decided_combinations(question, &executions);
    let mut of_runs: Vec<_> = decided.iter().map(of_run).collect();
    of_runs.sort_unstable();
    of_runs.dedup();
    of_runs.retain(|it| !open.contains(it));
    of_runs
}

fn executions(compared: &[Record]) -> Vec<Execution<'_>> {
    compared.iter().map(|it| Execution::of(it, 1)).collect()
}

#[cfg(test)]
mod tests {
    use verdict::{Budget, Metric};

    use super::*;

    /// A run of two stages of a second, with this number of operations in each.
    fn run(number: u32, flush: &str, counts: [u64; 2]) -> Record {
        let block = number.div_ceil(2);
        let mut lines = vec![format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":{number},"block":{block},"combination":{{"flush":"{flush}"}},"started_at":"","connections":8,"loops":1,"io":"epoll","transport":"unix socket"}}"#
        )];
        for (count, stage) in counts.into_iter().zip(1..) {
            let mut histogram = samples::Histogram::new();
            (0..count).for_each(|_| histogram.record(1_000_000));
            let histogram = serde_json::to_string(&histogram).unwrap();
            let sum_ns = count * 1_000_000;
            let t_s = stage - 1;
            lines.push(format!(
                r#"{{"line":"load_stage","number":{stage},"t_s":{t_s}.0,"length_s":1.0,"connections_from":{stage},"connections_to":{stage}}}"#
            ));
            lines.push(format!(
                r#"{{"line":"interval","t_s":{t_s}.0,"length_s":1.0,"phase":"measurement","stage":{stage},"operations":[{{"load":"l","operation":"o","count":{count},"errors":0,"sum_ns":{sum_ns},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#
            ));
        }
        lines.push(r#"{"line":"end","t_s":2.0,"complete":true,"why":"as planned"}"#.to_owned());
        Record::read(lines.join("\n").as_bytes()).unwrap()
    }

    /// The same run as the record of a load, with the operations of both stages together.
    fn of_load(record: Record, load: &str) -> Record {
        let mut record = record;
        record.stages.clear();
        let levels = &mut record.header.combination;
        levels.insert(LOAD.to_owned(), load.to_owned());
        record
    }

    /// Six blocks of two combinations, of which the second is twice as fast in the first stage; `second` returns the
    /// operations in the second stage by block and combination.
    fn blocks(second: impl Fn(u64, u64) -> u64) -> Vec<Record> {
        let pairs = (0..6).flat_map(|block| [(block, 1_u64), (block, 2)]);
        let runs = pairs.zip(1..).map(|((block, flush), number)| {
            let counts = [100 * flush + block % 3, second(block, flush)];
            run(number, &flush.to_string(), counts)
        });
        runs.collect()
    }

    /// A session of two combinations, of which each has these numbers of operations in its batches of two slices.
    fn session(flush: &str, counts: &[u64]) -> Record {
        let mut lines = vec![
            format!(
                r#"{{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":{flush},"block":1,"combination":{{"flush":"{flush}"}},"started_at":"","connections":8,"loops":1,"io":"epoll","transport":"unix socket"}}"#
            ),
            r#"{"line":"side_by_side","combinations":[],"slice_s":0.5,"settle_s":0.1,"slices_per_batch":2,"slices_at_most":20}"#.to_owned(),
        ];
        for (slice, count) in (0..).zip(counts.iter().flat_map(|it| [it / 2, it - it / 2])) {
            let mut histogram = samples::Histogram::new();
            (0..count).for_each(|_| histogram.record(1_000_000));
            let histogram = serde_json::to_string(&histogram).unwrap();
            let sum_ns = count * 1_000_000;
            let number = slice + 1;
            lines.push(format!(
                r#"{{"line":"interval","t_s":{slice}.0,"length_s":0.5,"phase":"measurement","slice":{number},"operations":[{{"load":"l","operation":"o","count":{count},"errors":0,"sum_ns":{sum_ns},"min_ns":1000000,"max_ns":1000000,"histogram":{histogram}}}]}}"#
            ));
            lines.push(format!(
                r#"{{"line":"interval","t_s":{slice}.5,"length_s":0.5,"phase":"pause","operations":[]}}"#
            ));
        }
        lines.push(r#"{"line":"end","t_s":20.0,"complete":true,"why":"as planned"}"#.to_owned());
        Record::read(lines.join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn one_session_is_decided_by_its_batches() {
        let question = question();
        let baseline = session("1", &[100, 103, 98, 101, 102, 99]);
        let faster = session("2", &[200, 204, 199, 203, 201, 198]);
        let runs = [baseline.clone(), faster];
        assert!(is_decided(&question, &runs));
        assert_eq!(decided_combinations(&question, &runs, &[]).len(), 1);
        let noisy = session("2", &[200, 50, 201, 49, 202, 51]);
        assert!(!is_decided(&question, &[baseline, noisy]));
    }

    #[test]
    fn another_session_of_slices_that_are_too_short_decides_nothing() {
        let few = [4, 6, 4, 5, 6, 4];
        let runs = ["1", "2"].map(|flush| session(flush, &few));
        let found = enough(&question(), &runs);
        let Some(Enough::Undecidable(short)) = found else {
            panic!("{found:?}");
        };
        assert_eq!((short.slice_s, short.operations), (0.5, 2));
        assert_eq!(enough(&question(), &[]), None);
    }

    fn is_decided(question: &Question, runs: &[Record]) -> bool {
        enough(question, runs) == Some(Enough::Decided)
    }

    fn question() -> Question {
        Question {
            metric: Metric::Throughput,
            baseline: vec![("flush".to_owned(), "1".to_owned())],
            min_effect: 0.02,
            until_decided: Some(Budget {
                blocks: 10,
                time_is_spent: false,
            }),
        }
    }

    #[test]
    fn a_combination_is_decided_when_all_its_stages_are() {
        let question = question();
        let clear = blocks(|block, flush| 100 * flush + block % 2);
        let second = BTreeMap::from([("flush".to_owned(), "2".to_owned())]);
        assert_eq!(decided_combinations(&question, &clear, &[]), [second]);
        assert!(is_decided(&question, &clear));
        // In the second stage, each combination is twice as fast in every other block.
        let noisy = blocks(|block, flush| 100 + 100 * ((block + flush) % 2));
        assert!(decided_combinations(&question, &noisy, &[]).is_empty());
        assert!(!is_decided(&question, &noisy));
    }

    #[test]
    fn a_combination_is_decided_when_all_its_loads_are() {
        let question = question();
        let names = ["oltp", "batch"].map(str::to_owned);
        let faster = blocks(|block, flush| 100 * flush + block % 2);
        let noisy = blocks(|block, flush| 100 * flush + 1000 * ((block + flush) % 2));
        let both = |batch: &[Record]| -> Vec<Record> {
            let pairs = faster.iter().zip(batch);
            pairs
                .flat_map(|(oltp, batch)| {
                    [
                        of_load(oltp.clone(), "oltp"),
                        of_load(batch.clone(), "batch"),
                    ]
                })
                .collect()
        };
        let second = BTreeMap::from([("flush".to_owned(), "2".to_owned())]);
        let clear = both(&faster);
        assert_eq!(decided_combinations(&question, &clear, &names), [second]);
        assert!(is_decided(&question, &clear));
        let unclear = both(&noisy);
        assert!(decided_combinations(&question, &unclear, &names).is_empty());
        assert!(!is_decided(&question, &unclear));
        // A load that the baseline leaves out is not compared.
        let mut alone = clear;
        alone.retain(|it| {
            let levels = &it.header.combination;
            levels["flush"] == "2" || levels[LOAD] == "oltp"
        });
        assert_eq!(decided_combinations(&question, &alone, &names).len(), 1);
    }
}
