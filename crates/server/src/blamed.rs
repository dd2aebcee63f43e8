//! Errors of private servers with their blame.

use blame::Blamed;

use crate::error::Error;

impl From<Error> for Blamed {
    fn from(error: Error) -> Self {
        let (blame, hint) = (error.blame(), error.hint());
        Self::new(blame, error).hint(hint)
    }
}
