//! Events that run a program.

use std::{
    io::{self, Read},
    path::Path,
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use protocol::{Address, Endpoint};

use super::{cut_off::CutOff, event_result::EventResult, guard::Guarded};
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
    /// Runs it to its end. What it leaves running is ended with it.
    pub(super) fn run(&self, cut_off: &CutOff<'_>) -> EventResult {
        match Guarded::own_command() {
            Ok(guard) => self.run_by(guard, cut_off),
            Err(error) => self.not_started(error),
        }
    }

    fn not_started(&self, error: io::Error) -> EventResult {
        let program = self.program.display();
        EventResult::failed(format!("cannot start {program}: {error}"))
    }

    fn run_by(&self, mut guard: std::process::Command, cut_off: &CutOff<'_>) -> EventResult {
        guard
            .envs(self.variables())
            // The password of dbdyno's own login is none of the program's business.
            .env_remove("MYSQL_PWD")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut guarded = match Guarded::start(guard, self.program, self.arguments) {
            Ok(guarded) => guarded,
            Err(error) => return self.not_started(error),
        };
        let process = guarded.process();
        let outputs = [
            process.stdout.take().map(Output::read),
            process.stderr.take().map(Output::read),
        ];
        let ended = guarded.end(cut_off);
        let outputs = outputs.into_iter().flatten();
        let performed = EventResult {
            output: outputs.map(Output::text).collect(),
            ..EventResult::done()
        };
        match ended {
            Ok((status, None)) if status.success() => performed,
            Ok((status, None)) => performed.but_failed(status.to_string()),
            Ok((_, Some(why))) => performed.but_cut_off(format!(
                "{why}; it was ended with all processes that it had started"
            )),
            Err(error) => self.not_started(error),
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
    use reactor::Interrupt;
    use rustix::process::{Signal, getpid, kill_process};
    use samples::EventOutcome;

    use super::*;

    fn run(words: &[&str], limit: Option<Duration>) -> EventResult {
        run_while(words, limit, &Interrupt::default())
    }

    fn run_while(words: &[&str], limit: Option<Duration>, end: &Interrupt) -> EventResult {
        let cut_off = CutOff {
            limit: limit.map(|limit| (limit, reactor::system_now() + limit)),
            interrupt: &Interrupt::default(),
            end,
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
        let mut guard = std::process::Command::new(std::env::current_exe().unwrap());
        guard.args(["--exact", GUARD, "--ignored", "--nocapture"]);
        let performed = command.run_by(guard, &cut_off);
        EventResult {
            output: performed.output.replace(OF_HARNESS, ""),
            ..performed
        }
    }

    /// The test that is the guard of the other ones, and what its harness prints before it.
    const GUARD: &str = "events::command::tests::stands_guard";
    const OF_HARNESS: &str = "\nrunning 1 test\n";

    #[test]
    #[ignore = "a process of the other tests"]
    fn stands_guard() {
        super::super::guard::run().unwrap();
        // The harness prints nothing more.
        let _ = kill_process(getpid(), Signal::KILL);
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
    fn a_program_that_hangs_is_ended_by_its_timeout() {
        let performed = run(&["sleep", "600"], Some(Duration::from_millis(100)));
        assert_eq!(performed.outcome, EventOutcome::TimedOut);
        assert!(performed.message.contains("timeout of"), "{performed:?}");
    }

    /// One of them is in a session of its own, and no child of the program any more.
    #[test]
    fn a_program_that_is_ended_takes_all_with_it_that_it_has_started() {
        let directory = tempfile::tempdir().unwrap();
        let ready = directory.path().join("ready");
        let script = format!(
            "sleep 600 & echo $!; echo $(setsid sh -c 'sleep 600 >/dev/null 2>&1 & echo $!'); touch {}; wait",
            ready.display()
        );
        let end = Interrupt::default();
        let performed = std::thread::scope(|scope| {
            scope.spawn(|| {
                assert!(within_limit(|| ready.exists()));
                end.raise();
            });
            run_while(&["sh", "-c", &script], None, &end)
        });
        assert_eq!(performed.outcome, EventOutcome::TimedOut);
        let message =
            "not finished when the load ended; it was ended with all processes that it had started";
        assert_eq!(performed.message, message);
        assert_all_gone(&performed, 2);
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended_and_much_output_is_cut() {
        let script =
            "sleep 600 & echo $!; echo $(setsid sh -c 'sleep 600 >/dev/null 2>&1 & echo $!')";
        let performed = run(&["sh", "-c", script], None);
        assert_eq!(performed.outcome, EventOutcome::Done);
        assert_all_gone(&performed, 2);
        let performed = run(
            &["sh", "-c", "head -c 1000000 /dev/zero | tr '\\0' x"],
            None,
        );
        assert_eq!(performed.output.len(), OUTPUT_BYTES_MAX - OF_HARNESS.len());
    }

    /// The processes whose numbers it printed have ended, or wait for their reaper.
    fn assert_all_gone(performed: &EventResult, count: usize) {
        let pids: Vec<&str> = performed.output.lines().collect();
        assert_eq!(pids.len(), count, "{performed:?}");
        for pid in pids {
            assert!(within_limit(|| {
                let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
                stat.map_or(true, |stat| stat.contains(") Z "))
            }));
        }
    }

    fn within_limit(condition: impl Fn() -> bool) -> bool {
        (0..6000).any(|_| {
            let holds = condition();
            if !holds {
                std::thread::sleep(Duration::from_millis(10));
            }
            holds
        })
    }
}
