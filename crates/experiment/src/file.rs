//! The text of the file: its sections and values, with their positions.

pub(crate) mod defaults;
pub(crate) mod overrides;
pub(crate) mod position;
pub(crate) mod problem;
pub(crate) mod section;
pub(crate) mod source;
pub(crate) mod template;
pub(crate) mod text;
pub mod written;
