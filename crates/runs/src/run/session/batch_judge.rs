//! Whether the batches of slices so far decide what an experiment is to decide, by the records as they are in memory.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read,
};

use samples::{Batches, End, Interval, Line, Record, RunHeader, SideBySide};
use verdict::{Answer, Execution, Question};

/// Judges the batches of a session and of those before it.
pub(crate) struct BatchJudge {
    question: Question,
    /// The batches of the sessions before.
    earlier: Vec<Record>,
    /// Time in which the servers of those sessions were loaded, seconds.
    earlier_s: f64,
    /// The runs of this session.
    runs: Vec<JudgedRun>,
}

/// A run of a session. Its batches are read one by one, when something of them has arrived: reading the whole run again
/// after each batch would take more and more time.
struct JudgedRun {
    turns: SideBySide,
    /// The first lines of its record.
    begin: Vec<u8>,
    /// The lines of each batch that has begun: the intervals in which operations of its slices were due or came back.
    lines: BTreeMap<u32, Vec<u8>>,
    /// The batches of which lines have arrived since they were read.
    changed: BTreeSet<u32>,
    /// The batches that are complete, as read last.
    batches: BTreeMap<u32, Record>,
}

impl BatchJudge {
    /// For a question of an experiment that runs until it is decided, which the runs of earlier sessions have left open.
    pub(crate) fn new(question: Question, earlier: &[Record]) -> Self {
        Self {
            question,
            earlier: Batches::of(earlier).records,
            earlier_s: loaded_s(earlier),
            runs: Vec::new(),
        }
    }

    /// Adds a run of this session, before its load begins.
    pub(super) fn begin(&mut self, header: &RunHeader, turns: &SideBySide) {
        let mut begin = text_of(&Line::Run(header.clone()));
        begin.extend(text_of(&Line::SideBySide(turns.clone())));
        self.runs.push(JudgedRun {
            turns: turns.clone(),
            begin,
            lines: BTreeMap::new(),
            changed: BTreeSet::new(),
            batches: BTreeMap::new(),
        });
    }

    /// Adds an interval of a run, if it has operations of a slice.
    pub(super) fn add(&mut self, run: usize, interval: &Interval) {
        self.runs[run].add(interval);
    }

    /// The comparisons by all batches so far; none if a batch cannot be read, which leaves the question open.
    pub(super) fn answers(&mut self) -> Vec<Answer> {
        for run in &mut self.runs {
            if run.read_changed().is_none() {
                return Vec::new();
            }
        }
        let batches = self.runs.iter().flat_map(|run| run.batches.values());
        let compared = self.earlier.iter().chain(batches);
        let executions: Vec<_> = compared.map(|it| Execution::of(it, 1)).collect();
        verdict::answers(&self.question, &executions)
    }

    /// Time in which the servers of the sessions before were loaded, seconds.
    pub(super) fn earlier_s(&self) -> f64 {
        self.earlier_s
    }
}

impl JudgedRun {
    fn add(&mut self, interval: &Interval) {
        let carried = interval.carried.iter().map(|it| it.slice);
        let slices = carried.chain([interval.slice]).flatten();
        let numbers: BTreeSet<u32> = slices.map(|slice| self.turns.batch_of(slice)).collect();
        if numbers.is_empty() {
            return;
        }
        let text = text_of(&Line::Interval(interval.clone()));
        for number in &numbers {
            self.lines.entry(*number).or_default().extend(&text);
        }
        self.changed.extend(numbers);
    }

    /// Reads the batches that have changed, as the report will read them; `None` if one cannot be read.
    fn read_changed(&mut self) -> Option<()> {
        let end = text_of(&Line::End(End {
            t_s: 0.0,
            complete: true,
            why: String::new(),
        }));
        while let Some(number) = self.changed.first().copied() {
            let lines = self.lines.get(&number)?;
            let text = self.begin.as_slice().chain(lines.as_slice());
            let part = Record::read(text.chain(end.as_slice())).ok()?;
            // An interval in which operations came back may itself be of another batch.
            let mut read = Batches::of(&[part]).records.into_iter();
            if let Some(batch) = read.find(|it| it.batch == Some(number)) {
                self.batches.insert(number, batch);
            }
            self.changed.remove(&number);
        }
        Some(())
    }
}

/// Time in which the servers of sessions were loaded, by their runs, seconds. The runs of a session are loaded together.
fn loaded_s(runs: &[Record]) -> f64 {
    let mut sessions: BTreeMap<u32, f64> = BTreeMap::new();
    for run in runs {
        let end_s = run.end.as_ref().map_or(0.0, |end| end.t_s);
        let longest = sessions.entry(run.header.block).or_default();
        *longest = longest.max(end_s);
    }
    sessions.values().sum()
}

fn text_of(line: &Line) -> Vec<u8> {
    let mut text = serde_json::to_vec(line).expect("a line holds only maps with string keys");
    text.push(b'\n');
    text
}

#[cfg(test)]
mod tests {
    use samples::{Histogram, LateOperations, OperationInterval};
    use verdict::{Budget, Metric};

    use super::*;

    fn combination(flush: usize) -> BTreeMap<String, String> {
        BTreeMap::from([("flush".to_owned(), flush.to_string())])
    }

    fn header(block: u32, run: usize) -> RunHeader {
        let line = format!(
            r#"{{"format":1,"dbdyno_version":"0","experiment":"x","experiment_sha256":"","seed":1,"run":{run},"block":{block},"combination":{{}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":""}}"#
        );
        RunHeader {
            combination: combination(run),
            ..serde_json::from_str(&line).unwrap()
        }
    }

    fn turns() -> SideBySide {
        SideBySide {
            combinations: vec![combination(1), combination(2)],
            slice_s: 0.5,
            settle_s: 0.1,
            slices_per_batch: 5,
            slices_at_most: 60,
            ..SideBySide::default()
        }
    }

    /// The interval of a slice with this number of operations.
    fn interval(slice: u32, count: u64) -> Interval {
        let mut histogram = Histogram::new();
        (0..count).for_each(|_| histogram.record(1_000_000));
        let t_s = f64::from(slice);
        let line = format!(
            r#"{{"t_s":{t_s:?},"length_s":0.5,"phase":"measurement","slice":{slice},"operations":[]}}"#
        );
        Interval {
            operations: vec![OperationInterval {
                load: "l".to_owned(),
                operation: "o".to_owned(),
                count,
                errors: 0,
                sum_ns: count * 1_000_000,
                min_ns: 1_000_000,
                max_ns: 1_000_000,
                histogram,
                service: None,
                returned: samples::ReturnedRows::default(),
            }],
            ..serde_json::from_str(&line).unwrap()
        }
    }

    fn judge() -> BatchJudge {
        let question = Question {
            metric: Metric::Throughput,
            baseline: vec![("flush".to_owned(), "1".to_owned())],
            min_effect: 0.02,
            until_decided: Some(Budget {
                blocks: 12,
                time_is_spent: false,
            }),
        };
        BatchJudge::new(question, &[])
    }

    /// The first batch after which two loads are decided whose slices have these numbers of operations.
    fn decided_after(counts: impl Fn(usize, u32) -> u64) -> Option<u32> {
        let mut judge = judge();
        for run in [1, 2] {
            judge.begin(&header(1, run), &turns());
        }
        (1..=12).find(|batch| {
            for slice in 5 * batch - 4..=5 * batch {
                for run in [0, 1] {
                    judge.add(run, &interval(slice, counts(run, slice)));
                }
            }
            verdict::are_decided(&judge.answers())
        })
    }

    #[test]
    fn a_clear_difference_is_decided_early_and_none_by_chance() {
        let noise = |slice: u32| u64::from(slice * slice % 11);
        let twice = decided_after(|run, slice| 100 * (run as u64 + 1) + noise(slice));
        assert!(twice.is_some_and(|batch| batch < 12), "{twice:?}");
        // Each is faster in every other batch, by a third.
        let alternating = decided_after(|run, slice| {
            let batch = (slice - 1) / 5;
            100 + 33 * u64::from((batch + run as u32) % 2)
        });
        assert_eq!(alternating, None);
    }

    /// Operations of a slice that come back in an interval outside of it.
    fn carried(slice: u32) -> LateOperations {
        LateOperations {
            due_in: samples::Phase::Measurement,
            stage: None,
            slice: Some(slice),
            operations: interval(slice, 7).operations,
            statements: Vec::new(),
            send_lag: samples::Durations::default(),
            client_lag: None,
        }
    }

    #[test]
    fn the_runs_of_a_session_are_loaded_in_the_same_time() {
        let run = |block, run, t_s| {
            let mut lines = text_of(&Line::Run(header(block, run)));
            lines.extend(text_of(&Line::End(End {
                t_s,
                complete: true,
                why: String::new(),
            })));
            Record::read(lines.as_slice()).unwrap()
        };
        let runs = [run(1, 1, 40.0), run(1, 2, 41.0), run(2, 1, 20.0)];
        assert_eq!(loaded_s(&runs), 61.0);
        assert_eq!(judge().earlier_s(), 0.0);
    }

    #[test]
    fn only_intervals_with_operations_of_a_slice_are_kept() {
        let mut judge = judge();
        judge.begin(&header(1, 1), &turns());
        let pause = Interval {
            slice: None,
            ..interval(1, 1)
        };
        judge.add(0, &pause);
        assert!(judge.runs[0].lines.is_empty());
        let late = Interval {
            carried: vec![carried(1)],
            ..pause
        };
        judge.add(0, &late);
        assert!(judge.runs[0].lines.contains_key(&1));
    }

    /// Batches that are read one by one are those of the whole record.
    #[test]
    fn an_operation_that_comes_back_late_belongs_to_its_batch() {
        let mut judge = judge();
        judge.begin(&header(1, 1), &turns());
        let mut lines = judge.runs[0].begin.clone();
        for slice in 1..=15 {
            let mut interval = interval(slice, 100 + u64::from(slice));
            // The last operation of each batch comes back in the next one.
            if slice % 5 == 1 && slice > 1 {
                interval.carried = vec![carried(slice - 1)];
            }
            judge.add(0, &interval);
            lines.extend(text_of(&Line::Interval(interval)));
            judge.answers();
        }
        let whole = Batches::of(&[Record::read(lines.as_slice()).unwrap()]).records;
        let read = judge.runs[0].batches.values();
        let figures = |record: &Record| {
            let totals = record.totals();
            let back: u64 = totals.operations.values().map(|it| it.back).sum();
            let header = &record.header;
            (
                header.block,
                record.batch,
                totals.measured_s,
                totals.response().count,
                back,
            )
        };
        assert_eq!(
            read.map(figures).collect::<Vec<_>>(),
            whole.iter().map(figures).collect::<Vec<_>>()
        );
        assert_eq!(whole.len(), 3);
    }
}
