//! What happens while a table is made, for those who look on.

use std::path::Path;

/// What happens while a table is made.
#[derive(Debug)]
pub enum TableEvent<'e> {
    /// It has too few rows and is dropped.
    TooFewRows,
    /// It is created.
    Creating,
    /// Its data file is made by this command.
    Populating {
        /// The file.
        path: &'e Path,
        /// The command as written.
        command: String,
    },
    /// Its rows are loaded.
    Loading {
        /// The file; none if they come straight from their generator.
        path: Option<&'e Path>,
    },
    /// The server takes no LOAD DATA LOCAL, so that the rows go in by INSERT.
    ByInsert {
        /// What the server said.
        reason: String,
    },
    /// So many rows have been sent.
    Sent {
        /// Rows.
        rows: u64,
        /// Of so many, where that is known.
        of: Option<u64>,
    },
    /// The server changed values while it loaded them, which its SQL mode allows.
    Adjusted {
        /// Number of warnings.
        warnings: u32,
        /// The first of them.
        first: String,
    },
    /// It is ready.
    Ready,
}

/// Looks on while tables are made.
pub type Watch<'w> = dyn FnMut(TableEvent<'_>) + 'w;
