//! What an execution of a statement can change that its transaction does not take back, by all that it can reach:
//! tables, and more of them by views, triggers and routines.
//!
//! Objects are searched by their names among the words of texts, so that what only looks like a name counts, too.

use std::collections::HashSet;

use sqltext::SqlStatement;

use super::catalogue::{Catalogue, Program, ProgramKind, Table, TableKind};

/// Schemas of the server whose tables have engines of all kinds.
const SERVER_SCHEMAS: [&str; 3] = ["mysql", "performance_schema", "sys"];

/// Engines whose changes a rollback takes back.
const TRANSACTIONAL: [&str; 4] = ["InnoDB", "TokuDB", "ROCKSDB", "ndbcluster"];

/// Words without which no program changes a table.
const VERBS: [&str; 4] = ["insert", "update", "delete", "replace"];

/// Words by which a program may change more than tables.
const BEYOND: [&str; 4] = ["global", "persist", "persist_only", "kill"];

/// Words by which a value is taken from a sequence or set.
const DRAWS: [&str; 2] = ["nextval", "setval"];

/// What a statement may do on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Read, in a transaction that allows nothing else.
    ReadOnly,
    /// Be planned, or read, in a transaction that is rolled back; the server may call its functions.
    RolledBackRead,
    /// Change tables, in a transaction that is rolled back.
    RolledBackChange,
}

/// Why a statement cannot be executed without leaving something behind; `None` if it can. `database` is that of the
/// session, or empty.
pub(super) fn obstacle(
    catalogue: &Catalogue,
    statement: &SqlStatement,
    database: &str,
    access: Access,
) -> Option<String> {
    let is_guarded = access == Access::ReadOnly && catalogue.has_read_only;
    let reach = Reach::of(catalogue, statement, access);
    // A transaction that only reads keeps the server from changing tables, whatever it executes.
    if !is_guarded && let Some(program) = reach.hidden {
        return Some(format!(
            "the text of {} is not shown to this account, so its changes are unknown",
            program.called()
        ));
    }
    if !is_guarded
        && !catalogue.visibility.is_whole
        && let Some(program) = reach.programs().next()
    {
        return Some(format!(
            "{} may use objects that this account cannot see",
            program.called()
        ));
    }
    let beyond_tables = reach.writes_a_file();
    let beyond_tables = beyond_tables.or_else(|| reach.reaches_beyond_tables(catalogue));
    if beyond_tables.is_some() || !reach.can_write {
        return beyond_tables;
    }
    if let Some(schema) = reach.server_schema(statement, database, access) {
        return Some(format!(
            "not every table of schema {schema} supports transactions"
        ));
    }
    catalogue
        .tables
        .iter()
        .find_map(|table| reach.obstacle_of(table, catalogue, access))
}

/// Whether the server may call a routine when it executes a statement that reads: the statement's plan does not show what
/// the routine does. A program whose text is not shown may call one.
pub(super) fn calls_routine(catalogue: &Catalogue, statement: &SqlStatement) -> bool {
    let reach = Reach::of(catalogue, statement, Access::ReadOnly);
    let is_routine = |it: &Program| it.kind == ProgramKind::Routine;
    reach.hidden.is_some() || reach.programs().any(is_routine)
}

impl Program {
    /// For messages: `trigger shop.noted`.
    fn called(&self) -> String {
        let kind = match self.kind {
            ProgramKind::Routine => "routine",
            ProgramKind::View => "view",
            ProgramKind::Trigger { .. } => "trigger",
        };
        format!("{kind} {}.{}", self.schema, self.name)
    }

    fn is_view(&self) -> bool {
        self.kind == ProgramKind::View
    }
}

/// The statement and the programs that it can reach.
struct Reach<'a> {
    texts: Vec<Text<'a>>,
    /// Tables can be written.
    can_write: bool,
    /// A program whose text is not shown.
    hidden: Option<&'a Program>,
}

/// The words of a text.
struct Text<'a> {
    /// Whose text it is; `None` for the statement's.
    of: Option<&'a Program>,
    /// In small letters.
    words: HashSet<String>,
}

impl<'a> Reach<'a> {
    fn of(catalogue: &'a Catalogue, statement: &SqlStatement, access: Access) -> Self {
        let mut reach = Self {
            texts: vec![Text::of_statement(statement)],
            can_write: access == Access::RolledBackChange,
            hidden: None,
        };
        let mut left: Vec<&Program> = catalogue.programs.iter().collect();
        loop {
            let (found, rest): (Vec<&Program>, Vec<&Program>) =
                left.into_iter().partition(|program| reach.calls(program));
            if found.is_empty() {
                return reach;
            }
            left = rest;
            for program in found {
                let Some(text) = Text::of_program(program) else {
                    reach.hidden = Some(program);
                    continue;
                };
                reach.can_write |= !program.is_view() && text.has_one_of(&VERBS);
                reach.texts.push(text);
            }
        }
    }

    fn calls(&self, program: &Program) -> bool {
        let name = match &program.kind {
            // A trigger is executed only where its table can be written.
            ProgramKind::Trigger { .. } if !self.can_write => return false,
            ProgramKind::Trigger { table } => table,
            _ => &program.name,
        };
        self.texts.iter().any(|text| text.mentions(name))
    }

    fn programs(&self) -> impl Iterator<Item = &'a Program> {
        self.texts.iter().filter_map(|it| it.of)
    }

    fn writes_a_file(&self) -> Option<String> {
        let writes = |text: &&Text<'_>| text.has_one_of(&["outfile", "dumpfile"]);
        let text = self.texts.iter().find(writes)?;
        Some(format!(
            "{} writes a file, which cannot be rolled back",
            text.called()
        ))
    }

    /// Sequences, loadable functions, and settings of the server.
    fn reaches_beyond_tables(&self, catalogue: &Catalogue) -> Option<String> {
        for text in &self.texts {
            let called = text.called();
            if text.of.is_some_and(|it| !it.is_view()) && text.has_one_of(&BEYOND) {
                return Some(format!("{called} may change settings of the server"));
            }
            let mut loadable = catalogue.loadable.iter();
            if let Some(name) = loadable.find(|name| text.mentions(name)) {
                return Some(format!(
                    "{called} may call {name}, a loadable function, whose effects cannot be rolled back"
                ));
            }
            let draws = text.has_one_of(&DRAWS) || text.has("next") && text.has("value");
            let mut sequences = catalogue
                .tables
                .iter()
                .filter(|it| it.kind == TableKind::Sequence);
            if draws && let Some(sequence) = sequences.find(|it| text.mentions(&it.name)) {
                return Some(format!(
                    "{called} uses values from sequence {}.{}, which a rollback does not return",
                    sequence.schema, sequence.name
                ));
            }
        }
        None
    }

    /// A schema of the server whose tables may be written.
    fn server_schema(
        &self,
        statement: &SqlStatement,
        database: &str,
        access: Access,
    ) -> Option<&'static str> {
        SERVER_SCHEMAS.into_iter().find(|schema| {
            let is_it = |name: &str| name.eq_ignore_ascii_case(schema);
            let by_statement = access == Access::RolledBackChange
                && (is_it(database) || statement.has_word(schema));
            by_statement
                || self.texts.iter().any(|text| {
                    let written = text.of.filter(|it| !it.is_view());
                    written.is_some_and(|it| is_it(&it.schema) || text.has(schema))
                })
        })
    }

    /// Why a table must not be written.
    fn obstacle_of(&self, table: &Table, catalogue: &Catalogue, access: Access) -> Option<String> {
        let Table { schema, name, kind } = table;
        let TableKind::Base { engine, draws } = kind else {
            return None;
        };
        let text = self.texts.iter().find(|text| text.mentions(name))?;
        let by = text.of.map_or_else(String::new, |program| {
            format!(", which {} names,", program.called())
        });
        let engine = engine.as_deref().unwrap_or("not known to the server");
        if !TRANSACTIONAL
            .iter()
            .any(|it| it.eq_ignore_ascii_case(engine))
        {
            return Some(format!(
                "table {schema}.{name}{by} has engine {engine}, which does not support transactions"
            ));
        }
        if *draws {
            return Some(format!(
                "table {schema}.{name}{by} uses values from a sequence, which a rollback does not return"
            ));
        }
        let is_seen = catalogue.visibility.has_triggers_of(schema, name);
        (access == Access::RolledBackChange && !is_seen).then(|| {
            format!(
                "triggers of table {schema}.{name} are not shown to this account (grant it TRIGGER)"
            )
        })
    }
}

impl<'a> Text<'a> {
    fn of_statement(statement: &SqlStatement) -> Self {
        let word = |it: std::borrow::Cow<'_, [u8]>| String::from_utf8_lossy(&it).to_lowercase();
        Self {
            of: None,
            words: statement.words().map(word).collect(),
        }
    }

    /// With the words of texts and comments in it: what they are depends on the mode in which it was made.
    fn of_program(program: &'a Program) -> Option<Self> {
        let text = program.text.as_ref()?;
        Some(Self {
            of: Some(program),
            words: parts(text).map(str::to_lowercase).collect(),
        })
    }

    /// For messages.
    fn called(&self) -> String {
        self.of.map_or_else(|| "it".to_owned(), Program::called)
    }

    fn has(&self, word: &str) -> bool {
        self.words.contains(word)
    }

    fn has_one_of(&self, words: &[&str]) -> bool {
        words.iter().any(|it| self.has(it))
    }

    /// Whether the name of an object may stand in it.
    fn mentions(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        let has = |part: &str| {
            self.has(part)
                || !part.is_ascii() && self.words.iter().any(|it| may_be_same(it, part))
                || self
                    .words
                    .iter()
                    .any(|it| !it.is_ascii() && may_be_same(it, part))
        };
        match self.of {
            None => has(&name),
            // A quoted name of several words stands there as its parts.
            Some(_) => parts(&name).all(has),
        }
    }
}

/// The words of a text, whatever they stand in.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_part =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '$') || !it.is_ascii();
    let parts = text.split(move |it| !is_part(it));
    parts.filter(|part| !part.is_empty())
}

/// Whether a server may take two names in small letters for the same: it compares names of routines without accents.
fn may_be_same(one: &str, other: &str) -> bool {
    let is_same = |(a, b): (char, char)| a == b || !a.is_ascii() || !b.is_ascii();
    one.chars().count() == other.chars().count() && one.chars().zip(other.chars()).all(is_same)
}

#[cfg(test)]
mod tests;
