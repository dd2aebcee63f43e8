//! Names in SQL.

/// A name as SQL has it.
pub(super) fn backticked(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
