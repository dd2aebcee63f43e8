//! The directory of one experiment's results: claimed, resumed, and with the runs that are left to do.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use experiment::{
    Design, Experiment, Plan, PlannedRun, Progress, RedactedContent, Repeats, record_file_names,
    set_aside,
};
use report::disturbance_in_words;
use samples::{Disturbance, Record};

use crate::{
    claimed_directory::{ClaimedDirectory, last_path},
    decided_combinations::{Enough, decided_combinations, enough},
    origin::{self, Origin},
    questions::question,
    record_files::{DISTURBED, RecordFiles, read_record},
    results_list,
    searches::{answered, rate_question, rate_questions},
};

/// The directory of one experiment's results.
pub struct ResultsDirectory {
    path: PathBuf,
    /// `None` for results opened only for reading.
    claimed: RefCell<Option<ClaimedDirectory>>,
}

impl ResultsDirectory {
    /// Creates a directory: the named one, which must be empty, or one with a generated name. The experiment was
    /// read from `file`; `masked` removes the secrets from the copies of its files.
    pub fn create(
        named: Option<&Path>,
        experiment: &Experiment,
        file: &Path,
        masked: RedactedContent<'_>,
    ) -> Result<Self, Blamed> {
        let claimed = match named {
            Some(path) => ClaimedDirectory::new(path)?,
            None => ClaimedDirectory::numbered(&usual_name(experiment))?,
        };
        Self::begin(claimed, experiment, file, masked)
    }

    /// Begins results in a claimed directory, which is released if they cannot be begun.
    pub fn begin(
        mut claimed: ClaimedDirectory,
        experiment: &Experiment,
        file: &Path,
        masked: RedactedContent<'_>,
    ) -> Result<Self, Blamed> {
        let path = claimed.path().to_owned();
        let origin = Origin::first(file);
        let begun = experiment
            .save(&path, claimed.created(), masked)
            .map_err(Blamed::from)
            .and_then(|()| claimed.write(origin::FILE, origin.text().as_bytes()));
        if let Err(error) = begun {
            claimed.discard();
            return Err(error);
        }
        Ok(Self {
            path,
            claimed: RefCell::new(Some(claimed)),
        })
    }

    /// The directory to continue: the named one, or the last one of this experiment.
    pub fn resume(
        named: Option<&Path>,
        experiment: &Experiment,
        file: &Path,
    ) -> Result<Self, Blamed> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => last_path(&usual_name(experiment)).ok_or_else(|| {
                let message = format!("no results of {} to continue", experiment.name());
                Blamed::new(Blame::Input, message)
                    .hint("name their directory with --results".to_owned())
            })?,
        };
        // Only into a directory of this experiment: one of another experiment is not changed.
        experiment.check(&path).map_err(Blamed::from)?;
        let claimed = ClaimedDirectory::again(&path)?;
        Progress::scan(&path, experiment.plan()).map_err(Blamed::from)?;
        let claimed = claimed.marked()?;
        Origin::note(&path, file)?;
        Ok(Self {
            path,
            claimed: RefCell::new(Some(claimed)),
        })
    }

    /// Opens a directory of existing results for reading.
    pub fn of_past(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            claimed: RefCell::new(None),
        }
    }

    /// Removes the files that this process created if there are no results.
    pub fn discard_if_empty(&self) {
        if let Some(claimed) = self.claimed.borrow_mut().as_mut() {
            claimed.discard();
        }
    }

    /// Lists the results for `dbdyno history` when their first run begins.
    pub fn list_at_first_run(&self, warn: &dyn Fn(&str)) {
        let is_first = RecordFiles::of(&self.path).is_ok_and(|files| files.is_empty());
        if is_first {
            results_list::list(&self.path, warn);
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Paths of a run's records, one for each load.
    pub fn records_of(&self, run: &PlannedRun) -> Vec<PathBuf> {
        let names = record_file_names(run);
        names.map(|name| self.path.join(name)).collect()
    }

    /// The remaining runs; incomplete records are renamed, and `renamed` receives their new names.
    pub fn left<'p>(
        &self,
        plan: &'p Plan,
        renamed: &dyn Fn(&Path),
    ) -> Result<Vec<&'p PlannedRun>, Blamed> {
        let mut progress = Progress::scan(&self.path, plan).map_err(Blamed::from)?;
        for kept in progress.set_aside().map_err(Blamed::from)? {
            renamed(&kept);
        }
        Ok(plan
            .runs
            .iter()
            .filter(|run| !progress.is_done(run))
            .collect())
    }

    /// A sentence if the experiment runs until decided, and the blocks before this one decide every comparison, show that no
    /// further block can, or answer every search.
    pub fn ended_before(
        &self,
        experiment: &Experiment,
        block: u32,
    ) -> Result<Option<String>, Blamed> {
        let Repeats::UntilDecided { at_most, .. } = experiment.plan().repeats else {
            return Ok(None);
        };
        let searches = rate_questions(experiment, false);
        let enough = if !searches.is_empty() {
            let runs = self.records(experiment, |_| true)?;
            let are_answered = answered(&searches, &runs).len() == searches.len();
            are_answered.then_some(Enough::Decided)
        } else if let Some(question) = question(experiment, false) {
            let earlier = self.records(experiment, |run| run.block < block)?;
            enough(&question, &earlier)
        } else {
            None
        };
        let noun = match experiment.plan().design {
            Design::Classical => "blocks",
            Design::SideBySide(_) => "sessions",
        };
        let blocks = block - 1;
        Ok(enough.map(|enough| match enough {
            Enough::Decided => format!(
                "decided after {blocks} of at most {at_most} {noun}; the others are not needed"
            ),
            Enough::Undecidable(short) => format!(
                "not decided after {blocks} of at most {at_most} {noun}; the others would not help: {}",
                short.in_words()
            ),
        }))
    }

    /// The combinations that need no run from this block on, because the blocks before it decide their comparisons or answer
    /// their searches; none for comparisons unless the experiment leaves them out.
    pub fn left_out(
        &self,
        experiment: &Experiment,
        block: u32,
    ) -> Result<Vec<BTreeMap<String, String>>, Blamed> {
        let searches = rate_questions(experiment, false);
        if !searches.is_empty() {
            return Ok(answered(&searches, &self.records(experiment, |_| true)?));
        }
        if !leaves_decided(experiment) {
            return Ok(Vec::new());
        }
        let Some(question) = question(experiment, false) else {
            return Ok(Vec::new());
        };
        let earlier = self.records(experiment, |run| run.block < block)?;
        let loads = &experiment.plan().loads;
        Ok(decided_combinations(&question, &earlier, loads))
    }

    /// The rate of a run, operations per second, after the other runs of its search that exist; `None` if it belongs to no
    /// search, or the search has an answer.
    pub fn next_rate(
        &self,
        experiment: &Experiment,
        run: &PlannedRun,
    ) -> Result<Option<f64>, Blamed> {
        let Some(question) = rate_question(experiment, run) else {
            return Ok(None);
        };
        let is_other = |it: &PlannedRun| it.run != run.run && it.combination == run.combination;
        let others = self.records(experiment, is_other)?;
        Ok(question.next_rate(&others))
    }

    /// The runs that other work disturbed, with the extent of the disturbance.
    pub fn disturbed<'p>(
        &self,
        experiment: &Experiment,
        runs: &[&'p PlannedRun],
    ) -> Result<Vec<(&'p PlannedRun, Disturbance)>, Blamed> {
        let limits = experiment.disturbed();
        let mut disturbed = Vec::new();
        for run in runs {
            // The records of several loads have the same samples of the machine.
            let Some(path) = self.records_of(run).into_iter().next() else {
                continue;
            };
            let record = read_record(&path)?;
            let disturbance = Disturbance::of(&record)
                .filter(|it| record.is_complete() && it.is_above(limits.others, limits.steal));
            disturbed.extend(disturbance.map(|it| (*run, it)));
        }
        Ok(disturbed)
    }

    /// Number of repeats left until the end of a block.
    pub fn repeats_left(&self, experiment: &Experiment, block: u32) -> Result<usize, Blamed> {
        let plan = experiment.plan();
        let limits = experiment.disturbed();
        let at_most = limits.repeats_until(block, plan.repeats.blocks(), plan.runs.len());
        let done = RecordFiles::of(&self.path)?.disturbed_runs().count();
        Ok(at_most.saturating_sub(done))
    }

    /// Sets the records of a disturbed run aside, so that the run can be repeated; returns a sentence that reports it.
    pub fn set_aside(&self, run: &PlannedRun, disturbance: &Disturbance) -> Result<String, Blamed> {
        let kept = set_aside(&self.path, run, DISTURBED).map_err(Blamed::from)?;
        let kept: Vec<String> = kept.iter().map(|it| it.display().to_string()).collect();
        Ok(format!(
            "run {} is repeated after its block: {}; kept as {}",
            run.run,
            disturbance_in_words(disturbance),
            kept.join(" and ")
        ))
    }

    /// The existing records of the requested runs.
    pub(crate) fn records(
        &self,
        experiment: &Experiment,
        is_wanted: impl Fn(&PlannedRun) -> bool,
    ) -> Result<Vec<Record>, Blamed> {
        let wanted = experiment.plan().runs.iter().filter(|run| is_wanted(run));
        let paths = wanted.flat_map(|run| self.records_of(run));
        paths
            .filter(|path| path.exists())
            .map(|path| read_record(&path))
            .collect()
    }
}

/// True if combinations get no more runs once their comparisons are decided.
pub(crate) fn leaves_decided(experiment: &Experiment) -> bool {
    let until_decided = matches!(experiment.plan().repeats, Repeats::UntilDecided { .. });
    until_decided && experiment.verdict().is_some_and(|it| it.leave_decided)
}

/// The name of the results of an experiment, without a number.
fn usual_name(experiment: &Experiment) -> String {
    if experiment.is_simulated() {
        format!("{}-simulated", experiment.name())
    } else {
        experiment.name().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use benchmarks::oltp::{OltpData, OltpLoad};
    use experiment::Overrides;
    use settings::Vocabulary;

    use super::*;

    fn experiment(repeats: u32) -> Experiment {
        let text = format!(
            "format = 1\nquestion = \"?\"\nseed = 1\nrepeats = {repeats}\n[server]\nrun = \"mariadb-10.11\"\n\
             [data]\noltp = {{ tables = 1, table_size = 10 }}\n\
             [load]\noltp = {{ script = \"point_select\" }}\nconnections = 1\nduration = \"1s\"\nwarmup = \"1s\"\n"
        );
        let path = Path::new("trial.toml");
        let vocabulary = Vocabulary {
            data: vec![&OltpData],
            loads: vec![&OltpLoad],
        };
        Experiment::parse(path, &text, &Overrides::default(), &vocabulary).unwrap()
    }

    #[test]
    fn what_is_resumed_does_the_runs_that_are_not_complete_and_keeps_what_they_left() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("results");
        let kept = RefCell::new(Vec::new());
        let renamed = |path: &Path| kept.borrow_mut().push(path.to_owned());
        let (two, file) = (experiment(2), Path::new("trial.toml"));
        let results = ResultsDirectory::create(Some(&path), &two, file, &|_, _| None).unwrap();
        assert_eq!(results.left(two.plan(), &renamed).unwrap().len(), 2);
        drop(results);
        fs::write(path.join("run-0001.jsonl"), "{\"torn\":").unwrap();
        let results = ResultsDirectory::resume(Some(&path), &two, file).unwrap();
        assert_eq!(results.left(two.plan(), &renamed).unwrap().len(), 2);
        let kept = kept.borrow();
        assert_eq!(kept.len(), 1);
        assert_eq!(fs::read_to_string(&kept[0]).unwrap(), "{\"torn\":");
        assert!(!path.join("run-0001.jsonl").exists());
        drop(results);
        let Err(other) = ResultsDirectory::resume(Some(&path), &experiment(3), file) else {
            panic!("results of another experiment are resumed");
        };
        assert_eq!(other.blame, Blame::Input);
    }
}
