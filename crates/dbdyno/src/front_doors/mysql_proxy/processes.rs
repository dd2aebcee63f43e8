//! The processes of a proxy: in the background, watched by a guard, as another user. Each further process is this
//! program again, with its role in the environment.

use std::{
    env,
    ffi::OsString,
    fs::File,
    io::{self, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, Command, ExitCode, ExitStatus, Stdio},
    time::Duration,
};

use blame::{Blame, Blamed};
use runs::signals;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, getrlimit, getuid, kill_process, setrlimit, setsid,
};
use server::wait_for_child;

use super::{
    arguments::{Arguments, PASSWORD_VARIABLE},
    pid_file,
};

/// The environment variable with the role: `background`, `guarded`, or `guarded-background`.
const ROLE: &str = "DBDYNO_PROXY_ROLE";
/// What a process in the background says when it serves.
const READY: &[u8] = b"ready\n";
/// Largest size of /etc/passwd.
const PASSWD_MAX: u64 = 16 << 20;
/// Time before a crashed proxy is started again, so that one that crashes at once does not occupy a processor. One that
/// crashes within this time of its first start is not started again.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Time that a proxy has to end after its guard was asked to; then it is killed. A script that never returns would hold
/// it for ever.
const END_WITHIN: Duration = Duration::from_secs(5);

/// What this process is to do.
pub(super) enum Role {
    /// Start a process in the background and end.
    Starter,
    /// Start the proxy, again after each crash.
    Guard,
    /// Be the proxy.
    Proxy,
}

fn own_role() -> String {
    env::var(ROLE).unwrap_or_default()
}

/// Whether a guard watches this process.
pub(super) fn is_guarded() -> bool {
    own_role().starts_with("guarded")
}

fn is_in_background() -> bool {
    own_role().ends_with("background")
}

/// What this process is to do.
pub(super) fn role(arguments: &Arguments) -> Result<Role, Blamed> {
    if is_in_background() && !is_guarded() {
        // Fails only for the leader of a group, which a new process is not.
        let _ = setsid();
    }
    if arguments.daemon && own_role().is_empty() {
        return Ok(Role::Starter);
    }
    let needs_user = arguments.user.is_some() && !is_guarded();
    if needs_user && !getuid().is_root() {
        return Err(Blamed::new(Blame::Input, "--user needs root"));
    }
    Ok(if (arguments.keepalive || needs_user) && !is_guarded() {
        Role::Guard
    } else {
        Role::Proxy
    })
}

/// Starts this program again with the same arguments in a role.
fn again(words: &[OsString], role: &str) -> io::Result<Command> {
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
    command.args(words).env(ROLE, role).stdin(Stdio::null());
    Ok(command)
}

/// Starts the process in the background and waits until it serves.
pub(super) fn start_in_background(words: &[OsString]) -> anyhow::Result<ExitCode> {
    let started = again(words, "background").and_then(|mut it| it.stdout(Stdio::piped()).spawn());
    let mut child = started.map_err(|error| Blamed::machine(format!("--daemon: {error}")))?;
    let mut said = [0; READY.len()];
    let out = child.stdout.as_mut();
    if out.is_some_and(|out| out.read_exact(&mut said).is_ok()) && said == READY {
        return Ok(ExitCode::SUCCESS);
    }
    // It has said why on standard error.
    let status = child.wait()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(
        code.filter(|code| *code != 0)
            .unwrap_or(Blame::Machine as u8),
    ))
}

/// A process in the background says that it serves, and leaves the terminal.
pub(super) fn say_ready() {
    if !is_in_background() {
        return;
    }
    let mut out = io::stdout();
    // The starter may have been killed.
    let _ = out.write_all(READY).and_then(|()| out.flush());
    leave_terminal();
}

fn leave_terminal() {
    // Without it the terminal only stays in use.
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
}

/// Starts the proxy, again after each crash if that was asked for; a signal ends both.
pub(super) fn guard(arguments: &Arguments, words: &[OsString]) -> anyhow::Result<ExitCode> {
    let interrupt = signals::silent_interrupt()?;
    let role = if is_in_background() {
        "guarded-background"
    } else {
        "guarded"
    };
    pid_file::write(arguments)?;
    let mut is_first = true;
    let code = loop {
        let mut command = again(words, role).map_err(Blamed::machine)?;
        if let Some(name) = &arguments.user {
            let (uid, gid) = user(name)?;
            command.uid(uid).gid(gid);
        }
        let mut child = command.spawn().map_err(Blamed::machine)?;
        let started = reactor::system_now();
        if is_first && is_in_background() {
            // The proxy has the terminal until it serves.
            leave_terminal();
        }
        let ended = wait_for_child(&mut child, Some(&interrupt), Duration::MAX);
        let status = match ended.map_err(Blamed::machine)? {
            Some(status) => status,
            None => end(&mut child).map_err(Blamed::machine)?,
        };
        // An exit code is a decision of the proxy's own; a signal or a bug's code is a crash.
        let has_crashed = status.signal().is_some() || status.code() == Some(Blame::Bug as i32);
        let has_served = !is_first || reactor::system_now() - started >= AGAIN_AFTER;
        is_first = false;
        if has_crashed && has_served && arguments.keepalive && !interrupt.is_raised() {
            eprintln!("warning: the proxy ended with {status}; it is restarted");
            interrupt.wait(AGAIN_AFTER);
            continue;
        }
        break status.code().and_then(|code| u8::try_from(code).ok());
    };
    Ok(ExitCode::from(code.unwrap_or(Blame::Machine as u8)))
}

/// Ends the proxy, by force if it does not end in time.
fn end(child: &mut Child) -> io::Result<ExitStatus> {
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process(pid, Signal::TERM);
    }
    if let Some(status) = wait_for_child(child, None, END_WITHIN)? {
        return Ok(status);
    }
    eprintln!(
        "warning: the proxy did not end within {}, probably because of a script that does not return; it is killed",
        units::span(END_WITHIN)
    );
    child.kill()?;
    child.wait()
}

/// The ids of a user and of the user's group.
fn user(name: &str) -> Result<(u32, u32), Blamed> {
    let wrong =
        |why: &dyn std::fmt::Display| Blamed::new(Blame::Input, format!("--user {name}: {why}"));
    let passwd = files::read_regular_text("/etc/passwd".as_ref(), PASSWD_MAX)
        .map_err(|error| wrong(&error))?;
    ids(&passwd, name).ok_or_else(|| wrong(&"not in /etc/passwd"))
}

fn ids(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let mut users = passwd
        .lines()
        .map(|line| line.split(':').collect::<Vec<_>>());
    let user = users.find(|user| user.first() == Some(&name))?;
    Some((user.get(2)?.parse().ok()?, user.get(3)?.parse().ok()?))
}

/// Sets the limit of open files, within the system's limit.
pub(super) fn limit_open_files(files: u64) -> Result<(), Blamed> {
    let most = getrlimit(Resource::Nofile).maximum;
    let limit = Rlimit {
        current: Some(files),
        maximum: most.map(|most| most.max(files)),
    };
    setrlimit(Resource::Nofile, limit).map_err(|error| {
        let most = most.map_or("unlimited".to_owned(), |most| most.to_string());
        let message = format!("--max-open-files {files}: {error}; the system's limit is {most}");
        let hint = "raise the hard limit (LimitNOFILE of a systemd service, nofile in limits.conf)";
        Blamed::new(Blame::Machine, message).hint(hint.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_found_by_name() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nproxy:x:13:14:proxy:/bin:/usr/sbin/nologin\n";
        assert_eq!(ids(passwd, "proxy"), Some((13, 14)));
        assert_eq!(ids(passwd, "nobody"), None);
    }
}
