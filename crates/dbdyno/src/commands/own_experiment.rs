//! An experiment whose file dbdyno writes itself, into its results directory, so that it can be looked at and rerun.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use benchmarks::{REGISTRY, VOCABULARY};
use blame::Blamed;
use experiment::{Experiment, Overrides};
use results::{ClaimedDirectory, ResultsDirectory};
use runs::{Choices, PlanBenchmarks};

use crate::{
    commands::run::{self, Ending},
    terminal,
};

/// Name and content of a file.
pub(crate) type OwnFile<'a> = (&'a str, &'a [u8]);

/// An experiment of dbdyno's own, in its results directory.
pub(crate) struct OwnExperiment {
    experiment: Experiment,
    path: PathBuf,
    benchmarks: PlanBenchmarks,
    pub(crate) results: ResultsDirectory,
}

impl OwnExperiment {
    /// Writes `NAME.toml` and the files that it uses into the results directory, `results/NAME-N` unless it is named.
    pub(crate) fn new(
        named: Option<&Path>,
        name: &str,
        text: &str,
        files: &[OwnFile<'_>],
    ) -> anyhow::Result<Self> {
        let context = terminal::context()?;
        let mut claimed = match named {
            Some(path) => ClaimedDirectory::new(path)?,
            None => ClaimedDirectory::numbered(name)?,
        };
        let file = format!("{name}.toml");
        let path = claimed.path().join(&file);
        let all = [(file.as_str(), text.as_bytes())];
        let mut all = all.iter().chain(files);
        let read = all
            .try_for_each(|(name, content)| claimed.write(name, content))
            .map_err(anyhow::Error::from)
            .and_then(|()| {
                let overrides = Overrides::default();
                let experiment = Experiment::parse(&path, text, &overrides, &VOCABULARY);
                let experiment = experiment.map_err(Blamed::from)?;
                let benchmarks = REGISTRY.read(experiment.plan(), &context)?;
                Ok((experiment, benchmarks))
            });
        let (experiment, benchmarks) = match read {
            Ok(read) => read,
            Err(error) => {
                claimed.discard();
                return Err(error);
            }
        };
        let masked = |path: &Path, file: &[u8]| REGISTRY.masked(path, file, &context);
        let results = ResultsDirectory::begin(claimed, &experiment, &path, &masked)?;
        Ok(Self {
            experiment,
            path,
            benchmarks,
            results,
        })
    }

    /// The experiment's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How an interrupted experiment continues that needs nothing but its file, after the place of its results.
    pub(crate) fn way_on(&self) -> String {
        let (file, results) = (self.path.display(), self.results.path().display());
        format!("; dbdyno run {file} --results {results} --resume continues")
    }

    /// Runs the experiment without printing its answer, and returns the path of its page; without any record all its
    /// files are removed.
    pub(crate) fn measure(self, choices: &Choices) -> anyhow::Result<PathBuf> {
        let way_on = self.way_on();
        let context = terminal::context()?;
        let measured = run::measure(
            &self.experiment,
            self.benchmarks,
            &self.results,
            choices,
            &context,
            &way_on,
        );
        if measured.is_err() {
            self.results.discard_if_empty();
        }
        Ok(measured?)
    }

    /// Runs the experiment; without any record all its files are removed, because there is nothing to go on with.
    pub(crate) fn perform(
        self,
        choices: &Choices,
        ending: &Ending<'_>,
    ) -> anyhow::Result<ExitCode> {
        let measured = run::perform(
            &self.experiment,
            self.benchmarks,
            &self.results,
            choices,
            &terminal::context()?,
            ending,
        );
        if measured.is_err() {
            self.results.discard_if_empty();
        }
        measured
    }
}
