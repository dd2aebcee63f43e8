//! What was counted until a moment, as other programs read it.
//!
//! ```json
//! {"uptime_s":1.5,"cpu_s":0.2,"sessions":{"open":1,"total":5},"commands":10,
//!  "hooks":[{"hook":"read_query","calls":10,"errors":0,"seconds":0.001}],
//!  "rules":[{"rule":"no deadlocks","matches":3,"dropped":0}],
//!  "changes":[{"digest":"SELECT ?","change":"replaced","count":3}],
//!  "backends":[{"address":"127.0.0.1:3307","kind":"rw","state":"up","clients":1,"commands":10,"failures":0,"idle":0}]}
//! ```

use serde::{Deserialize, Serialize};

/// What a proxy counted until a moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Time since the start, seconds.
    pub uptime_s: f64,
    /// CPU time of the process, user and system together, seconds.
    pub cpu_s: f64,
    pub sessions: SessionFigures,
    /// Commands of clients.
    pub commands: u64,
    /// Hooks of scripts that were called.
    pub hooks: Vec<HookFigures>,
    /// Rules of the file of `--rewrite`, by name.
    pub rules: Vec<RuleFigures>,
    /// What was changed, by digest.
    pub changes: Vec<ChangeFigures>,
    /// The backends, in the order of the command line.
    pub backends: Vec<BackendFigures>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFigures {
    pub open: u64,
    /// Since the start.
    pub total: u64,
}

/// Calls of one hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HookFigures {
    /// Its name, such as `read_query`.
    pub hook: String,
    pub calls: u64,
    pub errors: u64,
    /// Time of all calls, seconds.
    pub seconds: f64,
}

/// What one rule did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleFigures {
    pub rule: String,
    /// Commands to which it applied.
    pub matches: u64,
    /// Copies that were not sent to its mirror, and statements that did not get its backend.
    pub dropped: u64,
}

/// Commands of one digest that were changed in one way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeFigures {
    /// The digest of the client's statement; `command N` for a command without a text; `other` beyond 1,000 digests.
    pub digest: String,
    /// `replaced`, `injected before`, `injected after`, `answered`, `refused`, `result dropped`, `result replaced`,
    /// `delayed` or `routed`.
    pub change: String,
    /// Commands, or results.
    pub count: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackendFigures {
    pub address: String,
    /// `rw` or `ro`.
    pub kind: String,
    /// `unknown`, `up` or `down`.
    pub state: String,
    /// Clients whose session uses it now.
    pub clients: u64,
    /// Commands that were sent to it.
    pub commands: u64,
    /// Connections that could not be opened.
    pub failures: u64,
    /// Idle connections in the pool.
    pub idle: u64,
}
