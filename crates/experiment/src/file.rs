//! The text of the file: its sections and words, and where each stands.

pub(crate) mod defaults;
pub(crate) mod overrides;
pub(crate) mod position;
pub(crate) mod problem;
pub(crate) mod section;
pub(crate) mod source;
pub(crate) mod template;
pub(crate) mod text;
