//! What each process of a proxy does.

use std::{env, process::Command};

use rustix::process::{getuid, setsid};

use crate::StartError;

/// The environment variable with the role: `background`, `guarded`, or `guarded-background`.
const ROLE: &str = "DBDYNO_PROXY_ROLE";

/// The processes that are wanted beside the proxy's own.
#[derive(Debug, Clone, Default)]
pub struct Supervision {
    /// Whether the proxy runs in the background.
    pub in_background: bool,
    /// Whether the proxy is started again after a crash.
    pub restarts: bool,
    /// The user as whom it runs; `None` for the user who starts it.
    pub user: Option<String>,
}

/// What this process is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Start a process in the background and end.
    Starter,
    /// Start the proxy, again after each crash.
    Guard,
    /// Be the proxy.
    Proxy,
}

impl Supervision {
    /// What this process is to do; one in the background leaves the session of its terminal.
    pub fn role(&self) -> Result<Role, StartError> {
        if is_in_background() && !is_guarded() {
            // Fails only for the leader of a group, which a new process is not.
            let _ = setsid();
        }
        if self.in_background && own_role().is_empty() {
            return Ok(Role::Starter);
        }
        let user = self.user.as_ref().filter(|_| !is_guarded());
        if let Some(user) = user
            && !getuid().is_root()
        {
            return Err(StartError::NotRoot(user.clone()));
        }
        Ok(if (self.restarts || user.is_some()) && !is_guarded() {
            Role::Guard
        } else {
            Role::Proxy
        })
    }
}

fn own_role() -> String {
    env::var(ROLE).unwrap_or_default()
}

/// Whether a guard watches this process.
pub(crate) fn is_guarded() -> bool {
    own_role().starts_with("guarded")
}

pub(crate) fn is_in_background() -> bool {
    own_role().ends_with("background")
}

/// Gives a process that starts its role.
pub(crate) fn set_role(command: &mut Command, role: &str) {
    command.env(ROLE, role);
}
