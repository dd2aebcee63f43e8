//! Whose fault an error of a measurement of storage is.

use runs::{Blame, Blamed};
use storage::Fault;

/// The error with its blame.
pub(crate) fn blamed(error: storage::Error) -> Blamed {
    let blame = match error.fault() {
        Fault::Input => Blame::Input,
        Fault::Machine => Blame::Machine,
        Fault::Interrupted => Blame::Interrupted,
    };
    let hint = error.hint();
    Blamed::new(blame, error).hint(hint)
}
