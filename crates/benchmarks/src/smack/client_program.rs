//! The statements of main, as one list of steps per client.

use super::ast::Expression;
use crate::diagnostic::Diagnostic;

/// The steps of one client, in order.
#[derive(Debug, Clone)]
pub struct ClientProgram {
    /// Index of the client.
    pub client: usize,
    pub(super) steps: Vec<Step>,
}

/// One statement of main.
#[derive(Debug, Clone)]
pub(super) struct Step {
    pub(super) command: Command,
    /// Its position, for errors found only at run time: a fault without a message.
    pub(super) place: Box<Diagnostic>,
}

/// The action of a statement of main.
#[derive(Debug, Clone)]
pub(super) enum Command {
    SetRounds(Expression),
    CreateThreads(Expression),
    Connect,
    UnloadBarrel,
    Collect,
    Disconnect,
    /// Seconds, and additional milliseconds.
    Sleep(Expression, Expression),
    Print(Expression),
    Query(Expression),
    /// Name of a query, and a file or `-`.
    SaveResult(Expression, Expression),
    Assign(String, Expression),
}

impl Step {
    /// The expressions that the statement evaluates.
    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let (first, second) = match &self.command {
            Command::SetRounds(value)
            | Command::CreateThreads(value)
            | Command::Print(value)
            | Command::Query(value)
            | Command::Assign(_, value) => (Some(value), None),
            Command::Sleep(first, second) | Command::SaveResult(first, second) => {
                (Some(first), Some(second))
            }
            Command::Connect | Command::UnloadBarrel | Command::Collect | Command::Disconnect => {
                (None, None)
            }
        };
        first.into_iter().chain(second)
    }
}
