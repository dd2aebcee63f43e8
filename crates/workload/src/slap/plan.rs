//! What every client of a test runs, and how often.

use std::io::Write;

use super::script::Statement;

/// Name of the operation that ends a transaction; no statement has a kind like this.
const COMMIT: &str = "(commit)";
/// Name of the operation that closes a connection and opens another.
const RECONNECT: &str = "(reconnect)";

/// What to run, as it is asked for.
#[derive(Debug, Clone)]
pub struct Planned {
    /// What every client runs, one after the other and again from the first.
    pub statements: Vec<Statement>,
    /// Keys of the statements that take one.
    pub keys: Keys,
    /// Statements of one client; `None` where the load's end is its end.
    pub per_client: Option<u64>,
    /// So many clients, the first ones, run one statement more.
    pub one_more: u32,
    /// COMMIT after so many statements of a client, and at its end; 0 is autocommit.
    pub commit_every: u64,
    /// Another connection after so many statements of a client; 0 is one connection for all.
    pub reconnect_every: u64,
    /// Statements that every connection begins with.
    pub on_connect: Vec<String>,
    /// Seed of the keys that are drawn.
    pub seed: u64,
    /// Is told what every client does, in the pieces of a line; nobody is where nobody asked for it.
    pub echo: Option<fn(&[&[u8]])>,
}

/// The keys of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Keys {
    /// Numbers without a gap.
    Range {
        /// The first one.
        first: u64,
        /// How many there are.
        count: u64,
    },
    /// Any.
    List(Vec<Vec<u8>>),
}

impl Keys {
    /// How many there are.
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
    /// The first so many operations are statements that are to be run; behind them stands what goes with them.
    statements: usize,
    pub(super) reconnect: usize,
}

impl Plan {
    /// The plan for what is asked for.
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

    /// The first so many operations are statements that are to be run.
    pub fn statement_kinds(&self) -> usize {
        self.statements
    }

    /// Tells whoever wants to know.
    pub(super) fn echo(&self, line: &[&[u8]]) {
        if let Some(echo) = self.planned.echo {
            echo(line);
        }
    }

    /// The operation that ends a transaction.
    pub(super) fn commit(&self) -> usize {
        self.statements
    }

    /// Statements that the client with this index runs; `None` where the load's end is its end.
    pub(super) fn limit_of(&self, client: u32) -> Option<u64> {
        let one_more = u64::from(client < self.planned.one_more);
        Some(self.planned.per_client? + one_more)
    }
}
