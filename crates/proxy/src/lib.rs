//! A proxy between MySQL clients and servers: it relays a session, and lets a script watch and change it on its way.
//!
//! The relay (sockets, packets, logins) knows scripts only as [`Hooks`]; hooks know the relay only as the [`Session`]
//! that they see and change.
//!
//! A [`ProxyProcess`] is a process with a [`Proxy`] and nothing else; a [`Guard`] is one that watches it.

mod accept_queue;
mod address;
mod admin;
mod backends;
mod buffer;
mod check;
mod delay;
mod digest;
mod faults;
mod hooks;
mod link;
mod log;
mod metrics;
mod metrics_site;
mod packets;
mod pool;
mod proxy;
mod proxy_process;
mod relay;
mod result;
mod rewrite;
mod script;
mod script_environment;
mod session;
mod session_reset;
mod settings;
mod start_error;
mod supervision;
mod thread;
mod unreset_state;
mod watch;
mod wire;

pub use address::Address;
pub use admin::{AdminAccount, AdminMaker};
pub use backends::{Backend, BackendKind, BackendState, Backends};
pub use delay::Delay;
pub use faults::Faults;
pub use hooks::{Decision, HookMaker, Hooks, NoHooks};
pub use log::Log;
/// Limits of scripts, and where their modules are.
pub use lua::HostOptions;
pub use metrics::{
    BackendFigures, ChangeFigures, HookFigures, Metrics, RuleCounter, RuleFigures, SessionFigures,
    Snapshot,
};
pub use proxy::Proxy;
pub use proxy_process::ProxyProcess;
pub use result::{QueryResult, Status, StatusFlags};
pub use rewrite::{RewriteError, RewriteOptions, RewriteSource};
pub use script::{LuaHooks, ScriptHost, ScriptOptions};
pub use script_environment::{Level, ScriptEnvironment};
pub use session::{Injection, Peer, Route, Session, SharedSession};
pub use settings::{Account, ClientSide, MakerOfThread, ServerSide, Service, Settings};
pub use start_error::StartError;
pub use supervision::{Guard, Role, Supervision, limit_open_files, start_in_background};
