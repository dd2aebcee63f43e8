//! A compiled script: its steps, and the statements of all scripts.

use std::time::Duration;

use super::op::Op;

/// A place in a script, for the errors of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// A script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    /// The file's name as the user wrote it.
    pub(super) file: String,
    /// Name of the operation.
    pub(super) name: String,
    /// Its share of the operations, above 0.
    pub(super) weight: u64,
    pub(super) steps: Vec<Step>,
    /// It draws random values.
    pub(super) is_random: bool,
}

/// A step with its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    pub(super) place: Place,
    pub(super) action: Action,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    Set {
        slot: u32,
        code: Box<[Op]>,
    },
    /// The statement with this index.
    Run(usize),
    /// Continues at another step unless the condition holds.
    Unless {
        code: Box<[Op]>,
        to: usize,
    },
    Jump(usize),
    Sleep(Length),
    /// Draws a row of a list; its columns become variables behind a prefix.
    Draw {
        list: usize,
        prefix: String,
        /// The variable of each column that a script uses; known once the list is read.
        targets: Vec<Option<u32>>,
    },
}

/// Length of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    Fixed(Duration),
    /// The value of a variable, in this unit.
    Variable {
        slot: u32,
        unit: Duration,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// `orders:3 SELECT c FROM customer`
    pub(super) name: String,
    /// With `?` for its variables.
    pub(super) sql: String,
    /// The text between the variables: one piece more than there are variables.
    pub(super) pieces: Vec<String>,
    /// The slots of its variables.
    pub(super) parameters: Vec<u32>,
    pub(super) kept: Option<Kept>,
    pub(super) role: Role,
}

/// Variables for the columns of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) prefix: String,
    /// The answer must have one row (`\gset`); of any other number the last one counts (`\aset`).
    pub(super) is_one: bool,
}

/// What a statement does to a transaction, by its first word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Begin,
    Commit,
    Rollback,
    Read,
    /// It may change rows, or the way in which transactions begin.
    Other,
}

impl Role {
    pub(super) fn of(sql: &str) -> Self {
        let mut words = sql.split(|letter: char| !letter.is_ascii_alphanumeric());
        let first = words.find(|word| !word.is_empty()).unwrap_or_default();
        match first.to_ascii_uppercase().as_str() {
            "BEGIN" | "START" => Self::Begin,
            "COMMIT" => Self::Commit,
            "ROLLBACK" => Self::Rollback,
            "SELECT" | "SHOW" | "EXPLAIN" | "DESCRIBE" | "VALUES" => Self::Read,
            _ => Self::Other,
        }
    }

    /// Whether a transaction can be open after it.
    pub(super) fn may_open(self, sql: &str) -> bool {
        let starts = |word: &str| {
            let first = sql.trim_start().get(..word.len());
            first.is_some_and(|first| first.eq_ignore_ascii_case(word))
        };
        self == Self::Begin || starts("SET") || starts("XA") || starts("CALL") || starts("LOCK")
    }
}
