//! Runs another program to its end and collects its output; an interruption ends it with its children.

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::process::interruption::{self, ProcessScope, wait_for_within};

/// Time limit for a program to print its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs a program without a time limit and calls `watch` from time to time with its process number.
pub(crate) fn output(command: Command, watch: &mut dyn FnMut(u32)) -> io::Result<Output> {
    output_within(command, Duration::MAX, watch)
}

/// Runs a program that prints its version and ends; kills it after a time limit.
pub fn version_output(command: Command) -> io::Result<Output> {
    interruption::check()?;
    output_within(command, VERSION_TIMEOUT, &mut |_| {})
}

fn output_within(
    mut command: Command,
    limit: Duration,
    watch: &mut dyn FnMut(u32),
) -> io::Result<Output> {
    command
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    // If this fails, the pipes are not read to their end: a process that left the program's group may hold them open.
    let status = wait_for_within(&mut child, ProcessScope::Group, limit, watch)?;
    Ok(Output {
        status,
        stdout: collect(stdout),
        stderr: collect(stderr),
    })
}

/// Reads a pipe to its end in a separate thread, so that the program never blocks on its output.
fn drain(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe has ended.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}

fn collect(pipe: Option<JoinHandle<Vec<u8>>>) -> Vec<u8> {
    pipe.and_then(|pipe| pipe.join().ok()).unwrap_or_default()
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
    fn what_it_printed_is_kept() {
        let output = version_output(shell("echo 10.11; echo odd >&2; exit 3")).unwrap();
        assert_eq!(output.stdout, b"10.11\n");
        assert_eq!(output.stderr, b"odd\n");
        assert_eq!(output.status.code(), Some(3));
    }

    #[test]
    fn one_that_does_not_end_is_killed_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let number = dir.path().join("pid");
        let script = format!("sleep 1000 & echo $! > {}; wait", number.display());
        // On a busy machine the shell may write no number within the limit: then again, within a longer one.
        let limits = [1_u32, 10, 100].map(|times| times * Duration::from_millis(500));
        let child = limits.into_iter().find_map(|limit| {
            let error = output_within(shell(&script), limit, &mut |_| {}).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            let child = std::fs::read_to_string(&number).ok()?;
            child.ends_with('\n').then_some(child)
        });
        let child = child.unwrap();
        let is_gone = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
            stat.map_or(true, |stat| stat.contains(") Z "))
        };
        // The kernel needs a moment.
        for _ in 0..6_000 {
            if is_gone() {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("process {child} still runs");
    }
}
