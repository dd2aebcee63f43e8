//! The proxy before each server generation: logins by every method, and the programs that people use.

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::Duration,
};

use protocol::{Address, Endpoint, ServerKey, SslMode};
use server::Flavour;

use crate::long::matrix::{
    accounts::{self, PASSWORD, USER},
    results::Cell,
    subject::{Subject, as_user, dbdyno, rows},
};

/// Hooks that see every command, and send each injected once more.
const HOOKS: &str = "
function read_query(packet)
    if packet:byte() == proxy.COM_QUERY then
        proxy.queries:append(1, packet, { resultset_is_needed = true })
        return proxy.PROXY_SEND_QUERY
    end
end
function read_query_result(inj)
    local resultset = inj.resultset
    if resultset.query_status == proxy.MYSQLD_PACKET_OK and resultset.fields then
        for _ in resultset.rows do end
    end
end
";

/// A proxy before the server; it ends with the check.
struct Proxy {
    child: Child,
    port: u16,
}

impl Proxy {
    /// A proxy that connects to the server in this way.
    fn start(subject: &Subject, server: &Address, more: &[String]) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let log = File::create(subject.directory().join(format!("proxy-{port}.log"))).unwrap();
        let mut command = dbdyno(subject.directory());
        command
            .arg("proxy")
            .arg(format!("--proxy-address=127.0.0.1:{port}"))
            .arg(format!("--proxy-backend-addresses={server}"))
            .args(more)
            .stderr(log);
        let proxy = Self {
            child: command.spawn().unwrap(),
            port,
        };
        for _ in 0..200 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return proxy;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("the proxy does not listen");
    }

    fn place(&self, like: Endpoint) -> Endpoint {
        Endpoint {
            address: Address::Tcp {
                host: "127.0.0.1".to_owned(),
                port: self.port,
            },
            ssl_mode: SslMode::Disabled,
            // Between sides of different safety the key is the proxy's.
            server_key: ServerKey::Asked,
            ..like
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Fails only for a proxy that has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every login method that the build has, to a server that is reached by TCP and by its socket: the right password opens,
/// twice because some methods have a shorter second login, and wrong ones do not.
pub(crate) fn logins(subject: &mut Subject) -> Cell {
    const METHODS: [&str; 5] = [
        "mysql_native_password",
        "caching_sha2_password",
        "sha256_password",
        "ed25519",
        "parsec",
    ];
    let mut tested = 0;
    for server in [subject.by_tcp(SslMode::Disabled), subject.by_socket()] {
        let proxy = Proxy::start(subject, &server.address, &[]);
        let place = proxy.place(server);
        for method in METHODS {
            if accounts::create(subject, method).is_err() {
                continue;
            }
            let direct = as_user(subject.by_tcp(SslMode::Disabled), USER, PASSWORD);
            if rows(&direct, "SELECT 1").is_err() {
                // No key for the password: not a matter of the proxy.
                continue;
            }
            subject.run(&["FLUSH PRIVILEGES"]);
            tested += 1;
            for _ in 0..2 {
                let right = as_user(place.clone(), USER, PASSWORD);
                let found = rows(&right, "SELECT CURRENT_USER()");
                let found = found.unwrap_or_else(|error| panic!("{method}: {error}"));
                assert_eq!(found, [[format!("{USER}@%")]], "{method}");
                for wrong in ["wrong", ""] {
                    let wrong = as_user(place.clone(), USER, wrong);
                    let error = rows(&wrong, "SELECT 1").unwrap_err();
                    assert_eq!(error.server_number(), Some(1045), "{method}: {error}");
                }
            }
        }
    }
    assert!(tested >= 2, "{tested}");
    Cell::Ok
}

/// Programs that people use, through a proxy without a script and with hooks.
pub(crate) fn clients(subject: &mut Subject) -> Cell {
    let native = accounts::create(subject, "mysql_native_password");
    if native.is_err() {
        accounts::create(subject, "caching_sha2_password").unwrap();
    }
    subject.run(&[
        &format!("GRANT ALL ON *.* TO '{USER}'@'%'"),
        "DROP DATABASE IF EXISTS clients",
        "CREATE DATABASE clients",
    ]);
    let script = subject.directory().join("hooks.lua");
    fs::write(&script, HOOKS).unwrap();
    let server = subject.by_tcp(SslMode::Disabled).address;
    let mut missing = Vec::new();
    for more in [
        vec![],
        vec![format!("--proxy-lua-script={}", script.display())],
    ] {
        let proxy = Proxy::start(subject, &server, &more);
        for (name, client) in CLIENTS {
            let Some(output) = client(subject, proxy.port) else {
                missing.push(name);
                continue;
            };
            let said = format!(
                "{}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
            assert!(output.status.success(), "{name}, {more:?}: {said}");
        }
    }
    subject.run(&["DROP DATABASE clients"]);
    if missing.is_empty() {
        Cell::Ok
    } else {
        Cell::Skipped(format!("not on this machine: {}", missing.join(", ")))
    }
}

/// Runs a client through the proxy; `None` if it cannot be had here.
type Client = fn(&Subject, u16) -> Option<Output>;

const CLIENTS: [(&str, Client); 6] = [
    ("mariadb", command_line),
    ("sysbench", sysbench),
    ("mysqlslap", mysqlslap),
    ("dbdyno", own),
    ("Python's driver", python),
    ("Go's driver", go),
];

fn is_full() -> bool {
    std::env::var_os("DBDYNO_MATRIX").is_some_and(|value| value == "1")
}

fn has(program: &str) -> bool {
    Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}

fn command_line(_: &Subject, port: u16) -> Option<Output> {
    let sql = "select 1; create table clients.c (a int primary key, b longtext); insert into clients.c values (1, repeat('x', 100000)); \
               select length(b) from clients.c; prepare s from 'select a from clients.c where a = ?'; set @a = 1; execute s using @a; \
               begin; delete from clients.c; rollback; select count(*) from clients.c; drop table clients.c";
    let mut command = Command::new("mariadb");
    command
        .args([
            "--no-defaults",
            "--skip-ssl",
            "-h127.0.0.1",
            "-N",
            "clients",
            "-e",
            sql,
        ])
        .arg(format!("-u{USER}"))
        .arg(format!("-P{port}"))
        .env("MYSQL_PWD", PASSWORD);
    let output = command.output().ok()?;
    if output.status.success() {
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1\n100000\n1\n1\n");
    }
    Some(output)
}

fn sysbench(subject: &Subject, port: u16) -> Option<Output> {
    if !has("sysbench") {
        return None;
    }
    let run = |step: &str| {
        let mut command = Command::new("sysbench");
        command
            .args([
                "oltp_read_write",
                "--tables=2",
                "--table-size=1000",
                "--threads=4",
                "--events=200",
                "--time=0",
            ])
            .args(["--mysql-host=127.0.0.1", "--mysql-db=clients"])
            .arg(format!("--mysql-port={port}"))
            .arg(format!("--mysql-user={USER}"))
            // sysbench takes a password nowhere else.
            .arg(format!("--mysql-password={PASSWORD}"))
            .arg(step)
            .current_dir(subject.directory());
        command.output().ok()
    };
    let prepared = run("prepare")?;
    if !prepared.status.success() {
        return Some(prepared);
    }
    let output = run("run");
    run("cleanup")?;
    output
}

fn mysqlslap(_: &Subject, port: u16) -> Option<Output> {
    if !has("mariadb-slap") {
        return None;
    }
    let mut command = Command::new("mariadb-slap");
    command
        .args([
            "--no-defaults",
            "--skip-ssl",
            "-h127.0.0.1",
            "--protocol=tcp",
        ])
        .args([
            "--concurrency=4",
            "--iterations=1",
            "--number-of-queries=200",
            "--auto-generate-sql",
        ])
        .arg("--create-schema=slap_clients")
        .arg(format!("-u{USER}"))
        .arg(format!("-P{port}"))
        .env("MYSQL_PWD", PASSWORD);
    command.output().ok()
}

fn own(subject: &Subject, port: u16) -> Option<Output> {
    let password = subject.directory().join("password");
    fs::write(&password, PASSWORD).unwrap();
    let run = |step: &str| {
        let mut command = dbdyno(subject.directory());
        command
            .args([
                "oltp",
                "read_write",
                step,
                "--host=127.0.0.1",
                "--ssl-mode=disabled",
                "--database=clients",
            ])
            .args([
                "--tables=2",
                "--table-size=1000",
                "--connections=4",
                "--warmup=0.2s",
                "--duration=2s",
            ])
            .args(["--get-server-public-key"])
            .arg(format!("--record=record-{port}"))
            .arg(format!("--port={port}"))
            .arg(format!("--user={USER}"))
            .arg(format!("--password-file={}", password.display()));
        command.output().unwrap()
    };
    for step in ["prepare", "run", "check"] {
        let output = run(step);
        if !output.status.success() {
            return Some(output);
        }
    }
    Some(run("cleanup"))
}

/// Runs a driver's program with the password on its standard input.
fn driver(command: &mut Command, subject: &Subject, port: u16) -> Output {
    let password = subject.directory().join("password");
    fs::write(&password, PASSWORD).unwrap();
    command
        .arg(port.to_string())
        .arg(USER)
        .stdin(File::open(password).unwrap());
    command.output().unwrap()
}

/// A step that must succeed, of making a client.
#[track_caller]
fn make(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// A directory for a client that all servers use.
fn shared(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn python(subject: &Subject, port: u16) -> Option<Output> {
    if !is_full() || !has("python3") {
        return None;
    }
    // The last versions of the driver do not know servers before 8.0.
    let is_old = subject.version.installation.flavour == Flavour::MySql && subject.numbers()[0] < 8;
    let (name, package) = if is_old {
        ("python-old", "mysql-connector-python==8.0.33")
    } else {
        ("python", "mysql-connector-python")
    };
    let place = shared(name);
    if !place.join("made").exists() {
        make(Command::new("python3").args(["-m", "venv"]).arg(&place));
        make(Command::new(place.join("bin/pip")).args(["install", "--quiet", package]));
        File::create(place.join("made")).unwrap();
    }
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/long/matrix/clients/driver.py");
    Some(driver(
        Command::new(place.join("bin/python3")).arg(program),
        subject,
        port,
    ))
}

fn go(subject: &Subject, port: u16) -> Option<Output> {
    if !is_full() || Command::new("go").arg("version").output().is_err() {
        return None;
    }
    let place = shared("go");
    if !place.join("driver").exists() {
        fs::create_dir_all(&place).unwrap();
        let program =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/long/matrix/clients/driver.go");
        fs::copy(program, place.join("main.go")).unwrap();
        if !place.join("go.mod").exists() {
            make(
                Command::new("go")
                    .args(["mod", "init", "driver"])
                    .current_dir(&place),
            );
        }
        make(
            Command::new("go")
                .args(["get", "github.com/go-sql-driver/mysql"])
                .current_dir(&place),
        );
        make(
            Command::new("go")
                .args(["build", "-o", "driver", "."])
                .current_dir(&place),
        );
    }
    Some(driver(
        &mut Command::new(place.join("driver")),
        subject,
        port,
    ))
}
