//! Global variables of an existing server that a session sets before each turn, and puts back at its end.

pub(crate) mod changed_variables;
pub mod guard;
pub(crate) mod settable;

use blame::Blamed;

/// The error with a hint for variables that keep the values of a session; `sql` puts the original values back.
fn not_back(error: Blamed, sql: &str) -> Blamed {
    let message = format!("the variables of the server could not be put back: {error}");
    Blamed::new(error.blame, message).hint(format!("execute: {sql}"))
}
