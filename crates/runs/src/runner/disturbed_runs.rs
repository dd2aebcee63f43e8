//! Runs that other work disturbed, and whether they are done again.

use blame::Blamed;
use experiment::{Experiment, PlannedRun};
use report::disturbance_in_words;
use results::ResultsDirectory;
use samples::Disturbance;

use crate::{listener::Step, record::run_progress::RUN_LENGTH};

/// With this share of the first block's runs disturbed the machine is a busy one, not a disturbed one.
const BUSY: f64 = 0.5;

/// The runs of a block, and what is known of the machine.
#[derive(Default)]
pub(super) struct DisturbedRuns<'p> {
    /// Those that were done since it was last asked.
    done: Vec<&'p PlannedRun>,
    /// Those of them that were disturbed; not searched for if runs are never repeated.
    disturbed: Vec<(&'p PlannedRun, Disturbance)>,
    /// Whether the machine is always busy; `None` before the first block is over.
    is_busy: Option<bool>,
}

impl<'p> DisturbedRuns<'p> {
    /// A run is done.
    pub(super) fn add(
        &mut self,
        run: &'p PlannedRun,
        results: &ResultsDirectory,
        experiment: &Experiment,
    ) -> Result<(), Blamed> {
        self.done.push(run);
        if self.is_busy != Some(true) {
            self.disturbed
                .extend(results.disturbed(experiment, &[run])?);
        }
        Ok(())
    }

    /// What will be done again when the block is over, as far as is known. The first block shows what the machine is like:
    /// with most of its runs disturbed so far, nothing will.
    pub(super) fn coming(
        &self,
        results: &ResultsDirectory,
        experiment: &Experiment,
    ) -> Result<impl Iterator<Item = &'p PlannedRun>, Blamed> {
        let is_busy = self.is_busy.unwrap_or_else(|| self.are_most_disturbed());
        let left = match self.disturbed.first() {
            Some((run, _)) if !is_busy => results.repeats_left(experiment, run.block)?,
            _ => 0,
        };
        Ok(self.disturbed.iter().map(|(run, _)| *run).take(left))
    }

    /// True where the machine looks like a busy one. A single run says nothing of it.
    fn are_most_disturbed(&self) -> bool {
        let (disturbed, done) = (self.disturbed.len(), self.done.len());
        disturbed > 1 && disturbed as f64 > BUSY * done as f64
    }

    /// The runs to do again when a block is over; their records are set aside. On a machine that is always busy no repeat is
    /// spent: the next attempt would meet the same.
    pub(super) fn again(
        &mut self,
        results: &ResultsDirectory,
        experiment: &Experiment,
        step: &dyn Step,
    ) -> Result<Vec<&'p PlannedRun>, Blamed> {
        let is_most = self.are_most_disturbed();
        let done = std::mem::take(&mut self.done);
        let disturbed = std::mem::take(&mut self.disturbed);
        let Some(block) = done.first().map(|run| run.block) else {
            return Ok(Vec::new());
        };
        if self.is_busy == Some(true) {
            return Ok(Vec::new());
        }
        let is_first = self.is_busy.is_none();
        if *self.is_busy.get_or_insert(is_most) {
            if let Some((_, worst)) = disturbed
                .iter()
                .max_by(|(_, a), (_, b)| (a.others + a.steal).total_cmp(&(b.others + b.steal)))
                .filter(|_| is_first)
            {
                step.note(&format!(
                    "this machine is busy: {} of the {} runs of the first block were disturbed ({} in one of them); \
                     disturbed runs are not repeated",
                    disturbed.len(),
                    done.len(),
                    disturbance_in_words(worst)
                ));
            }
            return Ok(Vec::new());
        }
        let left = results.repeats_left(experiment, block)?;
        let mut again = Vec::new();
        for (run, disturbance) in disturbed.into_iter().take(left) {
            step.note(&results.set_aside(run, &disturbance)?);
            step.lengthen(RUN_LENGTH);
            again.push(run);
        }
        Ok(again)
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::RefCell, fs, path::Path, time::Duration};

    use benchmarks::oltp::{OltpData, OltpLoad};
    use experiment::{Overrides, record_file_names};
    use settings::Vocabulary;

    use super::*;

    /// What was told.
    #[derive(Default)]
    struct Notes(RefCell<Vec<String>>);

    impl Step for Notes {
        fn reach(&self, _: u64) {}
        fn lengthen(&self, _: u64) {}
        fn say(&self, _: &str) {}
        fn say_with(&self, _: &str, _: Duration) {}
        fn announce(&self, _: &str, _: Duration) {}
        fn note(&self, line: &str) {
            self.0.borrow_mut().push(line.to_owned());
        }
    }

    /// Two levels in four blocks, of whose eight runs two may be done again: one until the end of the second block.
    fn experiment() -> Experiment {
        let text = "format = 1\nrepeats = 4\n[matrix]\nside = [1, 2]\n[data]\noltp = { tables = 1 }\n[load]\n\
                    oltp = { script = \"point_select\" }\nconnections = \"{side}\"\nduration = \"1s\"\n";
        let overrides = Overrides::default();
        let vocabulary = Vocabulary {
            data: vec![&OltpData],
            loads: vec![&OltpLoad],
        };
        Experiment::parse(Path::new("e.toml"), text, &overrides, &vocabulary).unwrap()
    }

    /// The record of a run during which other programs took this share of two CPUs.
    fn write(directory: &Path, run: &PlannedRun, others: f64) {
        let (number, block) = (run.run, run.block);
        let user_s = 0.4 + 2.0 * others;
        let lines = [
            format!(
                r#"{{"line":"run","format":1,"dbdyno_version":"0","experiment":"e","experiment_sha256":"","seed":1,"run":{number},"block":{block},"combination":{{}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}}"#
            ),
            r#"{"line":"interval","t_s":0.0,"length_s":1.0,"phase":"measurement","operations":[]}"#
                .to_owned(),
            format!(
                r#"{{"line":"telemetry","host":"both","t_s":0.0,"length_s":1.0,"machine":{{"user_s":{user_s},"system_s":0.0,"iowait_s":0.0,"steal_s":0.0,"idle_s":{}}},"server":{{"user_s":0.3,"system_s":0.0,"resident_bytes":0}},"client":{{"user_s":0.1,"system_s":0.0,"resident_bytes":0}}}}"#,
                2.0 - user_s
            ),
            r#"{"line":"end","t_s":1.0,"complete":true,"why":"as planned"}"#.to_owned(),
        ];
        let name = record_file_names(run).next().unwrap();
        fs::write(directory.join(name), lines.join("\n") + "\n").unwrap();
    }

    #[test]
    fn the_repeats_are_spread_over_the_blocks() {
        let directory = tempfile::tempdir().unwrap();
        let experiment = experiment();
        let results = ResultsDirectory::of_past(directory.path());
        let notes = Notes::default();
        let mut disturbed = DisturbedRuns::default();
        let (mut again, mut coming) = (Vec::new(), Vec::new());
        for block in experiment.plan().runs.chunks(2) {
            for (run, others) in block.iter().zip([0.3, 0.0]) {
                write(directory.path(), run, others);
                disturbed.add(run, &results, &experiment).unwrap();
            }
            coming.push(disturbed.coming(&results, &experiment).unwrap().count());
            let repeats = disturbed.again(&results, &experiment, &notes).unwrap();
            again.push(repeats.len());
            for run in repeats {
                write(directory.path(), run, 0.3);
            }
        }
        assert_eq!(again, [1, 0, 1, 0], "{:?}", notes.0);
        assert_eq!(coming, [1, 0, 1, 0], "known before their block is over");
        assert_eq!(notes.0.borrow().len(), 2);
        assert!(notes.0.borrow()[0].contains("is repeated after its block"));
    }

    #[test]
    fn a_busy_machine_is_told_once_and_burns_no_repeats() {
        let directory = tempfile::tempdir().unwrap();
        let experiment = experiment();
        let results = ResultsDirectory::of_past(directory.path());
        let notes = Notes::default();
        let mut disturbed = DisturbedRuns::default();
        for block in experiment.plan().runs.chunks(2) {
            for run in block {
                write(directory.path(), run, 0.3);
                disturbed.add(run, &results, &experiment).unwrap();
            }
            let coming = disturbed.coming(&results, &experiment).unwrap();
            assert_eq!(coming.count(), 0);
            let again = disturbed.again(&results, &experiment, &notes).unwrap();
            assert!(again.is_empty(), "{again:?}");
        }
        let notes = notes.0.borrow();
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].starts_with("this machine is busy: 2 of the 2 runs of the first block"));
    }
}
