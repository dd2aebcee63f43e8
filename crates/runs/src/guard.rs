//! A process that outlives dbdyno, to undo what a killed dbdyno cannot: a hidden command that waits for the end of its
//! standard input.

pub(crate) mod login;

use std::{
    env,
    io::{self, BufRead, Read, Write},
    process::{Child, Command, Stdio},
};

use blame::{Blame, Blamed};
use serde::{Serialize, de::DeserializeOwned};

/// Message that dismisses a guard.
const DISMISSED: &[u8] = b"dismissed\n";

/// A waiting guard process.
#[derive(Debug)]
pub(crate) struct Guard(Child);

impl Guard {
    /// Starts the guard by its hidden command, and passes it what to undo: over a pipe, so that no process list shows a
    /// password. In a session of its own Ctrl-C at the terminal does not interrupt it.
    pub(crate) fn set_up(command: &str, order: &impl Serialize) -> io::Result<Self> {
        let mut guard = Command::new(env::current_exe()?);
        guard
            .arg(command)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        let mut guard = server::spawn(guard, server::Lifetime::Detached)?;
        let mut line = serde_json::to_vec(order).expect("plain fields serialise");
        line.push(b'\n');
        let pipe = guard.stdin.as_mut().expect("it was asked for");
        pipe.write_all(&line)?;
        Ok(Self(guard))
    }

    /// Dismisses the guard, once there is nothing to undo any more.
    pub(crate) fn dismiss(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            // A guard that has already ended needs no message.
            let _ = pipe.write_all(DISMISSED);
        }
        let _ = self.0.wait();
    }
}

/// In the guard process: waits for the end of the dbdyno that started it; returns what to undo, or `None` if it was
/// dismissed.
pub(crate) fn wait<T: DeserializeOwned>(command: &str) -> Result<Option<T>, Blamed> {
    let of_machine = |error: io::Error| Blamed::new(Blame::Machine, error);
    let mut input = io::stdin().lock();
    let mut line = String::new();
    input.read_line(&mut line).map_err(of_machine)?;
    let order = serde_json::from_str(&line).map_err(|_| {
        let message = format!("{command} is internal to dbdyno and has no use by hand");
        Blamed::new(Blame::Input, message)
    })?;
    let mut rest = Vec::new();
    input.read_to_end(&mut rest).map_err(of_machine)?;
    Ok((rest != DISMISSED).then_some(order))
}
