//! What went wrong in a script, with its file and line.

use mlua::{Lua, Value};

/// What went wrong in a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// What Lua says, which begins with file and line where they are known.
    pub message: String,
    /// The calls that led there, a line each; empty if the script did not run.
    pub traceback: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Begins the calls in a message of Lua.
const TRACEBACK: &str = "\nstack traceback:\n";

impl Error {
    /// An error without a place in a script.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            traceback: String::new(),
        }
    }
}

impl From<&mlua::Error> for Error {
    fn from(error: &mlua::Error) -> Self {
        let whole = match error {
            mlua::Error::CallbackError { traceback, cause } => {
                let mut inner = Self::from(&**cause);
                if inner.traceback.is_empty() {
                    inner.traceback = without_title(traceback);
                }
                return inner;
            }
            mlua::Error::RuntimeError(text)
            | mlua::Error::MemoryError(text)
            | mlua::Error::SyntaxError { message: text, .. } => text.clone(),
            mlua::Error::BadArgument { pos, cause, .. } => {
                format!("bad argument #{pos} ({})", Self::from(&**cause).message)
            }
            other => other.to_string(),
        };
        match whole.split_once(TRACEBACK) {
            Some((message, traceback)) => Self {
                message: message.to_owned(),
                traceback: traceback.to_owned(),
            },
            None => Self::new(whole),
        }
    }
}

impl From<mlua::Error> for Error {
    fn from(error: mlua::Error) -> Self {
        Self::from(&error)
    }
}

fn without_title(traceback: &str) -> String {
    traceback
        .trim_start_matches("stack traceback:\n")
        .to_owned()
}

/// The error that a function raises in the script that called it: the message, after the script's file and line.
pub fn raise(lua: &Lua, message: impl AsRef<str>) -> mlua::Error {
    let message = message.as_ref();
    let place = lua.inspect_stack(1, |frame| {
        let line = frame.current_line()?;
        Some(format!("{}:{line}: ", frame.source().short_src?))
    });
    let place = place.flatten().unwrap_or_default();
    mlua::Error::RuntimeError(format!("{place}{message}"))
}

/// The error that Lua's own functions raise for an argument of the wrong type.
pub fn bad_argument(
    lua: &Lua,
    position: usize,
    function: &str,
    expected: &str,
    got: &Value,
) -> mlua::Error {
    let got = match got {
        Value::Nil => "nil",
        Value::Integer(_) => "number",
        other => other.type_name(),
    };
    let message =
        format!("bad argument #{position} to '{function}' ({expected} expected, got {got})");
    raise(lua, message)
}
