//! The comparisons of a part, each made once and kept with all its results, so that an interrupted part continues.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use harness::{finished::Finished, progress::Progress};
use serde_json::{Value, json};

use crate::answer::Answer;

/// Time limit of a comparison, far above what any takes.
const PATIENCE: Duration = Duration::from_secs(4 * 3600);
/// The file that a complete comparison has, and the report beside it.
const OUTCOME: &str = "outcome.json";
const REPORT: &str = "report.json";

/// A complete comparison.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// From the start of the command to its end, seconds.
    pub(crate) wall_s: f64,
    pub(crate) answer: Answer,
}

/// The directory with the comparisons.
pub(crate) struct Store {
    dbdyno: PathBuf,
    root: PathBuf,
    /// A directory of this call, whose name is no part of a comparison.
    work: PathBuf,
    progress: Progress,
    has_outcome: bool,
}

impl Store {
    /// The store in `root`, which is made if it is not there. `comparisons` is the number of those to come.
    pub(crate) fn open(
        dbdyno: &Path,
        root: &Path,
        work: &Path,
        comparisons: usize,
    ) -> Result<Self> {
        let root = std::path::absolute(root)?;
        fs::create_dir_all(&root).with_context(|| root.display().to_string())?;
        Ok(Self {
            dbdyno: dbdyno.to_owned(),
            root,
            work: work.to_owned(),
            progress: Progress::new(comparisons),
            has_outcome: false,
        })
    }

    pub(crate) fn dbdyno(&self) -> &Path {
        &self.dbdyno
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn work(&self) -> &Path {
        &self.work
    }

    /// True if the comparison is not made again.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.root.join(name).join(OUTCOME).exists()
    }

    /// Writes a file that comparisons use, below the store, and returns its path.
    pub(crate) fn write(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory)?;
        }
        fs::write(&path, text).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    /// The outcome of `dbdyno WORDS --results ...`, which is run unless the store has it.
    ///
    /// `None` if it failed and others did not: one failure does not end a part that takes hours. The same command of
    /// the benchmark tries it again.
    pub(crate) fn outcome(&mut self, name: &str, words: &[String]) -> Result<Option<Outcome>> {
        self.progress.step(name);
        let directory = self.root.join(name);
        if !self.has(name)
            && let Err(error) = self.run(&directory, words)
        {
            if !self.has_outcome {
                return Err(error.context(name.to_owned()));
            }
            self.progress.note(&format!("{name}: {error:#}"));
            return Ok(None);
        }
        let outcome = self.read(&directory, words).context(name.to_owned())?;
        self.has_outcome = true;
        Ok(Some(outcome))
    }

    /// The same where nothing else makes sense without it.
    pub(crate) fn required(&mut self, name: &str, words: &[String]) -> Result<Outcome> {
        let outcome = self.outcome(name, words)?;
        outcome.with_context(|| format!("{name} failed; its output is in {}", self.root.display()))
    }

    pub(crate) fn finish(&self) {
        self.progress.finish();
    }

    fn run(&self, directory: &Path, words: &[String]) -> Result<()> {
        let (command_word, others) = words.split_first().context("no command")?;
        set_aside(directory)?;
        fs::create_dir_all(directory)?;
        let results = directory.join("results");
        let mut command = Command::new(&self.dbdyno);
        command.arg(command_word).arg("--results").arg(&results);
        command.args(others);
        let finished = Finished::run_within(PATIENCE, command)?;
        fs::write(directory.join("stdout"), &finished.stdout)?;
        fs::write(directory.join("stderr"), &finished.stderr)?;
        ensure!(
            finished.status.success(),
            "{}: {}\nall of it is in {}",
            finished.status,
            last_line(&finished.stderr),
            directory.display()
        );
        let mut report = Command::new(&self.dbdyno);
        report.arg("report").arg(&results);
        report.args(["--format", "json", "--seconds", "--output"]);
        report.arg(directory.join(REPORT));
        Finished::success_within(PATIENCE, report)?;
        let outcome = json!({
            "words": self.identity(words),
            "wall_s": finished.usage.wall_s,
        });
        fs::write(directory.join(OUTCOME), format!("{outcome}\n"))?;
        Ok(())
    }

    fn read(&self, directory: &Path, words: &[String]) -> Result<Outcome> {
        let text = fs::read_to_string(directory.join(OUTCOME))?;
        let kept: Value = serde_json::from_str(&text)?;
        if kept["words"] != json!(self.identity(words)) {
            bail!(
                "{} has the results of another command: {}\nhint: choose another directory with --results",
                directory.display(),
                kept["words"]
            );
        }
        let report = fs::read_to_string(directory.join(REPORT))?;
        Ok(Outcome {
            wall_s: kept["wall_s"].as_f64().context("no wall time")?,
            answer: Answer::read(&report)?,
        })
    }

    /// The words without what is different in each call.
    fn identity(&self, words: &[String]) -> Vec<String> {
        let work = self.work.display().to_string();
        words.iter().map(|it| it.replace(&work, "WORK")).collect()
    }
}

/// Gives the directory of a failed or interrupted comparison another name: nothing that was measured is removed.
fn set_aside(directory: &Path) -> Result<()> {
    if !directory.exists() {
        return Ok(());
    }
    let aside = (1..)
        .map(|number| PathBuf::from(format!("{}.incomplete-{number}", directory.display())))
        .find(|path| !path.exists())
        .context("no free name")?;
    fs::rename(directory, aside).with_context(|| directory.display().to_string())
}

/// The last line that is not empty.
fn last_line(text: &str) -> &str {
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).unwrap_or_default()
}

/// The words of a command line.
pub(crate) fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory of a test, removed at its end.
    struct Scene(PathBuf);

    impl Scene {
        fn new(name: &str) -> Self {
            let unique = format!("side-by-side-{name}-{}", std::process::id());
            Self(std::env::temp_dir().join(unique))
        }

        /// A store whose comparisons are made by the program of the tests.
        fn store(&self) -> Store {
            let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("dbdyno_of_tests.sh");
            Store::open(&program, &self.0, &self.0.join("work"), 4).unwrap()
        }
    }

    impl Drop for Scene {
        fn drop(&mut self) {
            // A directory that is left in the temporary one fails no test.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_comparison_is_made_once() {
        let scene = Scene::new("once");
        let mut store = scene.store();
        assert!(!store.has("aa/001"));
        let first = store.outcome("aa/001", &words(&["ab", "x"])).unwrap();
        let results = store.root().join("aa/001/results");
        let called = fs::read_to_string(results.join("words")).unwrap();
        assert_eq!(called, format!("ab --results {} x\n", results.display()));
        // As the benchmark would make it again after an interruption.
        let again = scene.store().outcome("aa/001", &words(&["ab", "x"]));
        let (first, again) = (first.unwrap(), again.unwrap().unwrap());
        assert!(store.has("aa/001") && !store.has("aa/001.incomplete-1"));
        assert_eq!(first.answer, again.answer);
        assert!((first.wall_s - again.wall_s).abs() < 1e-9);
        let other = store.outcome("aa/001", &words(&["ab", "y"])).unwrap_err();
        let other = format!("{other:#}");
        assert!(other.contains("results of another command"), "{other}");
    }

    #[test]
    fn the_working_directory_is_no_part_of_a_command() {
        let scene = Scene::new("work");
        let command = |store: &Store| {
            let host = format!("{}/1.sock", store.work().display());
            words(&["ab", "--host", &host])
        };
        let mut store = scene.store();
        store.outcome("null", &command(&store)).unwrap();
        let mut other = scene.store();
        other.work = PathBuf::from("/elsewhere");
        assert!(other.outcome("null", &command(&other)).unwrap().is_some());
    }

    #[test]
    fn a_failure_is_tried_again_and_ends_nothing_but_a_wrong_setup() {
        let scene = Scene::new("failure");
        let mut store = scene.store();
        let (good, broken) = (words(&["ab"]), words(&["ab", "broken"]));
        let error = store.outcome("one", &broken).unwrap_err();
        assert!(format!("{error:#}").contains("error: no"), "{error:#}");
        assert!(store.outcome("two", &good).unwrap().is_some());
        assert!(store.outcome("one", &broken).unwrap().is_none());
        assert!(store.required("one", &broken).is_err());
        assert!(store.outcome("one", &good).unwrap().is_some());
        // The output of each failure is still there.
        for number in 1..=3 {
            let aside = store.root().join(format!("one.incomplete-{number}"));
            let output = fs::read_to_string(aside.join("stderr")).unwrap();
            assert_eq!(output, "error: no\n");
        }
    }

    #[test]
    fn the_last_line_says_why() {
        assert_eq!(last_line("note: a\nerror: b\n\n"), "error: b");
        assert_eq!(last_line(""), "");
    }
}
