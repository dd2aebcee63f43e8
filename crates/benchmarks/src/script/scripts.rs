//! The scripts of a load: read, compiled, with the lists of their own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Component, Path, PathBuf},
};

use sqltext::refuse_foreign_text;

use super::{
    compiler::{Compiler, first_word},
    error::Error,
    item::{Item, items},
    lexer::Fault,
    list::{List, ListRows},
    list_spec::{self, ListSpec, Origin},
    names::{Names, is_name},
    places::Places,
    program::{Action, Program, Statement},
    reach,
    scalar::Scalar,
    statement_names::StatementNames,
};
use crate::diagnostic::{Diagnostic, Source};

/// Longest script.
const SCRIPT_BYTES_MAX: u64 = 16 << 20;
/// Longest CSV file of a list.
const LIST_BYTES_MAX: u64 = 1 << 30;

/// A script that is to run, with its share of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WeightedFile<'p> {
    pub path: &'p Path,
    /// Its weight, above 0.
    pub weight: u64,
}

/// The scripts of a load.
#[derive(Debug, Clone)]
pub struct Scripts {
    pub(super) programs: Vec<Program>,
    pub(super) statements: Vec<Statement>,
    pub(super) names: Names,
    pub(super) lists: Vec<ListSource>,
    /// The variables that the user defines, with their values.
    pub(super) defined: Vec<(u32, String)>,
    /// The variables of the columns of lists that are drawn.
    drawn: BTreeSet<u32>,
}

/// A list of a script, which is read before the load.
#[derive(Debug, Clone)]
pub(super) struct ListSource {
    pub(super) spec: ListSpec,
    /// Where the script declares it.
    pub(super) place: Diagnostic,
    /// What its file has; `None` for a query.
    read: Option<List>,
}

impl ListSource {
    fn fault(&self, why: impl fmt::Display) -> Error {
        Error::Fault(Box::new(Diagnostic {
            message: format!("list `{}`: {why}", self.spec.name),
            ..self.place.clone()
        }))
    }
}

/// A script's text.
struct Text<'t> {
    name: String,
    directory: &'t Path,
    text: &'t str,
    weight: u64,
}

impl Scripts {
    /// Reads scripts and the CSV files of their lists; `defined` are variables with their values.
    pub fn read(
        files: &[WeightedFile<'_>],
        defined: &BTreeMap<String, String>,
    ) -> Result<Self, Error> {
        let read = files.iter().map(|file| text_of(file.path));
        let texts: Vec<String> = read.collect::<Result<_, _>>()?;
        let texts = files.iter().zip(&texts).map(|(file, text)| Text {
            name: file.path.display().to_string(),
            directory: file.path.parent().unwrap_or(Path::new("")),
            text,
            weight: file.weight,
        });
        Self::compile(&texts.collect::<Vec<_>>(), defined)
    }

    /// One script from its text, without any file beside it.
    pub fn of_text(name: &str, text: &str) -> Result<Self, Error> {
        let text = Text {
            name: name.to_owned(),
            directory: Path::new(""),
            text,
            weight: 1,
        };
        Self::compile(&[text], &BTreeMap::new())
    }

    fn compile(texts: &[Text<'_>], defined: &BTreeMap<String, String>) -> Result<Self, Error> {
        let mut scripts = Self {
            programs: Vec::new(),
            statements: Vec::new(),
            names: Names::new(),
            lists: Vec::new(),
            defined: Vec::new(),
            drawn: BTreeSet::new(),
        };
        for (name, value) in defined {
            if !is_name(name) {
                return Err(Error::Name(name.clone()));
            }
            let slot = scripts.names.define(name);
            scripts.defined.push((slot, value.clone()));
        }
        let mut all = Vec::new();
        for text in texts {
            let source = source(text);
            let fault = |(at, message): Fault| fault(&source, at, message);
            let foreign = refuse_foreign_text(Path::new(&text.name), text.text.as_bytes());
            foreign.map_err(|message| fault((0, message)))?;
            let items = items(text.text).map_err(fault)?;
            let lists = scripts.declare(text, &items).map_err(fault)?;
            all.push((items, lists));
        }
        for (text, (items, lists)) in texts.iter().zip(&all) {
            scripts.add(text, items, lists)?;
        }
        let fixed = scripts.fixed();
        for ((text, (items, _)), program) in texts.iter().zip(&all).zip(&scripts.programs) {
            if !reach::sends(&program.steps, &fixed) {
                let mut commands = items.iter().filter_map(Item::command);
                let at = commands.find(|command| command.name == "if");
                let message = "no statement of the script can run: its conditions never allow one";
                let at = at.map_or(0, |command| command.at);
                return Err(fault(&source(text), at, message.to_owned()));
            }
        }
        Ok(scripts)
    }

    /// The variables that the user defines and no script sets, with their numbers.
    fn fixed(&self) -> BTreeMap<u32, Scalar> {
        let steps = self.programs.iter().flat_map(|program| &program.steps);
        let set: BTreeSet<u32> = steps
            .filter_map(|step| match step.action {
                Action::Set { slot, .. } => Some(slot),
                _ => None,
            })
            .collect();
        let defined = self.defined.iter().filter(|(slot, _)| {
            let name = self.names.of_slot(*slot);
            !(set.contains(slot) || self.drawn.contains(slot) || self.names.is_open(name))
        });
        let numbers = defined.filter_map(|(slot, value)| Some((*slot, Scalar::number_of(value)?)));
        numbers.collect()
    }

    /// Notes what a script sets, and reads its lists: any script may use what any other sets.
    fn declare(&mut self, text: &Text<'_>, items: &[Item]) -> Result<Vec<(String, usize)>, Fault> {
        let mut lists: Vec<(String, usize)> = Vec::new();
        let commands = || items.iter().filter_map(Item::command);
        for command in commands().filter(|command| command.name == "list") {
            let spec = list_spec::parse(text.text, command.rest.clone())?;
            if lists.iter().any(|(name, _)| *name == spec.name) {
                let message = format!("the script has a list `{}` already", spec.name);
                return Err((command.at, message));
            }
            lists.push((spec.name.clone(), self.lists.len()));
            let read = match &spec.from {
                Origin::Query(_) => None,
                Origin::File(name) => {
                    let path = beside(text.directory, name);
                    let list = list_of_file(&path, &spec);
                    let told = |why| format!("list `{}`, {}: {why}", spec.name, path.display());
                    Some(list.map_err(|why| (command.at, told(why)))?)
                }
            };
            self.lists.push(ListSource {
                spec,
                place: source(text).diagnostic(command.at, ""),
                read,
            });
        }
        let mut drawn = Vec::new();
        for command in commands() {
            let (first, _, rest) = first_word(text.text, command.rest.clone());
            match command.name.as_str() {
                "set" if is_name(&first) => {
                    self.names.define(&first);
                }
                "gset" | "aset" => self.names.open(&first),
                "draw" => {
                    let (prefix, ..) = first_word(text.text, rest);
                    let list = lists.iter().find(|(name, _)| *name == first);
                    if let Some((_, index)) = list {
                        drawn.push(*index);
                        self.declare_draw(*index, &prefix);
                    }
                }
                _ => {}
            }
        }
        let unused = lists.iter().find(|(_, index)| !drawn.contains(index));
        match unused {
            None => Ok(lists),
            Some((name, _)) => {
                let at = commands().find(|command| command.name == "list");
                let message = format!("nothing draws the list `{name}`: add \\draw {name}");
                Err((at.map_or(0, |command| command.at), message))
            }
        }
    }

    fn declare_draw(&mut self, list: usize, prefix: &str) {
        let source = &self.lists[list];
        let columns = match &source.read {
            Some(list) => list.columns(),
            None => &source.spec.columns,
        };
        if columns.is_empty() {
            self.names.open(prefix);
        }
        for column in columns {
            let slot = self.names.define(&format!("{prefix}{column}"));
            self.drawn.insert(slot);
        }
    }

    fn add(
        &mut self,
        text: &Text<'_>,
        items: &[Item],
        lists: &[(String, usize)],
    ) -> Result<(), Error> {
        let source = source(text);
        let name = self.operation(&text.name);
        let mut compiler = Compiler {
            places: Places::new(text.text),
            statement_names: StatementNames::new(&name, text.text),
            script: text.text,
            names: &mut self.names,
            lists,
            statements: &mut self.statements,
            steps: Vec::new(),
            is_random: false,
            blocks: Vec::new(),
        };
        let compiled = compiler.compile(items);
        compiled.map_err(|(at, message)| fault(&source, at, message))?;
        let (steps, is_random) = (compiler.steps, compiler.is_random);
        self.programs.push(Program {
            file: text.name.clone(),
            name,
            weight: text.weight,
            steps,
            is_random,
        });
        Ok(())
    }

    /// The name of a script's operation: the file's stem, with a number where another has it already.
    fn operation(&self, file: &str) -> String {
        let stem = Path::new(file).file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy().into_owned();
        let is_taken = |name: &str| self.programs.iter().any(|it| it.name == name);
        let mut number = 1;
        let mut name = stem.clone();
        while is_taken(&name) {
            number += 1;
            name = format!("{stem} ({number})");
        }
        name
    }

    /// The statements whose rows are the lists from queries, in the order in which [`super::Plan::new`] takes the rows.
    pub fn queries(&self) -> impl Iterator<Item = &str> {
        self.lists.iter().filter_map(|list| match &list.spec.from {
            Origin::Query(sql) => Some(sql.as_str()),
            Origin::File(_) => None,
        })
    }

    /// The error of a query of [`Self::queries`], with the place of its list.
    pub fn query_fault(&self, query: usize, why: impl fmt::Display) -> Error {
        let queries = |list: &&ListSource| matches!(list.spec.from, Origin::Query(_));
        let list = self.lists.iter().filter(queries).nth(query);
        list.expect("it is one of the queries").fault(why)
    }

    /// The statements of all scripts.
    pub fn statements(&self) -> usize {
        self.statements.len()
    }

    /// A sentence for each script that sends the same statements each time.
    pub fn warnings(&self) -> Vec<String> {
        let constant = self.programs.iter().filter(|program| {
            let mut steps = program.steps.iter();
            let draws = steps.any(|step| match &step.action {
                Action::Draw { list, .. } => {
                    let read = self.lists[*list].read.as_ref();
                    read.is_none_or(List::varies)
                }
                _ => false,
            });
            !(program.is_random || draws)
        });
        let told = constant.map(|program| {
            format!(
                "{}: no random value: every connection asks for the same rows each time \
                 (\\set id random(1, 1000), or \\list and \\draw, vary them)",
                program.file
            )
        });
        told.collect()
    }

    /// Makes the lists; `answers` has the rows of [`Self::queries`].
    pub(super) fn take_lists(
        &mut self,
        answers: impl IntoIterator<Item = ListRows>,
    ) -> Result<Vec<List>, Error> {
        let mut answers = answers.into_iter();
        let lists = self.lists.iter_mut().map(|source| {
            if let Some(read) = source.read.take() {
                return Ok(read);
            }
            let answer = answers.next().unwrap_or_default();
            list_of_rows(answer, &source.spec).map_err(|why| source.fault(why))
        });
        lists.collect()
    }
}

/// The CSV files that scripts name; none of a script that has a fault, which is reported where it is compiled.
pub(super) fn list_files<'p>(scripts: impl Iterator<Item = &'p Path>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in scripts {
        let Ok(text) = text_of(path) else { continue };
        let directory = path.parent().unwrap_or(Path::new(""));
        for item in items(&text).unwrap_or_default() {
            if let Item::Command(command) = item
                && command.name == "list"
                && let Ok(spec) = list_spec::parse(&text, command.rest)
                && let Origin::File(name) = spec.from
            {
                found.push(beside(directory, &name));
            }
        }
    }
    found
}

fn text_of(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    let bytes = files::read_handed_over(path, SCRIPT_BYTES_MAX).map_err(failed)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let name = path.display().to_string();
        let source = Source {
            name: &name,
            text: error.as_bytes(),
        };
        fault(&source, at, "this is not UTF-8".to_owned())
    })
}

fn source<'t>(text: &'t Text<'_>) -> Source<'t> {
    Source {
        name: &text.name,
        text: text.text.as_bytes(),
    }
}

fn fault(source: &Source<'_>, at: usize, message: String) -> Error {
    Error::Fault(Box::new(source.diagnostic(at, message)))
}

/// The path of a file that a script names, without `..` where its name shows that directory.
fn beside(directory: &Path, name: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for component in directory.join(name).components() {
        let ends_in_name = matches!(path.components().next_back(), Some(Component::Normal(_)));
        if component == Component::ParentDir && ends_in_name {
            path.pop();
        } else {
            path.push(component);
        }
    }
    path
}

fn list_of_file(path: &Path, spec: &ListSpec) -> Result<List, String> {
    // It is read twice, which a pipe and a compressed file cannot be.
    let file = files::seekable_within(path, LIST_BYTES_MAX).map_err(|error| error.to_string())?;
    let list = List::of_csv(file, &spec.columns, &spec.draw);
    let withheld = |_| format!("no such list ({})", files::WITHHELD);
    if files::is_quotable(path) {
        list
    } else {
        list.map_err(withheld)
    }
}

fn list_of_rows(mut rows: ListRows, spec: &ListSpec) -> Result<List, String> {
    if !spec.columns.is_empty() {
        if spec.columns.len() != rows.columns.len() {
            return Err(format!(
                "the query has {} columns, and {} are named",
                rows.columns.len(),
                spec.columns.len()
            ));
        }
        rows.columns.clone_from(&spec.columns);
    }
    List::of_rows(&rows, &spec.draw)
}

#[cfg(test)]
#[path = "scripts_tests.rs"]
mod tests;
