//! A process that was run to its end, and what it cost with all its descendants.

use std::{
    fs::File,
    io::{Read, Seek},
    mem::MaybeUninit,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use std::os::unix::process::ExitStatusExt;

use anyhow::{Context, Result, bail};

/// Default time limit of a run: a hung peer must not delay the others.
const PATIENCE: Duration = Duration::from_secs(40);

/// What a finished process cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usage {
    /// From its start until it was gone, in seconds.
    pub wall_s: f64,
    /// Processor time of it and of all its descendants, user and system, in seconds.
    pub cpu_s: f64,
    /// Its largest resident set.
    pub peak_bytes: u64,
}

/// A finished process: how it ended, what it cost and what it wrote.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub usage: Usage,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    /// Runs `command`; any exit code but 0 is an error that shows the beginning of what it wrote.
    pub fn success_of(command: Command) -> Result<Self> {
        Self::success_within(PATIENCE, command)
    }

    /// The same for a command that may take longer.
    pub fn success_within(patience: Duration, command: Command) -> Result<Self> {
        let shown = format!("{command:?}");
        let finished = Self::run_within(patience, command)?;
        if !finished.status.success() {
            let said = format!("{}\n{}", finished.stderr.trim(), finished.stdout.trim());
            let begin: Vec<&str> = said.trim().lines().take(5).collect();
            bail!("{}: {}\n{shown}", finished.status, begin.join("\n"));
        }
        Ok(finished)
    }

    /// Runs `command` to its end, whatever its exit code.
    pub fn run(command: Command) -> Result<Self> {
        Self::run_within(PATIENCE, command)
    }

    /// The same for a command that may take longer.
    pub fn run_within(patience: Duration, mut command: Command) -> Result<Self> {
        // Files, not pipes: a pipe that fills up would stop the process that is measured.
        let (mut stdout, mut stderr) = (scratch_file()?, scratch_file()?);
        command
            .stdin(Stdio::null())
            .stdout(stdout.try_clone()?)
            .stderr(stderr.try_clone()?);
        let begin = Instant::now();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let id = i32::try_from(child.id()).context("process id")?;
        let in_time = wait_at_most(id, patience)?;
        if !in_time {
            // SAFETY: the process is our child and was not waited for, so that its id is still its own.
            unsafe { libc::kill(id, libc::SIGKILL) };
        }
        let (status, resources) = reap(id)?;
        let wall_s = begin.elapsed().as_secs_f64();
        if !in_time {
            bail!("ended after {} s\n{command:?}", patience.as_secs());
        }
        let kib = u64::try_from(resources.ru_maxrss).unwrap_or(0);
        Ok(Self {
            status,
            usage: Usage {
                wall_s,
                cpu_s: seconds(resources.ru_utime) + seconds(resources.ru_stime),
                peak_bytes: kib * 1024,
            },
            stdout: text(&mut stdout)?,
            stderr: text(&mut stderr)?,
        })
    }
}

/// A file without a name.
fn scratch_file() -> Result<File> {
    // SAFETY: the name is a C string; the returned descriptor has no other owner.
    let file = unsafe {
        let descriptor = libc::memfd_create(c"output".as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error()).context("memfd_create");
        }
        OwnedFd::from_raw_fd(descriptor)
    };
    Ok(file.into())
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// True when the process ended within `limit`; it is not reaped.
fn wait_at_most(id: i32, limit: Duration) -> Result<bool> {
    // SAFETY: a plain system call with numbers; the returned descriptor has no other owner.
    let descriptor = unsafe {
        let descriptor = libc::syscall(libc::SYS_pidfd_open, id, 0);
        if descriptor < 0 {
            return Err(std::io::Error::last_os_error()).context("pidfd_open");
        }
        OwnedFd::from_raw_fd(i32::try_from(descriptor).context("pidfd_open")?)
    };
    let mut poll = libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let limit_ms = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX);
    // SAFETY: `poll` is one valid element for the whole call.
    match unsafe { libc::poll(&raw mut poll, 1, limit_ms) } {
        -1 => Err(std::io::Error::last_os_error()).context("poll"),
        ready => Ok(ready == 1),
    }
}

/// Waits for a child; its resources count its own descendants too, as far as it waited for them.
fn reap(id: i32) -> Result<(ExitStatus, libc::rusage)> {
    let mut status = 0;
    let mut resources = MaybeUninit::zeroed();
    // SAFETY: both pointers are valid for writes for the whole call.
    let reaped = unsafe { libc::wait4(id, &raw mut status, 0, resources.as_mut_ptr()) };
    if reaped != id {
        return Err(std::io::Error::last_os_error()).context("wait4");
    }
    // SAFETY: all bit patterns of rusage are valid, and it began zeroed.
    let resources = unsafe { resources.assume_init() };
    Ok((ExitStatus::from_raw(status), resources))
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn the_time_of_descendants_counts() {
        let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        let own = Finished::success_of(shell(busy)).unwrap().usage;
        let nested = format!("sh -c '{busy}'; sh -c '{busy}'; sh -c '{busy}'");
        let of_children = Finished::success_of(shell(&nested)).unwrap().usage;
        assert!(own.cpu_s > 0.0 && own.wall_s > 0.0 && own.peak_bytes > 100_000);
        assert!(
            of_children.cpu_s > 1.5 * own.cpu_s,
            "{of_children:?} {own:?}"
        );
    }

    #[test]
    fn output_is_kept_and_failures_are_told() {
        let finished = Finished::success_of(shell("echo one; echo two >&2")).unwrap();
        assert_eq!(
            (finished.stdout.as_str(), finished.stderr.as_str()),
            ("one\n", "two\n")
        );
        let failed = Finished::success_of(shell("echo why >&2; exit 3")).unwrap_err();
        assert!(
            failed.to_string().contains("exit status: 3") && failed.to_string().contains("why")
        );
    }
}
