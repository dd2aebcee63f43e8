//! A compiled script.

use mlua::Function;

/// A compiled script: each user runs it in an environment of its own, and all share the compiled code.
#[derive(Debug, Clone)]
pub struct Script {
    /// Makes a fresh function of the script.
    pub(crate) factory: Function,
}
