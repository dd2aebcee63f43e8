//! What a server serves.

use crate::content::Content;

/// What can be read, and where.
pub trait Site {
    /// What is at a path such as `/metrics`; `None` where there is nothing. Takes no longer than a moment.
    fn at(&mut self, path: &str) -> Option<Content>;
}
