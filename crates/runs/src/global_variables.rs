//! Global variables of an existing server that a session sets before each turn, and puts back at its end.

pub(crate) mod changed_variables;
pub mod guard;
pub(crate) mod settable;

use blame::Blamed;

/// The error for variables that keep the values of a session; `sql` puts the original values back. It is part of the
/// message, because a warning has no hints.
fn not_back(error: Blamed, sql: &str) -> Blamed {
    let message = format!(
        "the variables of the server could not be put back: {error}; to put them back, execute: {sql}"
    );
    Blamed::new(error.blame, message)
}

#[cfg(test)]
mod tests {
    use blame::Blame;

    use super::*;

    #[test]
    fn a_warning_has_the_statement_with_the_original_values() {
        let lost = Blamed::new(Blame::Server, "server db1 went away");
        let error = not_back(lost, "set global sync_binlog = 1");
        assert_eq!(
            error.to_string(),
            "the variables of the server could not be put back: server db1 went away; to put them back, execute: \
             set global sync_binlog = 1"
        );
    }
}
