//! Text prepared for its output: broken into lines, escaped.

pub(crate) mod capital;
pub(crate) mod facts;
pub(crate) mod markdown;
pub(crate) mod shell;
pub(crate) mod wrapped;
