//! A server on another host: rows come from the client's side only, and the server's machine is not observed.
//!
//! The other host is a network namespace with a pair of virtual interfaces. Where the machine does not allow one,
//! these tests say so and pass.

use std::{
    fs::File,
    net::{Ipv4Addr, SocketAddr, TcpStream},
    os::unix::net::UnixStream,
    process::{Child, Command},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use server::Server;

use crate::{
    experiment::{Experiment, SMACK},
    mariadb::{MariaDb, PASSWORD, rows},
    results::Results,
    scene::Scene,
};

/// The port of a server that has its host to itself.
const PORT: u16 = 3306;

/// The names below hold for one other host at a time in this process.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Another host, removed with the test.
struct OtherHost {
    namespace: String,
    link: String,
    address: Ipv4Addr,
    _turn: MutexGuard<'static, ()>,
}

impl OtherHost {
    /// Makes one, or says why that cannot be.
    fn new() -> Result<Self, String> {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let process = std::process::id();
        // Four addresses of 10.0.0.0/8 for each process that there can be: its number has 22 bits at most.
        let network = u32::from(Ipv4Addr::new(10, 0, 0, 0)) + (process << 2);
        let (near, far) = (Ipv4Addr::from(network + 1), Ipv4Addr::from(network + 2));
        let host = Self {
            namespace: format!("dbdyno-{process}"),
            link: format!("dyn{process}"),
            address: far,
            _turn: turn,
        };
        let Self {
            namespace, link, ..
        } = &host;
        for command in [
            format!("netns add {namespace}"),
            format!("link add {link} type veth peer name far netns {namespace}"),
            format!("addr add {near}/30 dev {link}"),
            format!("link set {link} up"),
            format!("-n {namespace} addr add {far}/30 dev far"),
            format!("-n {namespace} link set far up"),
            format!("-n {namespace} link set lo up"),
        ] {
            ip(&command)?;
        }
        Ok(host)
    }
}

impl Drop for OtherHost {
    fn drop(&mut self) {
        // What was never made cannot be removed.
        let _ = ip(&format!("link del {}", self.link));
        let _ = ip(&format!("netns del {}", self.namespace));
    }
}

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| format!("ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "ip {arguments}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// A server on another host, with an account `trial`. It can be asked through its socket as well: both hosts have
/// one file system.
struct RemoteServer {
    process: Child,
    server: Server,
    host: OtherHost,
}

impl RemoteServer {
    /// Starts one; `None` where there can be no other host.
    fn start(scene: &Scene) -> Option<Self> {
        let host = match OtherHost::new() {
            Ok(host) => host,
            Err(reason) => {
                eprintln!("skipped: no network namespace: {reason}");
                return None;
            }
        };
        let server = MariaDb::make(scene, &[]);
        let log = File::create(scene.path().join("remote.log")).unwrap();
        // Its first word lets it die with this test, whatever becomes of that.
        let process = Command::new("setpriv")
            .args([
                "--pdeathsig",
                "KILL",
                "ip",
                "netns",
                "exec",
                &host.namespace,
            ])
            .arg(server.installation().unwrap().mysqld)
            .arg(format!(
                "--defaults-file={}",
                server.dir().join("my.cnf").display()
            ))
            .arg(format!("--socket={}", server.socket().display()))
            .arg(format!("--port={PORT}"))
            .arg(format!("--bind-address={}", host.address))
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let remote = Self {
            process,
            server,
            host,
        };
        let address = SocketAddr::from((remote.host.address, PORT));
        // The server opens its port before its socket.
        scene.wait_until("the remote server listens", || {
            TcpStream::connect_timeout(&address, Duration::from_secs(1)).is_ok()
                && UnixStream::connect(remote.server.socket()).is_ok()
        });
        remote.rows(&format!("create user trial@'%' identified by '{PASSWORD}'"));
        remote.rows("grant all on *.* to trial@'%'");
        scene.file("password", PASSWORD);
        Some(remote)
    }

    #[track_caller]
    fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        rows(&self.server.endpoint(), sql)
    }

    fn address(&self) -> String {
        self.host.address.to_string()
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        // Both fail on a process that ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn super_smack_loads_over_the_wire() {
    let scene = Scene::new();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    assert_ne!(
        remote.rows("select @@secure_file_priv"),
        [[""]],
        "the server reads no other file"
    );
    remote.rows("set global log_output = 'TABLE'");
    remote.rows("set global general_log = 1");
    scene.file("small.smack", &SMACK.replace("1000000", "3000"));
    let address = remote.address();
    let mut sums = Vec::new();
    for local_infile in [1, 0] {
        remote.rows(&format!("set global local_infile = {local_infile}"));
        remote.rows("truncate mysql.general_log");
        let smack = scene
            .dbdyno([
                "super-smack",
                "--host",
                &address,
                "--user",
                "trial",
                "--password-file",
                "password",
                "small.smack",
                "4",
                "0",
            ])
            .exits(0);
        assert_eq!(
            smack.stderr.contains("is loaded by INSERT"),
            local_infile == 0
        );
        // With local_infile off the server has refused a LOAD DATA LOCAL before.
        let loads = "select argument like 'load data local infile%' from mysql.general_log \
                     where argument like 'load data%'";
        assert_eq!(remote.rows(loads), [["1"]]);
        let inserts =
            "select count(*) > 0 from mysql.general_log where argument like 'insert into%'";
        assert_eq!(
            remote.rows(inserts),
            [[if local_infile == 1 { "0" } else { "1" }]]
        );
        assert_eq!(
            remote.rows("select count(*) from test.http_auth"),
            [["3000"]]
        );
        sums.push(remote.rows("checksum table test.http_auth"));
        remote.rows("drop table test.http_auth");
    }
    assert_eq!(sums[0], sums[1], "the same rows either way");
}

#[test]
fn an_experiment_says_what_it_did_not_see() {
    let scene = Scene::new();
    let Some(remote) = RemoteServer::start(&scene) else {
        return;
    };
    let address = remote.address();
    Experiment {
        server: format!(
            "address = \"{address}:{PORT}\"\nuser = \"trial\"\npassword_file = \"password\""
        ),
        ..Experiment::default()
    }
    .write(&scene);
    scene
        .dbdyno(["run", "trial.toml", "--results", "out", "--keep"])
        .exits(0);
    let results = Results::at(scene.path().join("out"));
    let record = results.record(1);
    assert!(record.is_complete() && record.count() > 0);
    assert_eq!(record.one("run")["transport"], "tcp remote");
    let server = record.one("server");
    assert_eq!(server["address"], format!("{address}:{PORT}"));
    assert_eq!(server["private"], false);
    let machine = record.one("machine");
    assert_eq!(machine["host"], "client");
    let not_observed = machine["not_observed"].as_array().unwrap();
    assert!(
        not_observed
            .iter()
            .any(|what| what == "server host not observed"),
        "{machine}"
    );
    assert!(record.all("telemetry").count() > 0);
    for telemetry in record.all("telemetry") {
        assert!(
            telemetry["server"].is_null() && telemetry["disk"].is_null(),
            "{telemetry}"
        );
        assert!(telemetry["client"].is_object(), "{telemetry}");
    }
    let nothing: Vec<Vec<rusqlite::types::Value>> = Vec::new();
    assert_eq!(results.sql("SELECT server_percent FROM cpu"), nothing);
    assert_eq!(
        remote.rows("select count(*) from test.http_auth"),
        [["2000"]]
    );
}
