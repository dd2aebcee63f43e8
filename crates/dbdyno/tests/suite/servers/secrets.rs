//! Test that passwords are in no process list, log, output or result.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rustix::process::Signal;

use crate::{
    experiment::Experiment,
    mariadb::{MariaDb, PASSWORD},
    null_server::{null_server, write_smack},
    scene::{Finished, Scene},
};

/// The passwords in a private server's client.cnf.
fn passwords_of(server: &Path) -> Vec<String> {
    let text = fs::read_to_string(server.join("client.cnf")).unwrap();
    let values = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("password"));
    values
        .map(|value| {
            value
                .trim_start_matches([' ', '='])
                .trim_matches(['"', '\''])
                .to_owned()
        })
        .collect()
}

/// The command lines of all processes of a scene, and their environments.
fn process_list(scene: &Scene) -> String {
    let home = scene.path().to_str().unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let texts = processes.map(|process| {
        let texts = ["cmdline", "environ"]
            .map(|file| fs::read(process.path().join(file)).unwrap_or_default());
        String::from_utf8_lossy(&texts.concat()).into_owned()
    });
    // Other tests hand the same password to clients of their own.
    texts.filter(|text| text.contains(home)).collect()
}

/// Every file below a directory that contains a text; only its owner may have access to it. Grep searches, since a debug
/// build takes half a minute for a data directory.
pub(crate) fn files_with(directory: &Path, text: &str) -> Vec<String> {
    let mut grep = Command::new("grep")
        .args(["-rlZaF", "-f", "-", "--"])
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // By a pipe: an argument would be in the process list.
    let mut pattern = grep.stdin.take().unwrap();
    pattern.write_all(text.as_bytes()).unwrap();
    drop(pattern);
    let output = grep.wait_with_output().unwrap();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "grep ended with {code:?}");
    let paths = String::from_utf8(output.stdout).unwrap();
    let paths = paths.split_terminator('\0').map(Path::new);
    paths
        .map(|path| {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "others can read {}", path.display());
            path.file_name().unwrap().to_string_lossy().into_owned()
        })
        .collect()
}

#[test]
fn those_of_a_private_server() {
    let scene = Scene::for_servers().with_own_cache();
    let created = scene.dbdyno(["server", "create", "demo"]).exits(0);
    let directory = scene.servers_directory().join("demo");
    let passwords = passwords_of(&directory);
    assert_eq!(passwords.len(), 2, "those of bench and root");
    let mut client = scene.start([
        "server",
        "client",
        "demo",
        "--",
        "-e",
        "select sleep(1), 'here it is'",
    ]);
    client.wait_until("its client asks", || {
        process_list(&scene).contains("'here it is'")
    });
    let list = process_list(&scene);
    client.finish().exits(0);
    let shown = [
        created,
        scene.dbdyno(["server", "status", "demo"]).exits(0),
        scene.dbdyno(["server", "list"]).exits(0),
        scene.dbdyno(["server", "log", "demo"]).exits(0),
    ];
    for password in &passwords {
        assert!(password.len() >= 12, "no password is short");
        assert!(!list.contains(password.as_str()), "the process list has it");
        let mut files = files_with(scene.path(), password);
        files.sort();
        // The template of its data directory contains its accounts.
        assert_eq!(files, ["client.cnf", "dbdyno-template.json"]);
        for output in &shown {
            output.conceals(password);
        }
    }
    scene.dbdyno(["server", "destroy", "demo"]).exits(0);
    scene.nothing_is_left();
}

#[test]
fn the_one_of_a_server_that_is_there() {
    let scene = Scene::for_servers();
    let mariadb = MariaDb::start(&scene, &[]);
    Experiment {
        server: mariadb.as_experiment(),
        // Until the process list is read, however long that takes.
        load: "connections = 2\nwarmup = \"500ms\"\nduration = \"1h\"".to_owned(),
        ..Experiment::default()
    }
    .write(&scene);
    let mut running = scene.start(["run", "trial.toml", "--results", "out"]);
    let record = scene.path().join("out/run-0001.jsonl");
    running.wait_until("it runs", || record.exists());
    let list = process_list(&scene);
    running.signal(Signal::INT);
    running.finish().exits(130).conceals(PASSWORD);
    assert!(list.contains("trial.toml") && !list.contains(PASSWORD));
    assert_eq!(files_with(&scene.path().join("out"), PASSWORD), [""; 0]);
}

/// Commands that receive the password, and those that read the results of the others. SOCKET, FILE (with the password)
/// and CNF (an option file with it) are placeholders.
const COMMANDS: &[&str] = &[
    "oltp point_select run --time=1 --record=a.jsonl --socket=SOCKET --password=PASSWORD",
    "oltp read_write run --time=1 --record=b.jsonl --mysql-socket=SOCKET --mysql-password=PASSWORD",
    "oltp read_write run --time=1 --record=c.jsonl --defaults-file=CNF --socket=SOCKET",
    "oltp read_write prepare --table-size=10 --socket=SOCKET --password=PASSWORD",
    "oltp read_write cleanup --socket=SOCKET --password=PASSWORD",
    "tpcc run -w 1 -c 1 --warmup 0s --duration 2s --no-check --record d.jsonl --socket SOCKET --password-file FILE",
    "tpch load --scale-factor 0.001 --database h --socket SOCKET --password-file FILE",
    "mysqlslap --defaults-file=CNF --create-schema=s --query=SELECT --number-of-queries=9 --socket=SOCKET",
    "mysqlslap --no-defaults --create-schema=s --query=SELECT --number-of-queries=9 --socket=SOCKET --password=PASSWORD",
    "tables --defaults-file=CNF --socket SOCKET",
    "run trial.toml --results one",
    "run trial.toml --results two",
    "rerun one --results three",
    "report one --format json",
    "report one --format csv",
    "report one --format markdown",
    "report one --format openmetrics",
    "report one a.jsonl",
    "compare one two",
    "compare one two --format json",
    "compare one two --format markdown",
    "audit one --format json",
    "audit one",
    "history",
];

/// Runs the command with these words, and samples the process list during its execution.
pub(crate) fn asked(scene: &Scene, line: &str, put_in: &[(&str, &str)], secret: &str) -> Finished {
    let words = line.split(' ').map(|word| {
        let known = put_in.iter();
        known.fold(word.to_owned(), |word, (name, value)| {
            word.replace(name, value)
        })
    });
    let words: Vec<String> = words.collect();
    let is_given = words.iter().any(|word| word.contains(secret));
    let running = scene.start(&words);
    let (pid, is_over) = (running.pid(), AtomicBool::new(false));
    let (finished, seen) = thread::scope(|scope| {
        let watch = scope.spawn(|| commands_seen(pid, &is_over));
        let finished = running.finish();
        is_over.store(true, Ordering::Relaxed);
        (finished, watch.join().unwrap())
    });
    for (process, commands) in seen {
        // The receiving process hides an argument, so that it can be visible at its start only.
        let allowed = usize::from(is_given && process == pid);
        let leaks: Vec<_> = commands
            .iter()
            .filter(|text| text.contains(secret))
            .collect();
        assert!(
            leaks.len() <= allowed,
            "{line}: process {process}: {leaks:?}"
        );
        // A short command may be sampled at its start only.
        let is_long = line.contains("--time=") && finished.code() == Some(0);
        let last = commands.last().filter(|_| is_long);
        assert!(
            last.is_none_or(|text| !text.contains(secret)),
            "{line}: {last:?}"
        );
    }
    finished
}

/// The time between two looks at the processes.
const POLL: Duration = Duration::from_millis(5);

/// The command lines, with environments, of a process and its children until it ends, by process, in order of their
/// changes.
fn commands_seen(pid: u32, is_over: &AtomicBool) -> BTreeMap<u32, Vec<String>> {
    let mut seen: BTreeMap<u32, Vec<String>> = BTreeMap::from([(pid, Vec::new())]);
    while !is_over.load(Ordering::Relaxed) {
        let known: Vec<u32> = seen.keys().copied().collect();
        for process in known {
            let commands = seen.entry(process).or_default();
            let text = ["cmdline", "environ"].map(|file| {
                let bytes = fs::read(format!("/proc/{process}/{file}")).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            });
            let text = text.concat();
            // Empty for a process that has ended.
            if !text.is_empty() && commands.last() != Some(&text) {
                commands.push(text);
            }
            for child in children(process) {
                seen.entry(child).or_default();
            }
        }
        thread::sleep(POLL);
    }
    seen
}

/// The processes that the threads of a process have started.
fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let lists = threads.map(|thread| fs::read_to_string(thread.path().join("children")));
    let lists: Vec<String> = lists.filter_map(Result::ok).collect();
    let words = lists.iter().flat_map(|list| list.split_whitespace());
    words.filter_map(|word| word.parse().ok()).collect()
}

#[test]
fn those_that_commands_are_given() {
    const SECRET: &str = "s3cret-0f-nobody";
    let (scene, given) = (Scene::for_servers(), Scene::for_servers());
    // Answers after 2 ms: loads cost the machine little, and each has hundreds of statements in a second.
    let (_server, socket) = null_server(&scene, &["--row-bytes=1", "--delay=2ms"]);
    write_smack(&scene, &socket, "update t set c = 1");
    let socket = socket.to_str().unwrap();
    let file = given.file("password", &format!("{SECRET}\n"));
    let cnf = given.file("my.cnf", &format!("[client]\npassword={SECRET}\nuser=u\n"));
    scene.file(
        "trial.toml",
        &format!(
            "format = 1\n[server]\naddress = \"{socket}\"\nuser = \"u\"\npassword_file = \"{}\"\n\
             [load]\nsmack = \"one.smack\"\nconnections = 1\nwarmup = \"100ms\"\n\
             duration = \"2s\"\n[disturbed]\nrepeats = \"0 %\"\n",
            file.display()
        ),
    );
    let put_in = [
        ("SOCKET", socket),
        ("FILE", file.to_str().unwrap()),
        ("CNF", cnf.to_str().unwrap()),
        ("PASSWORD", SECRET),
    ];
    for line in COMMANDS {
        let finished = asked(&scene, line, &put_in, SECRET);
        finished.conceals(SECRET);
        // Commands with a verdict may find something; none may be refused. The tables that are filled are empty afterwards.
        let fills = [" prepare ", " load "].iter().any(|it| line.contains(it));
        assert!(
            matches!(finished.code(), Some(0 | 1 | 5)) || fills && finished.code() == Some(3),
            "{line}\n{}",
            finished.shown()
        );
    }
    assert_eq!(files_with(scene.path(), SECRET), [""; 0]);
    assert!(scene.path().join("three/report.html").exists());
}

#[test]
fn one_that_is_wrong() {
    const SECRET: &str = "n0t-the-right-one";
    let (scene, given) = (Scene::for_servers(), Scene::for_servers());
    let mariadb = MariaDb::start(&scene, &[]);
    let file = given.file("password", SECRET);
    let by_port = mariadb.by_port();
    let port = by_port[0].trim_start_matches("--port=");
    for line in [
        "tables --host 127.0.0.1 --port PORT --user trial --password-file FILE",
        "oltp point_select run --time=1 --host=127.0.0.1 --port=PORT --user=trial --password=WRONG",
        "quick --host 127.0.0.1 --port PORT --user trial --password-file FILE",
        "tpcc check --host 127.0.0.1 --port PORT --user trial --password-file FILE",
        "mysqlslap --no-defaults --host=127.0.0.1 --port=PORT --user=trial --password=WRONG --query=SELECT",
    ] {
        let put_in = [
            ("PORT", port),
            ("FILE", file.to_str().unwrap()),
            ("WRONG", SECRET),
        ];
        let finished = asked(&scene, line, &put_in, SECRET);
        finished.conceals(SECRET);
        finished.exits(2).says("Access denied");
    }
    assert_eq!(files_with(scene.path(), SECRET), [""; 0]);
}
