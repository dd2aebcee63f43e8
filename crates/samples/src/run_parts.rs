//! What is compared of runs: the runs themselves, the stages of their load, or their batches of slices.

use crate::{reader::Record, sliced::Batches, staged::Staged};

/// The parts of runs that are compared by themselves: the stages of their load, and the batches of slices of those side by
/// side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunParts {
    /// The stages of the runs.
    pub staged: Staged,
    /// The batches of the runs or of their stages.
    pub batches: Batches,
}

impl RunParts {
    /// The parts of these runs.
    pub fn of(runs: &[Record]) -> Self {
        let staged = Staged::of(runs);
        let batches = Batches::of(staged.compared(runs));
        Self { staged, batches }
    }

    /// What is compared of these runs, whose parts this holds: the batches, or else the stages, or the runs if none has any.
    pub fn compared<'r>(&'r self, runs: &'r [Record]) -> &'r [Record] {
        self.batches.compared(self.staged.compared(runs))
    }

    /// The index of the run that [`Self::compared`] has at this index.
    pub fn run_of(&self, compared: usize) -> usize {
        let at = self.batches.runs.get(compared).copied();
        let at = at.unwrap_or(compared);
        self.staged.runs.get(at).copied().unwrap_or(at)
    }

    /// True if the runs are compared as they are.
    pub fn is_empty(&self) -> bool {
        self.staged.is_empty() && self.batches.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"x","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":""}"#;

    fn record(lines: &[String]) -> Record {
        let lines = [&[RUN.to_owned()], lines].concat();
        Record::read(lines.join("\n").as_bytes()).unwrap()
    }

    fn interval(t_s: u32, part: &str) -> String {
        format!(
            r#"{{"line":"interval","t_s":{t_s}.0,"length_s":1.0,"phase":"measurement",{part},"operations":[]}}"#
        )
    }

    #[test]
    fn each_part_belongs_to_its_run() {
        let whole = record(&[]);
        let stage = |number: u32| {
            let begin = number - 1;
            [
                format!(
                    r#"{{"line":"load_stage","number":{number},"t_s":{begin}.0,"length_s":1.0,"connections_from":1,"connections_to":1}}"#
                ),
                interval(begin, &format!(r#""stage":{number}"#)),
            ]
        };
        let staged = record(&[stage(1), stage(2)].concat());
        let turns = r#"{"line":"side_by_side","combinations":[],"slice_s":1.0,"settle_s":0.1,"slices_per_batch":1,"slices_at_most":2}"#;
        let slice = |number: u32| interval(number - 1, &format!(r#""slice":{number}"#));
        let sliced = record(&[turns.to_owned(), slice(1), slice(2)]);
        let runs_of = |runs: &[Record]| -> Vec<usize> {
            let parts = RunParts::of(runs);
            let compared = parts.compared(runs).len();
            (0..compared).map(|at| parts.run_of(at)).collect()
        };
        assert_eq!(runs_of(&[whole.clone(), staged.clone()]), [0, 1, 1]);
        assert_eq!(runs_of(&[sliced.clone(), whole.clone()]), [0, 0, 1]);
        assert_eq!(runs_of(&[staged, whole.clone(), sliced]), [0, 0, 1, 2, 2]);
        let runs = [whole.clone(), whole];
        assert_eq!(runs_of(&runs), [0, 1]);
        assert!(RunParts::of(&runs).is_empty());
    }
}
