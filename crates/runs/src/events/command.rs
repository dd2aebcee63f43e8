//! Events that run a program.

use std::{
    io::{self, Read},
    path::Path,
    process::{Child, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use protocol::{Address, Endpoint};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use server::Lifetime;

use super::{cut_off::CutOff, performed::Performed};
use crate::stage::shared_server::SharedServer;

/// Most bytes of each of a program's two outputs that are kept; the rest is read and dropped.
const OUTPUT_BYTES_MAX: usize = 64 << 10;
/// Time limit for the last output of a program that has ended: another process may hold its pipes open.
const LAST_OUTPUT_WITHIN: Duration = Duration::from_secs(1);

/// A program to run, and what it hears of the server.
pub(super) struct Command<'a> {
    pub(super) program: &'a Path,
    pub(super) arguments: &'a [String],
    /// Name of the event.
    pub(super) event: &'a str,
    pub(super) endpoint: &'a Endpoint,
    /// The server, if dbdyno started it.
    pub(super) server: Option<&'a SharedServer>,
}

impl Command<'_> {
    /// Runs it to its end. What it leaves running in its process group is ended with it.
    pub(super) fn run(&self, cut_off: &CutOff<'_>) -> Performed {
        let mut command = std::process::Command::new(self.program);
        command
            .args(self.arguments)
            .envs(self.variables())
            // The password of dbdyno's own login is none of the program's business.
            .env_remove("MYSQL_PWD")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // It leads a process group, and ends with dbdyno.
        let mut child = match server::spawn(command, Lifetime::Owned) {
            Ok(child) => child,
            Err(error) => {
                let program = self.program.display();
                return Performed::failed(format!("cannot start {program}: {error}"));
            }
        };
        let outputs = [
            child.stdout.take().map(Output::read),
            child.stderr.take().map(Output::read),
        ];
        let ended = end_of(&mut child, cut_off);
        let outputs = outputs.into_iter().flatten();
        let performed = Performed {
            output: outputs.map(Output::text).collect(),
            ..Performed::done()
        };
        match ended {
            Ok((status, None)) if status.success() => performed,
            Ok((status, None)) => performed.but_failed(status.to_string()),
            Ok((_, Some(why))) => {
                performed.but_cut_off(format!("{why}; ended with its process group"))
            }
            Err(error) => performed.but_failed(format!("cannot wait for it: {error}")),
        }
    }

    /// The environment variables that name the server; never a password.
    fn variables(&self) -> Vec<(&'static str, String)> {
        let mut variables = vec![
            ("DBDYNO_EVENT", self.event.to_owned()),
            ("DBDYNO_USER", self.endpoint.user.clone()),
        ];
        match &self.endpoint.address {
            Address::Unix(socket) => {
                variables.push(("DBDYNO_SOCKET", socket.display().to_string()))
            }
            Address::Tcp { host, port } => {
                variables.push(("DBDYNO_HOST", host.clone()));
                variables.push(("DBDYNO_PORT", port.to_string()));
            }
        }
        if let Some(database) = &self.endpoint.database {
            variables.push(("DBDYNO_DATABASE", database.clone()));
        }
        if let Some(server) = self.server {
            let file = server.lock().client_file().display().to_string();
            variables.push(("DBDYNO_OPTION_FILE", file));
        }
        variables
    }
}

/// Waits for the end of a program; the text says why it was killed. Its process group is ended in any case.
fn end_of(child: &mut Child, cut_off: &CutOff<'_>) -> io::Result<(ExitStatus, Option<String>)> {
    let pid = Pid::from_child(child);
    // Not reaped yet, so that its number still names its group.
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let why = loop {
        if waitid(WaitId::Pid(pid), options)?.is_some() {
            break None;
        }
        if let Some(why) = cut_off.why() {
            break Some(why);
        }
        cut_off.wait();
    };
    match kill_process_group(pid, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => return Err(error.into()),
    }
    Ok((child.wait()?, why))
}

/// One of a program's outputs, read by a thread so that a full pipe never stops the program.
struct Output {
    kept: Arc<Mutex<Vec<u8>>>,
    /// Disconnected at the end of the output.
    end: Receiver<()>,
}

impl Output {
    fn read(mut pipe: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(Vec::new()));
        let (is_open, end) = channel();
        let shared = Arc::clone(&kept);
        std::thread::spawn(move || {
            let _is_open = is_open;
            let mut piece = [0; 8 << 10];
            loop {
                match pipe.read(&mut piece) {
                    Ok(0) => return,
                    Ok(length) => {
                        let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                        let room = OUTPUT_BYTES_MAX - kept.len();
                        kept.extend_from_slice(&piece[..length.min(room)]);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            }
        });
        Self { kept, end }
    }

    /// What was read until its end, or within the time limit.
    fn text(self) -> String {
        // Either way, what is there by then is kept.
        let _ = self.end.recv_timeout(LAST_OUTPUT_WITHIN);
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use load::Interrupt;
    use samples::EventOutcome;

    use super::*;

    fn run(words: &[&str], limit: Option<Duration>) -> Performed {
        let is_over = AtomicBool::new(false);
        let cut_off = CutOff {
            limit: limit.map(|limit| (limit, reactor::system_now() + limit)),
            is_over: &is_over,
            interrupt: &Interrupt::default(),
        };
        let arguments: Vec<String> = words[1..].iter().map(|&word| word.to_owned()).collect();
        let address = Address::Tcp {
            host: "db1".to_owned(),
            port: 3307,
        };
        let endpoint = Endpoint {
            database: Some("shop".to_owned()),
            password: Some("hunter2".into()),
            ..Endpoint::plain(address, "bench", Duration::from_secs(1))
        };
        let command = Command {
            program: Path::new(words[0]),
            arguments: &arguments,
            event: "check",
            endpoint: &endpoint,
            server: None,
        };
        command.run(&cut_off)
    }

    #[test]
    fn a_program_hears_where_the_server_is_and_its_output_is_kept() {
        let script = "env | grep ^DBDYNO_ | sort; echo later >&2";
        let performed = run(&["sh", "-c", script], None);
        assert_eq!(performed.outcome, EventOutcome::Done, "{performed:?}");
        assert_eq!(
            performed.output,
            "DBDYNO_DATABASE=shop\nDBDYNO_EVENT=check\nDBDYNO_HOST=db1\nDBDYNO_PORT=3307\nDBDYNO_USER=bench\nlater\n"
        );
    }

    #[test]
    fn an_exit_code_and_a_missing_program_are_failures() {
        let performed = run(&["sh", "-c", "echo so; exit 3"], None);
        assert_eq!(performed.outcome, EventOutcome::Failed);
        assert_eq!(
            (&*performed.message, &*performed.output),
            ("exit status: 3", "so\n")
        );
        let performed = run(&["/nowhere/at/all"], None);
        assert_eq!(performed.outcome, EventOutcome::Failed);
        assert!(
            performed
                .message
                .starts_with("cannot start /nowhere/at/all: ")
        );
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_its_children() {
        let script = "sleep 600 & echo $!; wait";
        let performed = run(&["sh", "-c", script], Some(Duration::from_millis(300)));
        assert_eq!(performed.outcome, EventOutcome::TimedOut);
        assert!(performed.message.contains("timeout of"), "{performed:?}");
        let child: u32 = performed.output.trim().parse().unwrap();
        assert!(is_gone(child));
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended_and_much_output_is_cut() {
        let performed = run(&["sh", "-c", "sleep 600 & echo $!"], None);
        assert_eq!(performed.outcome, EventOutcome::Done);
        assert!(is_gone(performed.output.trim().parse().unwrap()));
        let performed = run(
            &["sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"],
            None,
        );
        assert_eq!(performed.output.len(), OUTPUT_BYTES_MAX);
    }

    /// True once the process has ended; one that was killed may take a moment, and may wait for its reaper.
    fn is_gone(pid: u32) -> bool {
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
            stat.map_or(true, |stat| stat.contains(") Z "))
        })
    }
}
