//! `dbdyno size FILE`: measures the demands of an experiment's load, and the target as limits of the kernel emulate it.

use std::path::{Path, PathBuf};

use benchmarks::{REGISTRY, VOCABULARY};
use blame::{Blame, Blamed};
use experiment::{Experiment, Overrides};
use sizing::Target;
use toml_edit::DocumentMut;

use super::{
    emulating_machine::EmulatingMachine, emulation::add_target, experiment_check::check,
    experiment_paths::make_whole, warm_up::short_warm_up,
};
use crate::commands::{experiment_options::ExperimentOptions, own_experiment::OwnExperiment};

/// Tables of an experiment file with questions of their own, which a prediction does not answer.
const OTHER_QUESTIONS: [&str; 3] = ["verdict", "answer", "expect"];

/// How the experiment of a file is measured.
pub(super) struct MeasurementOptions {
    /// Whether the target is emulated, too.
    pub(super) validates: bool,
    /// `None` for `results/NAME-N`.
    pub(super) results: Option<PathBuf>,
    pub(super) experiment: ExperimentOptions,
}

/// The experiment that is measured, not written yet.
pub(super) struct SizingExperiment {
    name: String,
    text: String,
    experiment: Experiment,
}

impl SizingExperiment {
    /// The experiment of a file, with the combinations of a target if that is emulated.
    pub(super) fn read(file: &Path, target: &Target, validates: bool) -> Result<Self, Blamed> {
        let text = files::read_handed_over_text(file, experiment::TEXT_BYTES_MAX)
            .map_err(Blamed::io(Blame::Input, file))?;
        let whole = std::path::absolute(file).map_err(Blamed::io(Blame::Input, file))?;
        let base = parsed(file, &text)?;
        check(&base, target)?;
        let document: Result<DocumentMut, _> = text.parse();
        let mut document = document.map_err(|error| {
            let message = format!("{}: {error}", file.display());
            Blamed::new(Blame::Input, message)
        })?;
        make_whole(&mut document, whole.parent().unwrap_or(Path::new("/")));
        for table in OTHER_QUESTIONS {
            document.remove(table);
        }
        if validates {
            let machine = EmulatingMachine::this_one()?;
            let missing = add_target(&mut document, &base, target, machine)?;
            if !missing.is_empty() {
                eprintln!("note: not emulated: {}", missing.join(", "));
            }
        }
        let text = format!(
            "# Written by dbdyno size from {}.\n{document}",
            file.display().to_string().replace(char::is_control, " ")
        );
        let name = base.name().to_owned();
        let experiment = parsed(file, &text)?;
        if let Some(note) = short_warm_up(&experiment) {
            eprintln!("note: {note}");
        }
        Ok(Self {
            name,
            text,
            experiment,
        })
    }

    pub(super) fn plan_in_words(&self) -> String {
        self.experiment.plan().describe()
    }

    /// Measures it, and returns the directory of the results.
    pub(super) fn measure(self, options: MeasurementOptions) -> anyhow::Result<PathBuf> {
        // Before the results directory is made.
        REGISTRY.check_limits(&self.experiment).map_err(|error| {
            let hint = "--no-validate predicts without limits, and does not test the prediction";
            error.hint(options.validates.then(|| hint.to_owned()))
        })?;
        let results = options.results.as_deref();
        let begun = OwnExperiment::new(results, &self.name, &self.text, &[])?;
        let directory = begun.results.path().to_owned();
        let page = begun.measure(&options.experiment.choices())?;
        eprintln!(
            "note: the records are in {}, their report in {}",
            directory.display(),
            page.display()
        );
        Ok(directory)
    }
}

fn parsed(path: &Path, text: &str) -> Result<Experiment, Blamed> {
    let experiment = Experiment::parse(path, text, &Overrides::default(), &VOCABULARY);
    experiment.map_err(Blamed::from)
}
