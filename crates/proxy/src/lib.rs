//! A proxy between MySQL clients and servers: it relays a session, and lets a script watch and change it on its way.
//!
//! The relay (sockets, packets, logins) knows scripts only as [`Hooks`]; hooks know the relay only as the [`Session`]
//! that they see and change.

mod address;
mod backends;
mod hooks;
mod result;
mod script;
mod session;
mod surroundings;

pub use address::Address;
pub use backends::{Backend, BackendKind, BackendState, Backends};
pub use hooks::{Decision, HookMaker, Hooks, NoHooks};
pub use result::{QueryResult, Status, StatusFlags};
pub use script::{LuaHooks, ScriptHost, ScriptOptions};
pub use session::{Injection, Peer, Session, SharedSession};
pub use surroundings::{Level, Surroundings};
