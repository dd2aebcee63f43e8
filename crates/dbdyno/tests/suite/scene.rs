//! The vocabulary of these tests: a separate directory, in which dbdyno runs.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::Read,
    mem,
    os::unix::{fs::symlink, process::ExitStatusExt},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::{
    fs::statvfs,
    process::{Pid, Signal, kill_process},
};
use tempfile::TempDir;

use crate::{
    results::names_in,
    room::{self, Room},
};

/// Timeout of a command, of a wait for something that it does, and of a response.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
/// Attempts of what a busy machine may have no time for.
pub(crate) const ATTEMPTS: usize = 10;
const POLL: Duration = Duration::from_millis(20);
/// Where Linux has a file system in memory; containers often have one of 64 MiB.
const MEMORY: &str = "/dev/shm";
/// At least this many bytes must be free there.
const ROOM: u64 = 8 << 30;
/// Environment variables of the developer that must not affect the tests.
pub(crate) const FOREIGN: [&str; 6] = [
    "MYSQL_PWD",
    "MYSQL_HOST",
    "MYSQL_TCP_PORT",
    "MYSQL_UNIX_PORT",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
];

/// A directory that is the working directory and home of every command run in it; removed at the end of the test.
pub(crate) struct Scene {
    directory: TempDir,
    /// Where commands keep initialised data directories; `None` for `.cache` of the scene.
    cache: Option<&'static str>,
    /// Whether commands may make private servers here.
    hosts_servers: bool,
    /// Room for its servers, which it has until its directory is removed.
    rooms: Mutex<Vec<Room>>,
}

impl Scene {
    /// An empty scene in which no command makes a server: in memory where there is room, so that tests do not wait for each
    /// other's writes to the disk.
    pub(crate) fn new() -> Self {
        Self::below(in_memory())
    }

    /// An empty scene on a disk, in which no command makes a server.
    pub(crate) fn on_disk() -> Self {
        Self::below(env::temp_dir())
    }

    /// An empty scene for private servers, in memory where there is room.
    pub(crate) fn for_servers() -> Self {
        Self::below(in_memory()).hosting_servers()
    }

    /// An empty scene for private servers on a disk, for tests of what commits cost and what survives a crash.
    pub(crate) fn for_servers_on_disk() -> Self {
        Self::below(env::temp_dir()).hosting_servers()
    }

    /// An empty scene for experiments with two private servers or a MySQL, in memory where there is room.
    pub(crate) fn for_two_servers() -> Self {
        Self::below(in_memory()).hosting(room::OF_TWO_SERVERS)
    }

    fn below(parent: PathBuf) -> Self {
        // Sockets are below it, and the path of a socket is limited to 107 bytes.
        let directory = tempfile::Builder::new()
            .prefix("dyno")
            .tempdir_in(parent)
            .expect("the temporary directory is writable");
        let cache = Some(concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"));
        Self {
            directory,
            cache,
            hosts_servers: false,
            rooms: Mutex::new(Vec::new()),
        }
    }

    fn hosting_servers(self) -> Self {
        self.hosting(room::OF_AN_EXPERIMENT)
    }

    fn hosting(mut self, mib: u64) -> Self {
        self.take_room(mib);
        self.hosts_servers = true;
        self
    }

    /// Waits until there is so much room for a server of the scene.
    pub(crate) fn take_room(&self, mib: u64) {
        let room = Room::take(mib);
        self.rooms
            .lock()
            .expect("pushing does not panic")
            .push(room);
    }

    /// The same scene, whose first server of a kind is initialised and not copied.
    pub(crate) fn with_own_cache(mut self) -> Self {
        self.cache = None;
        self
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path().join(name);
        fs::write(&path, content).expect("the scene is writable");
        path
    }

    /// Runs dbdyno to its end.
    #[track_caller]
    pub(crate) fn dbdyno<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Finished {
        self.start(args).finish()
    }

    /// Runs dbdyno under another name, as a link to it would.
    #[track_caller]
    pub(crate) fn called<S: AsRef<OsStr>>(
        &self,
        name: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Finished {
        self.launch(Command::new(self.link(name)), args).finish()
    }

    /// Creates a link to dbdyno under another name.
    fn link(&self, name: &str) -> PathBuf {
        let link = self.path().join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_dbdyno"), &link)
                .expect("the scene is writable");
        }
        link
    }

    /// Runs dbdyno under another name, with this unix socket in place of localhost's.
    #[track_caller]
    pub(crate) fn called_with_socket<S: AsRef<OsStr>>(
        &self,
        socket: &str,
        name: &str,
        args: impl IntoIterator<Item = S>,
    ) -> Finished {
        let mut command = Command::new("env");
        command.arg(format!("MYSQL_UNIX_PORT={socket}"));
        command.arg(self.link(name));
        self.launch(command, args).finish()
    }

    /// Starts dbdyno and leaves it running.
    pub(crate) fn start<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Running {
        self.launch(Command::new(env!("CARGO_BIN_EXE_dbdyno")), args)
    }

    /// Process ids of the servers running in this scene, of any dbdyno.
    pub(crate) fn servers(&self) -> Vec<Pid> {
        let here = self.path().as_os_str().as_encoded_bytes();
        let processes = fs::read_dir("/proc").expect("this is Linux").flatten();
        processes
            .filter(|process| {
                // Empty for a kernel thread and for a zombie process.
                let words = fs::read(process.path().join("cmdline")).unwrap_or_default();
                let program = words.split(|byte| *byte == 0).next().unwrap_or_default();
                (program.ends_with(b"mariadbd") || program.ends_with(b"mysqld"))
                    && words.windows(here.len()).any(|part| part == here)
            })
            .filter_map(|process| process.file_name().to_str()?.parse().ok())
            .filter_map(Pid::from_raw)
            .collect()
    }

    /// Directory of dbdyno's private servers.
    pub(crate) fn servers_directory(&self) -> PathBuf {
        self.path().join(".local/share/dbdyno/servers")
    }

    /// Makes the versions that are installed on the machine those of the scene.
    pub(crate) fn link_installs(&self) {
        if let Some(installs) = server::installs_root() {
            let data = self.path().join(".local/share/dbdyno");
            fs::create_dir_all(&data).expect("the scene can be written");
            symlink(installs, data.join("installs")).expect("there is no such link yet");
        }
    }

    /// Checks that no server of this scene runs, and that no server's directory is left.
    #[track_caller]
    pub(crate) fn nothing_is_left(&self) {
        assert_eq!(self.servers(), [], "these still run");
        let directories = names_in(&self.servers_directory());
        assert!(directories.is_empty(), "left behind: {directories:?}");
    }

    /// Starts a command with the scene as its home.
    pub(crate) fn launch<S: AsRef<OsStr>>(
        &self,
        mut command: Command,
        args: impl IntoIterator<Item = S>,
    ) -> Running {
        command
            .args(args)
            .current_dir(self.path())
            .env("HOME", self.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for variable in FOREIGN {
            command.env_remove(variable);
        }
        // What chooses long rounds is for the tests.
        let of_tests = env::vars_os().map(|(name, _)| name);
        for variable in of_tests.filter(|it| it.as_encoded_bytes().starts_with(b"DBDYNO_")) {
            command.env_remove(variable);
        }
        command.envs(self.cache.map(|cache| ("XDG_CACHE_HOME", cache)));
        let line = format!("{command:?}");
        let mut child = command.spawn().expect("dbdyno was built for this test");
        let stdout = Drain::of(child.stdout.take().expect("it is piped"));
        let stderr = Drain::of(child.stderr.take().expect("it is piped"));
        Running {
            line,
            child,
            stdout: Some(stdout),
            stderr: Some(stderr),
        }
    }
}

/// The file system in memory where the tests that run at the same time have room in it, else the temporary directory.
pub(crate) fn in_memory() -> PathBuf {
    let has_room = statvfs(MEMORY).is_ok_and(|it| it.f_bavail * it.f_frsize > ROOM);
    if has_room {
        PathBuf::from(MEMORY)
    } else {
        env::temp_dir()
    }
}

/// Waits until a condition is true, with the one limit of the whole suite.
#[track_caller]
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let mut waited = Duration::ZERO;
    while !is_so() {
        assert!(
            waited < PATIENCE,
            "waited {PATIENCE:?} in vain until {what}"
        );
        thread::sleep(POLL);
        waited += POLL;
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        // Servers that a failed test left running; they may end on their own meanwhile.
        for server in self.servers() {
            let _ = kill_process(server, Signal::KILL);
        }
        let is_kept = self.hosts_servers || thread::panicking();
        assert!(
            is_kept || !self.servers_directory().exists(),
            "a command made a private server: such a test stands in `servers`, with Scene::for_servers()"
        );
    }
}

/// A pipe that a separate thread reads, so that the writer never blocks.
struct Drain {
    so_far: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Drain {
    /// Whether it has read this text, whenever that is asked.
    fn contains(&self, text: &str) -> impl Fn() -> bool + use<> {
        let (so_far, text) = (Arc::clone(&self.so_far), text.to_owned());
        move || {
            let so_far = so_far.lock().expect("adding does not panic");
            String::from_utf8_lossy(&so_far).contains(&text)
        }
    }

    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let so_far = Arc::new(Mutex::new(Vec::new()));
        let read = Arc::clone(&so_far);
        let thread = thread::spawn(move || {
            let mut block = [0; 8192];
            // A broken pipe is a closed one.
            while let Ok(length @ 1..) = pipe.read(&mut block) {
                let mut read = read.lock().expect("adding does not panic");
                read.extend_from_slice(&block[..length]);
            }
        });
        Self { so_far, thread }
    }

    /// All of it, after the writer's end.
    fn finish(self) -> Vec<u8> {
        self.thread.join().expect("reading does not panic");
        mem::take(&mut self.so_far.lock().expect("adding does not panic"))
    }
}

/// The first child of a process.
pub(crate) fn first_child(pid: u32) -> Option<i32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?.flatten();
    let mut children = tasks.filter_map(|task| {
        let path = task.path().join("children");
        fs::read_to_string(path).ok()
    });
    children.find_map(|text| text.split_whitespace().next()?.parse().ok())
}

/// A running dbdyno; killed if the test ends first.
pub(crate) struct Running {
    line: String,
    child: Child,
    stdout: Option<Drain>,
    stderr: Option<Drain>,
}

impl Running {
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_child(&self.child);
        kill_process(pid, signal).expect("it is our child and still runs");
    }

    /// Waits until a condition is true, which must happen while it runs.
    #[track_caller]
    pub(crate) fn wait_until(&mut self, what: &str, is_so: impl Fn() -> bool) {
        let mut waited = Duration::ZERO;
        while !is_so() {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                let stderr = self.stderr.take().expect("it is taken at the end");
                let said = stderr.finish();
                let said = String::from_utf8_lossy(&said);
                panic!("{} ended ({status:?}) before {what}:\n{said}", self.line);
            }
            assert!(
                waited < PATIENCE,
                "{} runs for {PATIENCE:?}, but not {what}",
                self.line
            );
            thread::sleep(POLL);
            waited += POLL;
        }
    }

    /// Waits until standard error contains this text, which must happen while it runs.
    #[track_caller]
    pub(crate) fn wait_until_it_says(&mut self, text: &str) {
        let stderr = self.stderr.as_ref().expect("it is taken at the end");
        let said = stderr.contains(text);
        self.wait_until(&format!("it says {text:?}"), said);
    }

    /// Waits until standard output contains this text, which must happen while it runs.
    #[track_caller]
    pub(crate) fn wait_until_it_prints(&mut self, text: &str) {
        let printed = self.prints(text);
        self.wait_until(&format!("it prints {text:?}"), printed);
    }

    /// Whether standard output contains this text, whenever that is asked.
    pub(crate) fn prints(&self, text: &str) -> impl Fn() -> bool + use<> {
        let stdout = self.stdout.as_ref().expect("it is taken at the end");
        stdout.contains(text)
    }

    /// Waits for its end.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Finished {
        let mut waited = Duration::ZERO;
        let status = loop {
            match self.child.try_wait().expect("it is our child") {
                Some(status) => break status,
                None if waited < PATIENCE => {
                    thread::sleep(POLL);
                    waited += POLL;
                }
                None => panic!("{} hangs for {PATIENCE:?}", self.line),
            }
        };
        let text = |pipe: &mut Option<Drain>| {
            let pipe = pipe.take().expect("it is taken once");
            pipe.finish()
        };
        Finished {
            line: self.line.clone(),
            status,
            stdout: text(&mut self.stdout),
            stderr: String::from_utf8_lossy(&text(&mut self.stderr)).into_owned(),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both calls fail for a process that has ended, which is the normal case.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A finished dbdyno.
pub(crate) struct Finished {
    line: String,
    pub(crate) status: ExitStatus,
    /// Standard output, as bytes.
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Finished {
    /// Standard output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Checks that it ended on its own, with this exit code.
    #[track_caller]
    pub(crate) fn exits(self, code: i32) -> Self {
        let ended = match (self.status.code(), self.status.signal()) {
            (Some(found), _) if found == code => return self,
            (Some(found), _) => format!("exited with {found}"),
            (None, signal) => format!("was ended by signal {signal:?}"),
        };
        panic!(
            "{} {ended} and not with {code}\n{}",
            self.line,
            self.shown()
        );
    }

    /// Checks that it measured to the end; a rate that a busy machine did not reach is no fault of what is tested.
    #[track_caller]
    pub(crate) fn has_measured(self) -> Self {
        let is_late = self.code() == Some(1) && self.stderr.contains("not reached");
        if is_late { self } else { self.exits(0) }
    }

    /// Checks that standard output contains this text.
    #[track_caller]
    pub(crate) fn prints(self, text: &str) -> Self {
        assert!(
            self.text().contains(text),
            "{} does not print {text:?}\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Checks that standard output contains this sentence, wherever its lines are broken.
    #[track_caller]
    pub(crate) fn prints_sentence(self, sentence: &str) -> Self {
        let words: Vec<_> = self.text().split_whitespace().map(str::to_owned).collect();
        assert!(
            words.join(" ").contains(sentence),
            "{} does not print {sentence:?}\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Checks that standard error contains this text.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        assert!(
            self.stderr.contains(text),
            "{} does not say {text:?}\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Checks that it was killed by this signal.
    #[track_caller]
    pub(crate) fn was_killed_by(self, signal: Signal) -> Self {
        assert_eq!(
            self.status.signal(),
            Some(signal.as_raw()),
            "{}\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Checks that standard error reports one error once, with a hint that contains this text.
    #[track_caller]
    pub(crate) fn hints(self, text: &str) -> Self {
        let lines = |start| {
            self.stderr
                .lines()
                .filter(move |line| line.starts_with(start))
        };
        let is_so =
            lines("error: ").count() == 1 && lines("hint: ").any(|hint| hint.contains(text));
        assert!(
            is_so,
            "{} does not tell one error with the hint {text:?}\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Checks that neither output contains this text.
    #[track_caller]
    pub(crate) fn conceals(&self, text: &str) -> &Self {
        let told = self.text().contains(text) || self.stderr.contains(text);
        assert!(!told, "{} tells {text:?}\n{}", self.line, self.shown());
        self
    }

    /// Checks that standard output, which is for data, is empty.
    #[track_caller]
    pub(crate) fn prints_nothing(self) -> Self {
        assert!(
            self.stdout.is_empty(),
            "{} prints\n{}",
            self.line,
            self.shown()
        );
        self
    }

    /// Its exit code, if it ended on its own.
    pub(crate) fn code(&self) -> Option<i32> {
        self.status.code()
    }

    /// Both outputs as text.
    pub(crate) fn shown(&self) -> String {
        const SHOWN_MAX: usize = 4000;
        let output: String = self.text().chars().take(SHOWN_MAX).collect();
        format!(
            "--- standard output\n{output}\n--- standard error\n{}",
            self.stderr
        )
    }
}
