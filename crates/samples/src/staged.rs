//! Runs whose load has stages, with a record for each stage: what is compared, averaged and judged.

use std::collections::BTreeMap;

use crate::{
    line::{Phase, PhaseMark},
    load_stage::LoadStage,
    reader::Record,
};

/// The factor whose levels are the stages.
pub const STAGE: &str = "stage";

/// Runs whose load has stages, with a record for each stage.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Staged {
    /// The stages of the runs as records of their own, in the order of the runs and of time; a run without stages is
    /// there as a whole. Empty if no run has stages.
    pub records: Vec<Record>,
    /// For each of them the index of its run.
    pub runs: Vec<usize>,
    /// The levels of the factor [`STAGE`], in the order of time: `1 (8 connections)`.
    pub levels: Vec<String>,
}

impl Staged {
    /// The stages of these runs.
    pub fn of(runs: &[Record]) -> Self {
        let mut words: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for stage in runs.iter().flat_map(|run| &run.stages) {
            let known = words.entry(stage.number).or_default();
            let own = stage.in_words();
            if !known.contains(&own) {
                known.push(own);
            }
        }
        let Some(last) = words.keys().next_back() else {
            return Self::default();
        };
        // Levels are sorted as text.
        let width = last.to_string().len();
        let levels: BTreeMap<u32, String> = words
            .iter()
            .map(|(number, words)| match words.as_slice() {
                [all] => (*number, format!("{number:0width$} ({all})")),
                // The levels of the stage are a factor of the experiment.
                _ => (*number, format!("{number:0width$}")),
            })
            .collect();
        let (mut records, mut indices) = (Vec::new(), Vec::new());
        for (index, run) in runs.iter().enumerate() {
            if run.stages.is_empty() {
                records.push(run.clone());
            }
            let stages = run.stages.iter();
            records.extend(stages.filter_map(|it| of_stage(run, it, &levels[&it.number])));
            indices.resize(records.len(), index);
        }
        Self {
            records,
            runs: indices,
            levels: levels.into_values().collect(),
        }
    }

    /// What is compared of these runs, whose stages this holds: the stages, or the runs if none has any.
    pub fn compared<'r>(&'r self, runs: &'r [Record]) -> &'r [Record] {
        if self.is_empty() { runs } else { &self.records }
    }

    /// True if no run has stages.
    pub fn is_empty(&self) -> bool {
        self.levels.is_empty()
    }
}

/// The part of a run that a stage is, as a record; `None` if the run ended before it.
fn of_stage(run: &Record, stage: &LoadStage, level: &str) -> Option<Record> {
    let mut record = run.clone();
    record
        .intervals
        .retain(|it| it.phase == Phase::Measurement && it.stage == Some(stage.number));
    let (begin_s, end_s) = record.measured_window_s()?;
    for carried in record.intervals.iter_mut().flat_map(|it| &mut it.carried) {
        if carried.stage != Some(stage.number) {
            // They came back in the stage, and are none of its operations.
            carried.due_in = Phase::WarmUp;
        }
    }
    let is_within = |t_s: f64, length_s: f64| (begin_s..=end_s).contains(&(t_s + length_s / 2.0));
    record.telemetry.retain(|it| is_within(it.t_s, it.length_s));
    record
        .server_status
        .retain(|it| is_within(it.t_s, it.length_s));
    let mark = |t_s, phase| PhaseMark {
        t_s,
        phase,
        why: format!("stage {}", stage.number),
    };
    record.phases = vec![mark(begin_s, Phase::Measurement), mark(end_s, Phase::Drain)];
    // A record that was built in memory has none.
    record.added_up = run.stage_totals.get(&stage.number).cloned();
    record.stage_totals.clear();
    record.stages = vec![stage.clone()];
    record.header.connections = stage.connections();
    let combination = &mut record.header.combination;
    combination.insert(STAGE.to_owned(), level.to_owned());
    // What was judged and counted is of the whole run.
    record.offered = stage.offered.clone();
    (record.steadiness, record.ceiling) = (None, None);
    Some(record)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run of two stages of two seconds: 10 and 30 operations per second, of which one of the first comes back in the
    /// second.
    fn run(connections: u32) -> Record {
        let histogram = |count: u64| {
            let mut histogram = crate::Histogram::new();
            (0..count).for_each(|_| histogram.record(1_000_000));
            serde_json::to_string(&histogram).unwrap()
        };
        let operation = |count: u64| {
            format!(
                r#"{{"load":"l","operation":"o","count":{count},"errors":0,"sum_ns":{},"min_ns":1000000,"max_ns":1000000,"histogram":{}}}"#,
                count * 1_000_000,
                histogram(count)
            )
        };
        let mut lines = vec![
            r#"{"line":"run","format":1,"dbdyno_version":"0.1.0","experiment":"x","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{"flush":"1"},"started_at":"","connections":64,"loops":1,"io":"epoll","transport":"unix socket"}"#.to_owned(),
            format!(r#"{{"line":"interval","t_s":0.0,"length_s":1.0,"phase":"warm_up","operations":[{}]}}"#, operation(7)),
        ];
        for (second, count) in [(1, 10), (2, 10), (3, 30), (4, 29)] {
            let stage = (second + 1) / 2;
            let carried = if second == 3 {
                format!(
                    r#","carried":[{{"due_in":"measurement","stage":1,"operations":[{}],"send_lag":{}}}]"#,
                    operation(1),
                    serde_json::to_string(&crate::Durations::default()).unwrap()
                )
            } else {
                String::new()
            };
            lines.push(format!(
                r#"{{"line":"interval","t_s":{second}.0,"length_s":1.0,"phase":"measurement","stage":{stage},"operations":[{}]{carried}}}"#,
                operation(count)
            ));
        }
        for (number, connections) in [(1, connections), (2, 64)] {
            lines.push(format!(
                r#"{{"line":"load_stage","number":{number},"t_s":{}.0,"length_s":2.0,"connections_from":{connections},"connections_to":{connections}}}"#,
                2 * number - 1
            ));
        }
        lines.push(r#"{"line":"end","t_s":5.0,"complete":true,"why":"as planned"}"#.to_owned());
        Record::read(lines.join("\n").as_bytes()).unwrap()
    }

    #[test]
    fn a_stage_is_a_record_of_its_own_operations() {
        let run = run(8);
        let staged = Staged::of(std::slice::from_ref(&run));
        assert_eq!(staged.levels, ["1 (8 connections)", "2 (64 connections)"]);
        let [first, second] = &staged.records[..] else {
            panic!("two stages")
        };
        let totals = |record: &Record| {
            let totals = record.totals().into_owned();
            let back: u64 = totals.operations.values().map(|it| it.back).sum();
            (totals.measured_s, totals.response().count, back)
        };
        // The operation that crosses the border is due in the first stage, and comes back in the second.
        assert_eq!(totals(first), (2.0, 21, 20));
        assert_eq!(totals(second), (2.0, 59, 60));
        assert_eq!(totals(&run), (4.0, 80, 80));
        assert_eq!(first.measured_window_s(), Some((1.0, 3.0)));
        assert_eq!((first.connections(), second.connections()), (8, 64));
        assert_eq!(second.header.combination["stage"], "2 (64 connections)");
        assert_eq!(second.header.combination["flush"], "1");
    }

    #[test]
    fn stages_of_different_levels_are_named_by_number() {
        let staged = Staged::of(&[run(8), run(16)]);
        assert_eq!(staged.levels, ["1", "2 (64 connections)"]);
        assert_eq!(staged.records.len(), 4);
        assert_eq!(staged.runs, [0, 0, 1, 1]);
        assert!(Staged::of(&[]).is_empty());
        assert_eq!(staged.compared(&[]).len(), 4);
    }
}
