//! `[[event]]`: what is done to the server while a run is measured.

use std::{path::PathBuf, time::Duration};

use samples::PlannedAction;
use settings::quantity;

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    spec::{load::LoadSpec, server::ServerSpec},
};

const KEYS: &[&str] = &["name", "at", "sql", "server", "command", "timeout"];
/// The keys of which an event has exactly one.
const ACTIONS: [&str; 3] = ["sql", "server", "command"];
/// Maximum number of events of a run.
const EVENTS_MAX: usize = 100;
/// Maximum length of a name that is made from a statement, characters.
const NAME_CHARS_MAX: usize = 40;

const AT: &str = "a time after the start of the measurement such as \"60s\"";
const AT_EXAMPLE: &str = "at = \"60s\"";
const TIMEOUT: &str = "a time above zero such as \"5m\", at most 30days";

/// A planned event of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct EventSpec {
    /// The name in the file, or a short one of what it does.
    pub name: String,
    /// Begin, from the start of the measurement.
    pub at: Duration,
    pub action: EventAction,
    /// Time limit; `None` for the end of the measurement.
    pub timeout: Option<Duration>,
}

/// What an event does.
#[derive(Debug, Clone, PartialEq)]
pub enum EventAction {
    /// Executes these statements on a connection of its own, in this order.
    Sql(Vec<String>),
    /// Does this to the private server.
    Server(ServerAction),
    Command {
        /// A path, or a name that is searched in PATH.
        program: PathBuf,
        arguments: Vec<String>,
    },
}

/// What an event does to a private server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerAction {
    /// A clean stop and a start.
    Restart,
    /// SIGKILL and a start, as after a crash.
    Kill,
}

impl ServerAction {
    /// The spelling in the file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Restart => "restart",
            Self::Kill => "kill",
        }
    }
}

impl EventAction {
    /// What it is in a run record.
    pub fn kind(&self) -> PlannedAction {
        match self {
            Self::Sql(_) => PlannedAction::Sql,
            Self::Server(_) => PlannedAction::Server,
            Self::Command { .. } => PlannedAction::Command,
        }
    }

    /// What it does, as text: the statements, the word of the server's action, or the command line.
    pub fn in_words(&self) -> String {
        match self {
            Self::Sql(statements) => statements.join("; "),
            Self::Server(action) => action.word().to_owned(),
            Self::Command { program, arguments } => {
                let program = program.display().to_string();
                let words: Vec<&str> = [program.as_str()]
                    .into_iter()
                    .chain(arguments.iter().map(String::as_str))
                    .collect();
                words.join(" ")
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Sql(statements) => {
                let words = statements.iter().flat_map(|sql| sql.split_whitespace());
                first_words(&words.collect::<Vec<_>>().join(" "))
            }
            Self::Server(action) => format!("server {}", action.word()),
            Self::Command { program, .. } => {
                let name = program.file_name().unwrap_or(program.as_os_str());
                name.to_string_lossy().into_owned()
            }
        }
    }
}

impl EventSpec {
    /// Reads every `[[event]]` for one combination, sorted by time; the sections have the combination's levels.
    pub(crate) fn read_all(
        sections: &[Section<'_>],
        load_section: &Section<'_>,
        load: &LoadSpec,
        server: &ServerSpec,
    ) -> Result<Vec<Self>, Error> {
        let Some(first) = sections.first() else {
            return Ok(Vec::new());
        };
        if load.ends_by_itself() {
            let (key, other) = ("event", "a load that ends by itself".to_owned());
            return Err(first.error(Problem::NoMeaning { key, other }));
        }
        if load.precision.is_some() {
            // It could end the measurement before an event.
            let (key, other) = ("precision", "[[event]]".to_owned());
            return Err(load_section.error_at(key, Problem::NoMeaning { key, other }));
        }
        if let Some(beyond) = sections.get(EVENTS_MAX) {
            let problem = format!("a run has at most {EVENTS_MAX} events");
            let hint = "remove events that are not needed";
            return Err(beyond.error(Problem::Conflict { problem, hint }));
        }
        let events = sections.iter().map(|it| Self::read(it, load, server));
        let mut events = events.collect::<Result<Vec<Self>, Error>>()?;
        // Events of the same time keep the order of the file.
        events.sort_by_key(|event| event.at);
        Ok(events)
    }

    fn read(section: &Section<'_>, load: &LoadSpec, server: &ServerSpec) -> Result<Self, Error> {
        section.allow(KEYS)?;
        let at = section.parsed("at", AT, quantity::duration)?;
        let at = section.required("at", at, AT_EXAMPLE)?;
        if at >= load.duration {
            let problem = format!(
                "`at` is {at:?} after the start of the measurement, which lasts {:?}",
                load.duration
            );
            let hint =
                "an event begins within `duration` of [load], with time left to see its effect";
            return Err(section.error_at("at", Problem::Conflict { problem, hint }));
        }
        let action = action(section, server)?;
        let timeout = section.parsed("timeout", TIMEOUT, quantity::duration)?;
        if timeout.is_some() && matches!(action, EventAction::Server(_)) {
            // A server that is ended while it starts leaves the run without one.
            let (key, other) = ("timeout", "`server`".to_owned());
            return Err(section.error_at(key, Problem::NoMeaning { key, other }));
        }
        let name = section.parsed("name", "a few words", |text| {
            let text = text.trim();
            (!text.is_empty()).then(|| text.to_owned())
        })?;
        Ok(Self {
            name: name.unwrap_or_else(|| action.name()),
            at,
            action,
            timeout,
        })
    }
}

fn action(section: &Section<'_>, server: &ServerSpec) -> Result<EventAction, Error> {
    let found: Vec<&str> = ACTIONS
        .into_iter()
        .filter(|key| section.value(key).is_some())
        .collect();
    let hint = "an event has one of sql = \"...\", server = \"restart\" and command = [\"program\", \"argument\"]";
    match found[..] {
        ["sql"] => statements(section).map(EventAction::Sql),
        ["server"] => {
            let words = [ServerAction::Restart, ServerAction::Kill].map(|it| (it.word(), it));
            let action = section.choice("server", &words)?;
            let is_private = matches!(server, ServerSpec::Private { .. });
            match action {
                Some(action) if is_private => Ok(EventAction::Server(action)),
                _ => Err(section.error_at(
                    "server",
                    Problem::OtherServer {
                        key: "server",
                        needs: "a private server",
                        found: "`address`",
                    },
                )),
            }
        }
        ["command"] => command(section),
        [] => {
            let problem = "this [[event]] does nothing".to_owned();
            Err(section.error(Problem::Conflict { problem, hint }))
        }
        [first, second, ..] => {
            let problem = format!("this [[event]] has both `{first}` and `{second}`");
            Err(section.error_at(second, Problem::Conflict { problem, hint }))
        }
        [other] => unreachable!("{other} is not an action"),
    }
}

/// One statement, or a list of them.
fn statements(section: &Section<'_>) -> Result<Vec<String>, Error> {
    let is_list = section
        .value("sql")
        .is_some_and(|value| value.get_ref().as_array().is_some());
    let texts = if is_list {
        section.list("sql")?.unwrap_or_default()
    } else {
        section.string("sql")?.into_iter().collect()
    };
    if texts.is_empty() {
        let problem = "`sql` is an empty list".to_owned();
        let hint = "for example: sql = \"ALTER TABLE sbtest1 ADD INDEX c (c)\"";
        return Err(section.error_at("sql", Problem::Conflict { problem, hint }));
    }
    let statement = |text: &str| (!text.trim().is_empty()).then(|| text.to_owned());
    let texts = texts.iter();
    texts
        .map(|it| it.parsed("a statement", statement))
        .collect()
}

fn command(section: &Section<'_>) -> Result<EventAction, Error> {
    let words = section.list("command")?.unwrap_or_default();
    let mut words = words.into_iter();
    let Some(program) = words.next() else {
        let problem = "`command` is an empty list".to_owned();
        let hint = "for example: command = [\"sh\", \"-c\", \"sync\"]";
        return Err(section.error_at("command", Problem::Conflict { problem, hint }));
    };
    let named = program.parsed("a program", |text| {
        (!text.trim().is_empty()).then(|| PathBuf::from(text))
    })?;
    Ok(EventAction::Command {
        // A name without a directory is searched in PATH.
        program: if program.value.contains('/') {
            program.program()?
        } else {
            named
        },
        arguments: words.map(|word| word.value).collect(),
    })
}

/// A statement as a name: its first words, with ` …` for the others.
fn first_words(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(NAME_CHARS_MAX) else {
        return text.to_owned();
    };
    let (kept, rest) = text.split_at(end);
    let last = kept.rfind(' ').filter(|_| !rest.starts_with(' '));
    format!("{} …", kept[..last.unwrap_or(end)].trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_long_statement_ends_with_a_word() {
        let name = |sql: &str| EventAction::Sql(vec![sql.to_owned()]).name();
        assert_eq!(name("select  1"), "select 1");
        assert_eq!(
            name("alter table orders add index by_customer (customer)"),
            "alter table orders add index by_customer …"
        );
        assert_eq!(
            name("alter table orders add index by_customers (customer)"),
            "alter table orders add index …"
        );
        assert_eq!(name(&"x".repeat(41)), format!("{} …", "x".repeat(40)));
    }
}
