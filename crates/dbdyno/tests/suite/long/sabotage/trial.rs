//! One sabotage as an experiment: its file, its runs, its comparison.

use std::{
    ffi::OsStr,
    fs,
    path::Path,
    process::{Command, Stdio},
};

use samples::Record;

use crate::long::{sabotage::answer::Answer, staging::disturbance::disturbance};

/// An experiment with one factor of two levels.
pub(crate) struct Trial {
    pub(crate) factor: &'static str,
    /// The baseline level, and the level compared with it.
    pub(crate) levels: [String; 2],
    /// Lines of `[server]`.
    pub(crate) server: String,
    /// Statements before each run.
    pub(crate) before: Vec<String>,
    /// The .smack files with their statements, each with its name and whether it selects.
    pub(crate) smacks: Vec<(String, Vec<String>)>,
    /// Name of the .smack file to run, which may contain the factor.
    pub(crate) smack: String,
    pub(crate) connections: u32,
    /// Runs of each level.
    pub(crate) repeats: u32,
    /// Maximum share of the runs that may be repeated because other programs disturbed them.
    pub(crate) again: &'static str,
}

impl Trial {
    /// A trial of one statement over four connections.
    pub(crate) fn of(factor: &'static str, levels: [&str; 2], statement: &str) -> Self {
        Self {
            factor,
            levels: levels.map(str::to_owned),
            server: String::new(),
            before: Vec::new(),
            smacks: vec![("one".to_owned(), vec![statement.to_owned()])],
            smack: "one".to_owned(),
            connections: 4,
            repeats: 5,
            again: "0 %",
        }
    }

    pub(crate) fn before(mut self, statement: &str) -> Self {
        self.before.push(statement.to_owned());
        self
    }

    pub(crate) fn server(self, server: String) -> Self {
        Self { server, ..self }
    }

    pub(crate) fn connections(self, connections: u32) -> Self {
        Self {
            connections,
            ..self
        }
    }

    /// Runs it in this directory, with this number of seconds per run, and compares its levels.
    #[track_caller]
    pub(crate) fn run(&self, directory: &Path, seed: u64, seconds: u32) -> Answer {
        for (name, statements) in &self.smacks {
            fs::write(directory.join(format!("{name}.smack")), smack(statements)).unwrap();
        }
        fs::write(directory.join("trial.toml"), self.text(seed, seconds)).unwrap();
        // Results of the previous trial.
        let _ = fs::remove_dir_all(directory.join("out"));
        dbdyno(directory, ["run", "trial.toml", "--results", "out"]);
        let sides = self
            .levels
            .each_ref()
            .map(|level| format!("out:{}={level}", self.factor));
        let compare = ["compare", &sides[0], &sides[1]];
        let text = dbdyno(directory, compare.iter().chain(&["-v"]));
        let json = dbdyno(directory, compare.iter().chain(&["--format", "json"]));
        Answer::read(&json, text, self.disturbance(directory))
    }

    /// CPU share of other programs, if it was too large in most of the runs.
    fn disturbance(&self, directory: &Path) -> Option<String> {
        let runs = 2 * self.repeats;
        let records = (1..=runs).map(|run| directory.join(format!("out/run-{run:04}.jsonl")));
        let mut disturbed: Vec<String> = records
            .filter_map(|path| disturbance(&Record::open(&path).unwrap()))
            .collect();
        let count = disturbed.len();
        (2 * count > runs as usize).then(|| {
            let one = disturbed.swap_remove(count / 2);
            format!("disturbed {count} of {runs} times, once {one}")
        })
    }

    fn text(&self, seed: u64, seconds: u32) -> String {
        let list = |texts: &[String]| {
            let quoted: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
            quoted.join(", ")
        };
        format!(
            "format = 1\nseed = {seed}\nrepeats = {}\n[matrix]\n{} = [{}]\n[server]\n{}\n[each]\nbefore = [{}]\n\
             [load]\nsmack = \"{}.smack\"\nconnections = {}\nwarmup = \"500ms\"\nduration = \"{}s\"\n\
             on_error = \"retry\"\n[disturbed]\nothers = \"10 %\"\nrepeats = \"{}\"\n",
            self.repeats,
            self.factor,
            list(&self.levels),
            self.server,
            list(&self.before),
            self.smack,
            self.connections,
            seconds,
            self.again
        )
    }
}

/// A client that executes these statements in rotation; `$n` in them is a number that is never repeated.
fn smack(statements: &[String]) -> String {
    let mut barrel = String::new();
    let mut queries = String::new();
    for (number, statement) in statements.iter().enumerate() {
        let has_rows = if statement.starts_with("select") {
            "y"
        } else {
            "n"
        };
        barrel.push_str(&format!("1 it{number} "));
        let is_parsed = if statement.contains("$n") { "y" } else { "n" };
        queries.push_str(&format!(
            "query \"it{number}\" {{ query \"{statement}\"; type \"it{number}\"; has_result_set \"{has_rows}\"; \
             parsed \"{is_parsed}\"; }}\n"
        ));
    }
    format!(
        "client \"one\" {{ user \"trial\"; host \"localhost\"; db \"test\"; query_barrel \"{}\"; }}\n\
         dictionary \"n\" {{ type \"unique\"; source_type \"template\"; source \"%d\"; }}\n{queries}\
         main {{ one.init(); one.set_num_rounds($2); one.create_threads($1); one.connect(); one.unload_query_barrel(); \
         one.collect_threads(); one.disconnect(); }}\n",
        barrel.trim_end()
    )
}

/// Runs dbdyno, which must succeed; returns its output.
#[track_caller]
pub(crate) fn dbdyno<S: AsRef<OsStr>>(
    directory: &Path,
    args: impl IntoIterator<Item = S>,
) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dbdyno"))
        .args(args)
        .current_dir(directory)
        .env("HOME", directory)
        .env_remove("XDG_DATA_HOME")
        .env_remove("XDG_CACHE_HOME")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    text
}
