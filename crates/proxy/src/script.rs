//! MySQL Proxy's Lua interface: scripts as the hooks of a session.

mod address;
mod backends;
mod connection;
mod constants;
mod field;
mod hooks;
mod host;
mod included;
mod injected;
mod kept_results;
mod keys;
mod modules;
mod outlets;
mod packet;
mod peer;
mod queries;
mod response;
mod resultset;
mod rows;

pub use hooks::LuaHooks;
pub use host::{ScriptHost, ScriptOptions};
pub(crate) use modules::token;
