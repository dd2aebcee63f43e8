//! The command that starts this program again with the same arguments.

use std::{
    env,
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use super::arguments::PASSWORD_VARIABLE;

/// This program with these arguments after its name, whose password goes through the environment.
pub(super) fn own_command(words: &[OsString]) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.arg0("mysql-proxy");
    if env::args_os()
        .next()
        .is_none_or(|name| !name.to_string_lossy().ends_with("mysql-proxy"))
    {
        command.arg("mysql-proxy");
        command.arg0("dbdyno");
    }
    let mut words = words.to_vec();
    let secret = words
        .iter()
        .position(|word| word.to_string_lossy().starts_with("--admin-password"));
    if let Some(at) = secret {
        // Not in the list of processes again.
        let word = words.remove(at).to_string_lossy().into_owned();
        let value = match word.split_once('=') {
            Some((_, value)) => value.to_owned(),
            None if at < words.len() => words.remove(at).to_string_lossy().into_owned(),
            None => String::new(),
        };
        command.env(PASSWORD_VARIABLE, value);
    }
    command.args(words).stdin(Stdio::null());
    Ok(command)
}
