//! dbdyno waits for no server without a limit: the first signal ends every wait, and files named by a server neither
//! block it nor fill the memory.

use std::{
    cell::Cell,
    fs,
    net::TcpStream,
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::Path,
    process::Command,
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    null_server::{null_server, write_smack},
    program::serve::listens_at,
    results::{Record, Results},
    scene::{Finished, Running, Scene, first_child, wait_until},
};

/// Far longer than the expected two seconds, for a busy machine, and far shorter than the server's hour.
const SOON: Duration = Duration::from_secs(120);
/// Number of looks in a row that see a process which waits; one that lacks a processor is not asleep.
const LOOKS: u32 = 10;

/// The signals of one line of /proc/PID/status, such as `SigCgt`, as a mask.
fn signals(pid: u32, line: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mask = text
        .lines()
        .find_map(|it| it.strip_prefix(line)?.strip_prefix(':'));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

/// Whether this signal is among those of a line.
fn has(pid: u32, line: &str, signal: Signal) -> bool {
    signals(pid, line) & (1 << (signal.as_raw() - 1)) != 0
}

/// Whether all threads of a process sleep, and its processor time so far, ticks.
fn rest(pid: u32) -> (bool, u64) {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let stats = threads.into_iter().flatten().flatten();
    let stats = stats.filter_map(|it| fs::read_to_string(it.path().join("stat")).ok());
    stats.fold((true, 0), |(sleep, ticks), stat| {
        let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or("").split(' ').collect();
        let of = |at: usize| {
            fields
                .get(at)
                .and_then(|it| it.parse().ok())
                .unwrap_or(0_u64)
        };
        (sleep && fields[0] == "S", ticks + of(11) + of(12))
    })
}

/// Looks in three seconds, and the processor time that is a hundredth of them, ticks.
const LOOKS_IN_3_S: u32 = 150;
const TICKS_IN_3_S: u64 = 3;

/// Waits until none of the processes has taken a hundredth of a processor for three seconds: one that spins never does.
fn wait_until_all_rest(pids: &[u32]) {
    let ticks = || pids.iter().map(|pid| rest(*pid).1).collect::<Vec<_>>();
    let (looks, first) = (Cell::new(0), Cell::new(ticks()));
    wait_until("nothing takes a hundredth of a processor", || {
        let (now, from) = (ticks(), first.take());
        let is_quiet = now
            .iter()
            .zip(&from)
            .all(|(now, from)| now - from <= TICKS_IN_3_S);
        looks.set(if is_quiet { looks.get() + 1 } else { 0 });
        first.set(if is_quiet { from } else { now });
        looks.get() >= LOOKS_IN_3_S
    });
}

#[test]
fn what_has_no_peer_or_lost_it_takes_no_processor() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &[]);
    let address = |name: &str| scene.path().join(name).to_str().unwrap().to_owned();
    let listening = |socket: &str| UnixStream::connect(socket).is_ok();
    let start = |words: &[&str], socket: &str| {
        let mut running = scene.start(words);
        running.wait_until("it listens", || listening(socket));
        running
    };
    let (plain, named) = (address("plain.sock"), address("named.sock"));
    let backend = socket.to_str().unwrap();
    let proxy = start(&["proxy", "-P", &plain, "-b", backend], &plain);
    let front = start(&["mysql-proxy", "-P", &named, "-b", backend], &named);
    let secret = scene.file("observe.secret", "the slithy toves\n");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    let mut observer = scene.start([
        "observe",
        "--listen=127.0.0.1:0",
        "--secret-file=observe.secret",
    ]);
    let other = Scene::new();
    let (silent, silent_socket) = null_server(&other, &["--never-answer"]);
    let mut shown = served_run(&other, &silent_socket);
    let ports = [&mut observer, &mut shown].map(listens_at);
    // Peers that say nothing, and are gone.
    for _ in 0..5 {
        for socket in [backend, &plain, &named] {
            drop(UnixStream::connect(socket));
        }
        for port in ports {
            drop(TcpStream::connect(("127.0.0.1", port)));
        }
    }
    let pids = [&server, &proxy, &front, &observer, &silent, &shown].map(Running::pid);
    wait_until_all_rest(&pids);
}

/// An experiment with a live view, whose server answers no statement of the load.
fn served_run(scene: &Scene, socket: &Path) -> Running {
    write_smack(scene, socket, "select c from t");
    let text = format!(
        "format = 1\nrepeats = 1\n[server]\naddress = {socket:?}\nuser = \"u\"\n[load]\nsmack = \"one.smack\"\n\
         client = \"one\"\nconnections = 1\nwarmup = \"1s\"\nduration = \"1h\"\n"
    );
    scene.file("held.toml", &text);
    let run = "run held.toml --serve 127.0.0.1:0 --results held --sample-every 60s";
    let mut running = scene.start(run.split(' '));
    let results = Results::at(scene.path().join("held"));
    running.wait_until("it measures", || results.measured_so_far(1) > 0);
    running
}

/// A server that says nothing leaves no line whose writing would fail.
#[test]
fn top_ends_when_nothing_reads_its_lines_any_more() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &[]);
    let line = format!(
        "{} top --plain --socket {} | {{ read line; kill -STOP {}; }}",
        env!("CARGO_BIN_EXE_dbdyno"),
        socket.display(),
        server.pid()
    );
    scene
        .launch(Command::new("sh"), ["-c", &line])
        .finish()
        .exits(0);
    server.signal(Signal::CONT);
}

/// Waits until a process handles signals, and then until it does nothing but wait.
fn wait_until_waiting(pid: u32) {
    let (looks, last) = (Cell::new(0), Cell::new(0));
    wait_until("it listens to signals and waits", || {
        let (sleeps, ticks) = rest(pid);
        let is_idle = has(pid, "SigCgt", Signal::INT) && sleeps && ticks == last.get();
        last.set(ticks);
        looks.set(if is_idle { looks.get() + 1 } else { 0 });
        looks.get() >= LOOKS
    });
}

impl Running {
    /// Waits until it handles signals, and then until it does nothing but wait.
    pub(crate) fn wait_until_it_waits(&self) {
        wait_until_waiting(self.pid());
    }

    /// Ends it by a signal, within [`SOON`].
    #[track_caller]
    pub(crate) fn end_by(self, signal: Signal) -> Finished {
        self.signal(signal);
        let begin = reactor::system_now();
        let finished = self.finish();
        let took = reactor::system_now() - begin;
        assert!(took < SOON, "took {took:?}: {}", finished.stderr);
        finished.exits(130).says("interrupted")
    }
}

/// Commands whose statements the null server delays, and the signal that ends each.
const DELAYED: [(&str, Signal); 7] = [
    ("oltp read_write prepare", Signal::INT),
    ("oltp read_write prewarm", Signal::HUP),
    ("oltp point_select run --record run.jsonl", Signal::INT),
    ("tpcc check", Signal::TERM),
    ("tpcc load --warehouses 1", Signal::INT),
    ("mysqlslap --auto-generate-sql", Signal::INT),
    ("super-smack one.smack 1 1", Signal::INT),
];

/// Commands that the server answers at once, or that send no query.
const OTHERS: [(&str, Signal); 4] = [
    ("oltp read_write cleanup", Signal::TERM),
    ("tpch check", Signal::TERM),
    ("tables", Signal::HUP),
    ("top --plain", Signal::INT),
];

/// Starts a command on the server at this socket.
fn started(scene: &Scene, command: &str, socket: &Path) -> Running {
    let mut words: Vec<&str> = command.split(' ').collect();
    if words[0] != "super-smack" {
        words.extend(["--socket", socket.to_str().unwrap()]);
    }
    // Under nohup SIGHUP is ignored unless it is restored.
    let mut env = Command::new("env");
    env.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_dbdyno")]);
    scene.launch(env, words)
}

#[test]
fn the_first_signal_ends_a_wait_for_an_answer() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &["--delay=1h"]);
    write_smack(&scene, &socket, "select c from t");
    for (command, signal) in DELAYED {
        let running = started(&scene, command, &socket);
        running.wait_until_it_waits();
        running.end_by(signal);
    }
}

#[test]
fn the_first_signal_ends_a_wait_for_a_stopped_server() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &[]);
    write_smack(&scene, &socket, "select c from t");
    server.signal(Signal::STOP);
    for (command, signal) in DELAYED.into_iter().chain(OTHERS) {
        let running = started(&scene, command, &socket);
        running.wait_until_it_waits();
        running.end_by(signal);
    }
    server.signal(Signal::CONT);
}

/// Statements that are answered at once, one wait after the other.
#[test]
fn the_first_signal_ends_a_loop_of_short_waits() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &[]);
    let line = "mysqlslap --auto-generate-sql --auto-generate-sql-write-number=4294967295";
    let mut running = started(&scene, line, &socket);
    let pid = running.pid();
    running.wait_until("it listens to signals", || has(pid, "SigCgt", Signal::INT));
    running.end_by(Signal::INT);
}

#[test]
fn a_run_whose_server_stops_ends_and_keeps_its_record() {
    for signal in [Signal::INT, Signal::HUP, Signal::TERM] {
        let scene = Scene::new();
        let (server, socket) = null_server(&scene, &["--delay=10ms"]);
        let command = "oltp point_select run --threads 4 --time 600 --record out/record.jsonl";
        let mut running = started(&scene, command, &socket);
        let record = scene.path().join("out/record.jsonl");
        let measured = || Record::parse(&fs::read_to_string(&record).unwrap_or_default()).count();
        running.wait_until("something is measured", || measured() > 0);
        server.signal(Signal::STOP);
        running.wait_until_it_waits();
        running.end_by(signal);
        server.signal(Signal::CONT);
        let record = Record::parse(&fs::read_to_string(&record).unwrap());
        assert!(record.count() > 0);
        assert_eq!(record.one("end")["why"], "interrupted", "{signal:?}");
        assert_eq!(record.one("end")["complete"], false);
    }
}

#[test]
fn a_statement_ends_at_the_limit_that_the_user_sets() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &["--delay=1h"]);
    let socket = socket.to_str().unwrap();
    for command in [
        "tpcc check",
        "oltp read_write prepare",
        "oltp read_write prewarm",
    ] {
        let words = command.split(' ');
        let finished = scene.dbdyno(words.chain(["--socket", socket, "--statement-timeout=300ms"]));
        finished
            .exits(3)
            .says("no answer within 300ms")
            .hints("--statement-timeout");
    }
    write_smack(&scene, Path::new(socket), "select c from t");
    scene.file(
        "limited.toml",
        &format!(
            "format = 1\nrepeats = 1\n[server]\naddress = \"{socket}\"\nuser = \"root\"\n\
             statement_timeout = \"300ms\"\n[load]\nsmack = \"one.smack\"\nclient = \"one\"\nconnections = 1\nwarmup = \"1s\"\n\
             duration = \"1s\"\n[each]\nbefore = [\"select count(*) from t\"]\n"
        ),
    );
    scene
        .dbdyno(["run", "limited.toml"])
        .exits(3)
        .says("no answer within 300ms");
    scene
        .dbdyno(["tables", "--socket", socket, "--statement-timeout=0s"])
        .exits(2)
        .says("a limit above zero");
}

/// The command that dbdyno calls is another process: a signal that only the first process receives ends both.
#[test]
fn the_first_signal_ends_a_rerun_with_what_it_calls() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &["--delay=10ms"]);
    let single = "oltp point_select run --threads 2 --time 1 --record out/record.jsonl";
    started(&scene, single, &socket).finish().exits(0);
    server.signal(Signal::STOP);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let mut env = Command::new("env");
        env.args(["--default-signal=HUP", env!("CARGO_BIN_EXE_dbdyno")]);
        let mut running = scene.launch(env, ["rerun", "out"]);
        let parent = running.pid();
        running.wait_until("it calls the command", || first_child(parent).is_some());
        let child = first_child(parent).unwrap();
        wait_until_waiting(child.try_into().unwrap());
        running.end_by(signal);
        let stat = fs::read_to_string(format!("/proc/{child}/stat"));
        assert!(stat.is_err(), "{signal:?}: {stat:?}");
    }
    server.signal(Signal::CONT);
}

#[test]
fn the_first_signal_ends_a_command_that_makes_rows() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &["--error-rate=1", "--error-number=1146"]);
    let begun = scene.path().join("begun");
    let command = format!("sleep 3600 & echo $! > {}; wait", begun.display());
    scene.file(
        "rows.smack",
        &format!(
            "client \"one\" {{ user \"u\"; host \"localhost\"; db \"test\"; socket \"{}\"; query_barrel \"1 it\"; }}
             table \"t\" {{ client \"one\"; create \"create table t (a int)\"; min_rows \"9\"; \
             data_file \"t.dat\"; gen_data_file \"{command}\"; }}
             query \"it\" {{ query \"select 1\"; type \"it\"; has_result_set \"y\"; parsed \"n\"; }}
             main {{ one.init(); one.set_num_rounds($2); one.create_threads($1); one.connect(); \
             one.unload_query_barrel(); one.collect_threads(); one.disconnect(); }}",
            socket.display()
        ),
    );
    let mut running = scene.start(["super-smack", "rows.smack", "1", "1", "-D", "."]);
    let child = || fs::read_to_string(&begun).ok()?.trim().parse::<u32>().ok();
    running.wait_until("the command runs", || child().is_some());
    running.end_by(Signal::TERM);
    let child = child().unwrap();
    wait_until("the command is gone", || {
        let stat = fs::read_to_string(format!("/proc/{child}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    });
    assert!(!scene.path().join("t.dat").exists());
}

#[test]
fn nohup_protects_from_a_hangup() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &["--delay=10ms"]);
    let mut command = Command::new("nohup");
    command.arg(env!("CARGO_BIN_EXE_dbdyno"));
    let line = "oltp point_select run --time 2 --record out/record.jsonl --socket";
    let words = line.split(' ').chain(socket.to_str());
    let mut running = scene.launch(command, words);
    let pid = running.pid();
    // Its load keeps it busy.
    running.wait_until("it listens to signals", || has(pid, "SigCgt", Signal::INT));
    running.signal(Signal::HUP);
    running.finish().exits(0);
}

/// An endless device, and a FIFO without a writer: files named by a server are read only if they are regular files.
#[test]
fn a_server_that_names_strange_files_is_measured_as_any_other() {
    let scene = Scene::new();
    let fifo = scene.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().unwrap();
    assert!(made.success());
    for (number, path) in ["/dev/zero", fifo.to_str().unwrap()]
        .into_iter()
        .enumerate()
    {
        let scene = Scene::new();
        let says = [
            "--delay=5ms".to_owned(),
            "--variable=datadir=/".to_owned(),
            "--variable=slow_query_log=ON".to_owned(),
            "--variable=log_output=FILE".to_owned(),
            format!("--variable=pid_file={path}"),
            format!("--variable=slow_query_log_file={path}"),
        ];
        let options: Vec<&str> = says.iter().map(String::as_str).collect();
        let (_server, socket) = null_server(&scene, &options);
        let line = "oltp point_select run --threads 1 --time 1 --record out/record.jsonl";
        started(&scene, line, &socket).finish().exits(0);
        let text = fs::read_to_string(scene.path().join("out/record.jsonl")).unwrap();
        assert!(Record::parse(&text).is_complete(), "{number}");
    }
}

/// Like the test above with a correct process id, so that the server is local and its slow query log is read.
#[test]
fn a_slow_query_log_that_is_no_file_is_named() {
    let scene = Scene::new();
    let pid_file = scene.file("server.pid", &format!("{}\n", std::process::id()));
    let says = [
        "--delay=5ms".to_owned(),
        "--variable=datadir=/".to_owned(),
        "--variable=slow_query_log=ON".to_owned(),
        "--variable=log_output=FILE".to_owned(),
        format!("--variable=pid_file={}", pid_file.display()),
        "--variable=slow_query_log_file=/dev/zero".to_owned(),
    ];
    let options: Vec<&str> = says.iter().map(String::as_str).collect();
    let (_server, socket) = null_server(&scene, &options);
    let line = "oltp point_select run --threads 1 --time 1 --record out/record.jsonl";
    started(&scene, line, &socket).finish().exits(0);
    let text = fs::read_to_string(scene.path().join("out/record.jsonl")).unwrap();
    let record = Record::parse(&text);
    let missing = record.one("server_observation")["not_observed"].to_string();
    assert!(
        missing.contains("/dev/zero: a device, not a regular file"),
        "{missing}"
    );
}

/// A tar with the beginning of one file of nearly 8 GiB: zeros, in a sparse file.
fn endless_archive(scene: &Scene) -> String {
    let mut header = [0; 512];
    let fields: [(usize, &[u8]); 6] = [
        (0, b"server/data"),
        (100, b"0000644\0"),
        (124, b"77777777777\0"),
        (136, b"00000000000\0"),
        (148, b"        "),
        (257, b"ustar\x0000"),
    ];
    for (at, field) in fields {
        header[at..at + field.len()].copy_from_slice(field);
    }
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    let path = scene.path().join("server.tar");
    fs::write(&path, header).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(8 << 30).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_first_signal_ends_unpacking_and_leaves_nothing_of_it() {
    let scene = Scene::new();
    let archive = endless_archive(&scene);
    let root = scene.path().join(".local/share/dbdyno/installs");
    for signal in [Signal::INT, Signal::TERM] {
        let line = "server install mine --from";
        let mut running = scene.start(line.split(' ').chain([archive.as_str()]));
        let unpacked = root.join(".mine/tree/server/data");
        running.wait_until("it unpacks", || {
            fs::metadata(&unpacked).is_ok_and(|file| file.len() > 1 << 20)
        });
        running.end_by(signal);
        let left: Vec<_> = fs::read_dir(&root).unwrap().flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn the_first_signal_ends_a_command_around_a_test() {
    let scene = Scene::new();
    let (_server, socket) = null_server(&scene, &["--row-bytes=1"]);
    for option in ["--pre-system", "--post-system"] {
        let begun = scene.path().join(option.trim_start_matches('-'));
        let shell = format!("{option}=touch {}; sleep 1000", begun.display());
        let words = [
            "mysqlslap",
            "--no-defaults",
            "--create-schema=s",
            "--query=select 1",
        ];
        let socket = format!("--socket={}", socket.display());
        let mut running = scene.start(words.into_iter().chain([shell.as_str(), socket.as_str()]));
        running.wait_until("the command runs", || begun.exists());
        running.end_by(Signal::TERM);
    }
}

/// During the wait for the operations in flight of a server that does not answer.
#[test]
fn the_second_signal_ends_dbdyno_at_once() {
    let scene = Scene::new();
    let (server, socket) = null_server(&scene, &["--delay=10ms"]);
    let command = "oltp point_select run --threads 4 --time 600 --record out/record.jsonl";
    let mut running = started(&scene, command, &socket);
    let record = scene.path().join("out/record.jsonl");
    let measured = || Record::parse(&fs::read_to_string(&record).unwrap_or_default()).count();
    running.wait_until("something is measured", || measured() > 0);
    server.signal(Signal::STOP);
    running.signal(Signal::INT);
    running.wait_until_it_says("interrupted");
    running.end_by(Signal::HUP);
    // It had no time for its last line.
    let text = fs::read_to_string(&record).unwrap();
    assert!(!text.contains("\"line\":\"end\""), "{text}");
    server.signal(Signal::CONT);
}
