//! The subject of a report: a results directory, run records, or several of them combined.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use audit::Audit;
use blame::{Blame, Blamed};
use experiment::{Experiment, Plan, PlannedRun, Repeats};
use report::{Disturbances, Factor, Results, SearchAnswer};
use samples::{Disturbance, Record, RunParts, run_count, run_indices};
use settings::Vocabulary;

use crate::{
    audited::{audit_of_path, audit_of_results, audit_of_sides, experiment_of},
    decided_combinations::{decided_combinations, enough},
    origin::Origin,
    questions::{comparison, question},
    record_files::{RecordFiles, hint_to_missing, no_record, read_record, read_records},
    results_directory::{ResultsDirectory, leaves_decided},
    searches::{answered, rate_questions, rates},
};

/// File name of the report, which is written after all runs, or after the requested number.
pub const REPORT: &str = "report.html";

/// Name of the factor that distinguishes combined results, unless it is in use.
const RESULTS: &str = "results";
/// Usual file name of a record without an experiment.
const RECORD: &str = "record.jsonl";

/// The results at these paths: directories and run records. Several are combined, with an additional factor for the
/// origin of each run.
pub fn results_of(paths: &[PathBuf], vocabulary: &Vocabulary) -> Result<Results, Blamed> {
    let mut seen = BTreeSet::new();
    for path in paths {
        let whole = path
            .canonicalize()
            .map_err(Blamed::io(Blame::Input, path))
            .map_err(|error| error.hint(hint_to_missing(path)))?;
        if !seen.insert(whole) {
            let message = format!("{} is named twice", path.display());
            return Err(Blamed::new(Blame::Input, message));
        }
    }
    let all: Vec<Results> = paths
        .iter()
        .map(|path| results_at(path, vocabulary))
        .collect::<Result<_, Blamed>>()?;
    Ok(match <[Results; 1]>::try_from(all) {
        Ok([only]) => only,
        Err(several) => as_one(&names(paths), several),
    })
}

/// What the experiment in a directory has measured so far: its complete runs, even if there is none yet. The run that is
/// being recorded and those that broke off are left out.
pub fn results_so_far(directory: &Path, vocabulary: &Vocabulary) -> Result<Results, Blamed> {
    match experiment_of(directory, vocabulary)? {
        Some(experiment) => ResultsDirectory::of_past(directory).read_complete(&experiment),
        None => {
            let message = format!("{}: contains no experiment", directory.display());
            Err(Blamed::new(Blame::Input, message))
        }
    }
}

/// Writes the page of one run that no experiment asked for, and its audit, beside its record; returns its path.
pub fn write_page(record: Record, audit: Audit, path: &Path) -> Result<PathBuf, Blamed> {
    let page = page_of(path);
    let results = of_records(vec![record], Some(audit));
    files::replace(&page, report::html(&results).as_bytes()).map_err(Blamed::machine)?;
    Ok(page)
}

pub(crate) fn page_of(record: &Path) -> PathBuf {
    match record.file_name() {
        Some(name) if name == RECORD => record.with_file_name(REPORT),
        _ => record.with_extension("html"),
    }
}

fn results_at(path: &Path, vocabulary: &Vocabulary) -> Result<Results, Blamed> {
    if path.is_dir()
        && let Some(experiment) = experiment_of(path, vocabulary)?
    {
        let results = ResultsDirectory::of_past(path).read(&experiment)?;
        if results.runs.is_empty() {
            return Err(no_record(path));
        }
        return Ok(results);
    }
    let records = read_records(path)?;
    let audit = audit_of_path(path, &records, vocabulary)?;
    Ok(of_records(records, Some(audit)))
}

impl ResultsDirectory {
    /// Reads all records.
    pub fn read(&self, experiment: &Experiment) -> Result<Results, Blamed> {
        let runs = self.records(experiment, |_| true)?;
        self.results_of_runs(experiment, runs)
    }

    /// The same of the runs that are complete, while others are still to come.
    pub(crate) fn read_complete(&self, experiment: &Experiment) -> Result<Results, Blamed> {
        let mut runs = self.records(experiment, |_| true)?;
        runs.retain(Record::is_complete);
        self.results_of_runs(experiment, runs)
    }

    fn results_of_runs(
        &self,
        experiment: &Experiment,
        runs: Vec<Record>,
    ) -> Result<Results, Blamed> {
        let plan = experiment.plan();
        let until_decided = matches!(plan.repeats, Repeats::UntilDecided { .. });
        let time_is_spent = until_decided && Origin::read(self.path())?.time_is_spent();
        let verdict = question(experiment, time_is_spent);
        let rates_asked = rate_questions(experiment, time_is_spent);
        let planned_runs = match &verdict {
            None if !rates_asked.is_empty() && time_is_spent => run_count(&runs),
            None if !rates_asked.is_empty() => {
                self.needed_runs(plan, &answered(&rates_asked, &runs))
            }
            Some(question)
                if until_decided && (time_is_spent || enough(question, &runs).is_some()) =>
            {
                run_count(&runs)
            }
            Some(question) if leaves_decided(experiment) => {
                self.needed_runs(plan, &decided_combinations(question, &runs, &plan.loads))
            }
            _ => plan.runs.len(),
        };
        Ok(Results {
            name: experiment.name().to_owned(),
            question: question_in_words(experiment),
            experiment_text: self.read_text("experiment.toml")?,
            factors: {
                let rates = (!rates_asked.is_empty()).then(|| rates(&runs));
                experiment.factors().iter().cloned().chain(rates).collect()
            },
            chart: experiment.chart().cloned(),
            clauses: experiment
                .answers()
                .iter()
                .map(|it| clause(experiment, it, time_is_spent))
                .collect(),
            expectations: experiment.expects().iter().map(expectation).collect(),
            searches: rates_asked
                .iter()
                .map(|question| SearchAnswer::of(question, &runs))
                .collect(),
            verdict,
            audit: if runs.is_empty() {
                None
            } else {
                Some(audit_of_results(self.path(), Some(experiment), &runs)?)
            },
            parts: RunParts::of(&runs),
            runs,
            disturbances: self.disturbances(experiment)?,
            planned_runs: planned_runs as u32,
        })
    }

    /// Number of the planned runs that exist, or whose combination is not left out.
    fn needed_runs(&self, plan: &Plan, left_out: &[BTreeMap<String, String>]) -> usize {
        let is_needed = |run: &&PlannedRun| {
            let mut records = self.records_of(run).into_iter();
            records.any(|it| it.exists()) || !left_out.contains(&run.combination)
        };
        plan.runs.iter().filter(is_needed).count()
    }

    fn disturbances(&self, experiment: &Experiment) -> Result<Disturbances, Blamed> {
        let limits = experiment.disturbed();
        let mut set_aside = Vec::new();
        for path in RecordFiles::of(self.path())?.disturbed_runs() {
            let record = read_record(path)?;
            let disturbance = Disturbance::of(&record).unwrap_or_default();
            set_aside.push((record.header.run, disturbance));
        }
        Ok(Disturbances {
            others: limits.others,
            steal: limits.steal,
            set_aside,
        })
    }

    fn read_text(&self, name: &str) -> Result<String, Blamed> {
        let path = self.path().join(name);
        files::read_regular_text(&path, experiment::TEXT_BYTES_MAX)
            .map_err(Blamed::io(Blame::Input, &path))
    }

    /// Writes the summary and the report; returns the report's path.
    pub fn write_report(&self, results: &Results) -> Result<PathBuf, Blamed> {
        report::write_summary(results, &self.path().join("summary.sqlite"))
            .map_err(Blamed::machine)?;
        let path = self.path().join(REPORT);
        files::replace(&path, report::html(results).as_bytes()).map_err(Blamed::machine)?;
        Ok(path)
    }
}

/// The question as the report's title shows it; empty where the file has none and the server was a real one.
fn question_in_words(experiment: &Experiment) -> String {
    const SIMULATED: &str = "Simulated, against a server that does nothing";
    match (experiment.is_simulated(), experiment.question.trim()) {
        (false, question) => question.to_owned(),
        (true, "") => format!("{SIMULATED}: {}", experiment.name()),
        (true, question) => format!("{SIMULATED}: {question}"),
    }
}

fn clause(
    experiment: &Experiment,
    answer: &experiment::AnswerSpec,
    time_is_spent: bool,
) -> report::Clause {
    let compared = answer.compared.as_ref();
    report::Clause {
        name: answer.name.clone(),
        filter: answer.filter.clone(),
        compared: compared
            .map(|it| comparison(experiment, &it.metric, &it.baseline, time_is_spent)),
    }
}

fn expectation(expected: &experiment::ExpectSpec) -> report::Expectation {
    report::Expectation {
        metric: verdict::Metric::named(&expected.metric)
            .expect("the experiment file's metrics are the verdict's"),
        is_below: expected.is_below,
        limit: expected.limit,
        written: expected.written.clone(),
    }
}

/// Records without an experiment: the differences between them are the factors.
fn of_records(mut records: Vec<Record>, audit: Option<Audit>) -> Results {
    number(&mut records);
    let mut factors: Vec<Factor> = Vec::new();
    for record in &records {
        for (name, level) in &record.header.combination {
            add_level(&mut factors, name, level);
        }
    }
    let named: BTreeSet<&str> = records
        .iter()
        .map(|record| record.header.experiment.as_str())
        .collect();
    Results {
        name: named.into_iter().collect::<Vec<_>>().join(", "),
        question: String::new(),
        experiment_text: String::new(),
        factors,
        chart: None,
        verdict: None,
        clauses: Vec::new(),
        expectations: Vec::new(),
        searches: Vec::new(),
        planned_runs: run_count(&records) as u32,
        parts: RunParts::of(&records),
        runs: records,
        disturbances: Disturbances::default(),
        audit,
    }
}

fn as_one(names: &[String], several: Vec<Results>) -> Results {
    let is_taken = |name: &str| {
        let mut factors = several.iter().flat_map(|results| &results.factors);
        factors.any(|factor| factor.name == name)
    };
    let mut factor = RESULTS.to_owned();
    while is_taken(&factor) {
        factor = format!("{factor}_of");
    }
    // Values that all have in common are kept; differing ones have no single value.
    let common = |of: fn(&Results) -> &str| {
        let first = of(&several[0]);
        let is_common = several.iter().all(|results| of(results) == first);
        if is_common {
            first.to_owned()
        } else {
            String::new()
        }
    };
    let first = &several[0];
    let one_question = several.iter().all(|it| it.verdict == first.verdict);
    let one_answer = several.iter().all(|it| it.clauses == first.clauses);
    let one_chart = several.iter().all(|it| it.chart == first.chart);
    let titles: BTreeSet<&str> = several
        .iter()
        .map(|results| results.name.as_str())
        .collect();
    let mut one = Results {
        name: titles.into_iter().collect::<Vec<_>>().join(", "),
        question: common(|results| &results.question),
        experiment_text: common(|results| &results.experiment_text),
        factors: vec![Factor {
            name: factor.clone(),
            levels: names.to_vec(),
        }],
        chart: first.chart.clone().filter(|_| one_chart),
        verdict: first.verdict.clone().filter(|_| one_question),
        clauses: if one_answer {
            first.clauses.clone()
        } else {
            Vec::new()
        },
        // Each side has its own, which are checked in its own results.
        expectations: Vec::new(),
        searches: Vec::new(),
        runs: Vec::new(),
        parts: RunParts::default(),
        disturbances: Disturbances {
            others: first.disturbances.others,
            steal: first.disturbances.steal,
            set_aside: Vec::new(),
        },
        audit: None,
        planned_runs: several.iter().map(|results| results.planned_runs).sum(),
    };
    if let Some(chart) = one.chart.as_mut().filter(|chart| chart.line.is_none()) {
        chart.line = Some(factor.clone());
    }
    let sides = names.iter().zip(&several);
    let sides: BTreeMap<String, Vec<Record>> = sides
        .map(|(name, results)| (name.clone(), results.runs.clone()))
        .collect();
    one.audit = Some(audit_of_sides(&sides, &[]));
    for (name, results) in names.iter().zip(several) {
        for other in &results.factors {
            for level in &other.levels {
                add_level(&mut one.factors, &other.name, level);
            }
        }
        // Runs are renumbered below; those set aside keep their positions relative to their own runs.
        let before = run_count(&one.runs) as u32;
        let set_aside = results.disturbances.set_aside.into_iter();
        let moved = set_aside.map(|(run, disturbance)| (before + run, disturbance));
        one.disturbances.set_aside.extend(moved);
        for mut search in results.searches {
            let combination = &mut search.found.question.combination;
            combination.insert(factor.clone(), name.clone());
            one.searches.push(search);
        }
        for mut record in results.runs {
            let combination = &mut record.header.combination;
            combination.insert(factor.clone(), name.clone());
            one.runs.push(record);
        }
    }
    number(&mut one.runs);
    one.parts = RunParts::of(&one.runs);
    one
}

/// Numbers runs by position if two of them have the same number.
fn number(records: &mut [Record]) {
    let indices = run_indices(&*records);
    let runs: BTreeSet<usize> = indices.iter().copied().collect();
    let numbers: BTreeSet<u32> = records.iter().map(|record| record.header.run).collect();
    if numbers.len() < runs.len() {
        for (record, index) in records.iter_mut().zip(indices) {
            record.header.run = index as u32 + 1;
        }
    }
}

fn add_level(factors: &mut Vec<Factor>, name: &str, level: &str) {
    let at = factors.iter().position(|factor| factor.name == name);
    let at = at.unwrap_or_else(|| {
        factors.push(Factor {
            name: name.to_owned(),
            levels: Vec::new(),
        });
        factors.len() - 1
    });
    let levels = &mut factors[at].levels;
    if !levels.iter().any(|known| known == level) {
        levels.push(level.to_owned());
    }
}

/// The shortest unique names of paths: the last part, or the whole path.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| {
        let last = path.file_stem().filter(|stem| *stem != "record");
        let last = last.or_else(|| path.parent()?.file_name());
        let whole = path.as_os_str();
        // A directory's name may contain a dot.
        let last = if path.is_dir() {
            path.file_name()
        } else {
            last
        };
        last.unwrap_or(whole).to_string_lossy().into_owned()
    };
    let all: Vec<String> = paths.iter().map(short).collect();
    let different: BTreeSet<&String> = all.iter().collect();
    if different.len() == all.len() {
        all
    } else {
        paths
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(run: u32, experiment: &str) -> Record {
        let header = format!(
            r#"{{"line":"run","format":1,"dbdyno_version":"0","experiment":"{experiment}","experiment_sha256":"","seed":1,"run":{run},"block":1,"combination":{{"tables":"4"}},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}}"#
        );
        Record::read(header.as_bytes()).unwrap()
    }

    #[test]
    fn several_results_are_told_apart_by_a_factor_and_numbered_anew() {
        let one = |experiment| of_records(vec![record(1, experiment)], None);
        let names = ["before", "after"].map(str::to_owned);
        let both = as_one(&names, vec![one("oltp"), one("oltp")]);
        assert_eq!(both.name, "oltp");
        assert_eq!(both.factors[0].name, "results");
        assert_eq!(both.factors[0].levels, names);
        assert_eq!(both.factors[1].levels, ["4"]);
        let runs: Vec<_> = both.runs.iter().map(|it| it.header.run).collect();
        assert_eq!(runs, [1, 2]);
        assert_eq!(both.runs[1].header.combination["results"], "after");
        let unlike = as_one(&names, vec![one("oltp"), one("slap")]);
        assert_eq!(unlike.name, "oltp, slap");
    }

    #[test]
    fn names_are_as_short_as_they_tell_apart() {
        let shown = |paths: [&str; 2]| names(&paths.map(PathBuf::from));
        assert_eq!(
            shown(["a/before.jsonl", "a/after.jsonl"]),
            ["before", "after"]
        );
        assert_eq!(
            shown(["x-1/record.jsonl", "x-2/record.jsonl"]),
            ["x-1", "x-2"]
        );
        assert_eq!(
            shown(["a/r.jsonl", "b/r.jsonl"]),
            ["a/r.jsonl", "b/r.jsonl"]
        );
    }
}
