//! Dumps as mysqldump and mariadb-dump write them: statements one after the other, and rows as lines.

mod assignment;
mod insert;
mod role;
mod splitter;

pub use assignment::{Assignment, assignments};
pub use insert::{ColumnKind, InsertHead, insert_head, is_literal, lines_of};
pub use role::{Role, without_definer};
pub use splitter::{DumpStatement, STATEMENT_BYTES_MAX, SplitError, Splitter};
