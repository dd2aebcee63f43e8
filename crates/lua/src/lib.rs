//! The one Lua host, LuaJIT: scripts of the proxy today, those of sysbench later.
//!
//! A [`Host`] is one Lua state, used by one thread. A [`Script`] is compiled once; each user of it (a connection) gets
//! its own [environment](Host::environment), in which the script's globals are its own, while `_G` and the modules that
//! it requires are shared. [`Host::call`] keeps a script within the limits of [`HostOptions`] and tells in its
//! [`Error`] which file and line failed.

mod error;
mod escapes;
mod file;
mod host;
mod instruction_budget;
mod loading;
mod script;

pub use error::{Error, bad_argument, raise};
pub use file::{File, FileLock};
pub use host::{Host, HostOptions};
/// The binding below, for those who give scripts functions and objects.
pub use mlua;
pub use script::Script;
