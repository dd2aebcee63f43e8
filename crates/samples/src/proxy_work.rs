//! What a proxy between clients and server did during a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a proxy between clients and server did, from its start before the load to the load's end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProxyWork {
    /// Its settings in `[proxy]`, by key.
    pub settings: BTreeMap<String, String>,
    /// Client connections that it served.
    pub sessions: u64,
    /// Commands of the clients.
    pub commands: u64,
    /// CPU time of its process, seconds.
    pub cpu_s: f64,
    /// Each hook of its script that was called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<ProxyHook>,
    /// Each rule that applied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ProxyRule>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ProxyChange>,
}

/// Calls of one hook of a script.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProxyHook {
    /// Its name, such as `read_query`.
    pub hook: String,
    pub calls: u64,
    pub errors: u64,
    /// Time of all calls, seconds.
    pub seconds: f64,
}

/// How often a rule applied.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProxyRule {
    pub rule: String,
    /// Number of statements.
    pub matches: u64,
    /// Copies for another server that were not sent.
    pub dropped: u64,
}

/// A change of one kind to statements of one digest.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProxyChange {
    /// The statement as the client sent it, without its values.
    pub digest: String,
    /// What was done, such as `replaced`.
    pub change: String,
    /// Number of statements.
    pub count: u64,
}
