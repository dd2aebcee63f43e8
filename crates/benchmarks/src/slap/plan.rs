//! The statements that every client of a test runs, and their number.

use std::io::Write;

use super::script::Statement;

/// Name of the operation that ends a transaction; no statement has a kind like this.
const COMMIT: &str = "(commit)";
/// Name of the operation that closes a connection and opens another.
const RECONNECT: &str = "(reconnect)";

/// The requested load.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The statements that every client runs, one after the other, in rotation.
    pub statements: Vec<Statement>,
    /// Keys of the statements that need one.
    pub keys: Keys,
    /// Statements per client; `None` where the end of the load is the limit.
    pub per_client: Option<u64>,
    /// Number of clients, counted from the first, that run one statement more.
    pub one_more: u32,
    /// Number of a client's statements before each COMMIT, with a last one at its end; 0 is autocommit.
    pub commit_every: u64,
    /// Number of a client's statements before each reconnect; 0 is one connection for all.
    pub reconnect_every: u64,
    /// Statements at the start of every connection.
    pub on_connect: Vec<String>,
    /// Seed of the keys that are drawn.
    pub seed: u64,
    /// Receives each action of a client as the pieces of a line; `None` disables it.
    pub echo: Option<fn(&[&[u8]])>,
}

/// The keys of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Consecutive numbers.
    Range { first: u64, count: u64 },
    /// Any keys.
    List(Vec<Vec<u8>>),
}

impl Keys {
    pub fn count(&self) -> u64 {
        match self {
            Self::Range { count, .. } => *count,
            Self::List(keys) => keys.len() as u64,
        }
    }

    /// Writes the key at an index below [`Keys::count`].
    pub(super) fn write(&self, index: u64, out: &mut Vec<u8>) {
        match self {
            Self::Range { first, .. } => {
                write!(out, "{}", first + index).expect("writing to memory does not fail");
            }
            Self::List(keys) => out.extend_from_slice(&keys[index as usize]),
        }
    }
}

/// The plan that the clients of a test share.
#[derive(Debug)]
pub struct Plan {
    pub(super) planned: Planned,
    /// The operation of each statement.
    pub(super) kinds: Vec<usize>,
    operations: Vec<String>,
    /// Number of operations that are statements of the test; those after them are `(commit)` and `(reconnect)`.
    statements: usize,
    pub(super) reconnect: usize,
}

impl Plan {
    pub fn new(mut planned: Planned) -> Self {
        let mut operations: Vec<String> = Vec::new();
        let mut kinds = Vec::new();
        for statement in &planned.statements {
            let kind = statement.kind();
            let known = operations.iter().position(|operation| *operation == kind);
            kinds.push(known.unwrap_or(operations.len()));
            if known.is_none() {
                operations.push(kind);
            }
        }
        let statements = operations.len();
        if planned.commit_every > 0 {
            operations.push(COMMIT.to_owned());
        }
        let reconnect = operations.len();
        if planned.reconnect_every > 0 {
            operations.push(RECONNECT.to_owned());
        }
        if planned.commit_every > 0 {
            planned.on_connect.push("SET AUTOCOMMIT=0".to_owned());
        }
        Self {
            planned,
            kinds,
            operations,
            statements,
            reconnect,
        }
    }

    /// Names of the operations: the first words of the statements, then `(commit)` and `(reconnect)` where they occur.
    pub fn operations(&self) -> &[String] {
        &self.operations
    }

    /// Number of operations that are statements of the test; they come first in [`Plan::operations`].
    pub fn statement_kinds(&self) -> usize {
        self.statements
    }

    /// Passes a line to `echo`, if it is set.
    pub(super) fn echo(&self, line: &[&[u8]]) {
        if let Some(echo) = self.planned.echo {
            echo(line);
        }
    }

    /// The operation that ends a transaction.
    pub(super) fn commit(&self) -> usize {
        self.statements
    }

    /// Number of statements of the client with this index; `None` where the end of the load is the limit.
    pub(super) fn limit_of(&self, client: u32) -> Option<u64> {
        let one_more = u64::from(client < self.planned.one_more);
        Some(self.planned.per_client? + one_more)
    }
}
