//! Dumps as mysqldump and mariadb-dump write them: statements one after the other, and rows as lines.

mod assignment;
mod created;
mod default_charset;
mod head;
mod insert;
mod myloader;
mod role;
mod splitter;

pub use assignment::{Assignment, assignments};
pub use created::creates_event;
pub use default_charset::DefaultCharset;
pub use head::{DumpHead, TAIL_BYTES};
pub use insert::{ColumnKind, InsertHead, insert_head, is_literal, lines_of};
pub use myloader::myloader_session;
pub use role::{Role, without_definer};
pub use splitter::{DumpStatement, STATEMENT_BYTES_MAX, SplitError, Splitter};
