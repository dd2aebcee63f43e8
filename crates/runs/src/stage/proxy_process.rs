//! The proxy between the clients and the server of a run: a separate process, which ends with this one.

use std::{
    env,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use blame::{Blame, Blamed};
use experiment::{Connect, ProxySpec};
use files::Scratch;
use protocol::{Address, Endpoint, ServerKey, SslMode};
use rustix::process::{Pid, Signal, kill_process};
use samples::ProxyWork;
use server::Lifetime;

use crate::stage::proxy_metrics;

/// Time limit for the proxy to listen.
const START_LIMIT: Duration = Duration::from_secs(10);
/// Interval at which its log is read meanwhile.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// What its log says before the address at which it listens.
const LISTENS: &str = "listens on ";
/// What its log says before the address of its metrics.
const METRICS: &str = "metrics: http://";
/// Longest part of its log that is read.
const LOG_BYTES_MAX: u64 = 1 << 20;
/// Most lines of its log that are shown.
const LINES_SHOWN: usize = 5;

/// How the clients of a run reach the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProxyAccess {
    /// By socket or TCP.
    pub(crate) connect: Connect,
    /// Whether the traffic between clients and proxy is compressed.
    pub(crate) compress: bool,
    /// Seed of the faults on purpose.
    pub(crate) seed: u64,
}

pub(crate) struct ProxyProcess {
    child: Child,
    directory: Scratch,
    address: Address,
    /// Where its metrics are, host and port.
    metrics: String,
    spec: ProxySpec,
}

impl ProxyProcess {
    /// Starts a proxy before `server` and waits until it listens.
    pub(crate) fn start(
        spec: &ProxySpec,
        access: ProxyAccess,
        server: &Endpoint,
    ) -> Result<Self, Blamed> {
        let directory = Scratch::make("dbdyno-proxy-").map_err(|error| failed(&error))?;
        let log = directory.path().join("log");
        let command = command(spec, access, server, directory.path(), &log)
            .map_err(|error| failed(&error))?;
        let child = server::spawn(command, Lifetime::Owned).map_err(|error| failed(&error))?;
        let mut proxy = Self {
            child,
            directory,
            // Until it is known.
            address: Address::Unix(PathBuf::new()),
            metrics: String::new(),
            spec: spec.clone(),
        };
        (proxy.address, proxy.metrics) = proxy.wait_until_it_listens(access.connect)?;
        Ok(proxy)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The endpoint of clients that connect to the proxy instead of its server.
    pub(crate) fn endpoint(&self, server: &Endpoint) -> Endpoint {
        Endpoint {
            address: self.address.clone(),
            // It is on this machine; whether it encrypts towards the server is its own matter.
            ssl_mode: SslMode::Disabled,
            // Where the proxy encrypts a password for the server, the client's key is the proxy's.
            server_key: ServerKey::Asked,
            ..server.clone()
        }
    }

    /// The way of the clients in words: `a proxy (script q0.lua)`.
    pub(crate) fn in_words(&self) -> String {
        let settings = self.spec.settings.iter();
        let settings: Vec<String> = settings
            .map(|(key, value)| format!("{key} {value}"))
            .collect();
        if settings.is_empty() {
            return "a proxy".to_owned();
        }
        format!("a proxy ({})", settings.join(", "))
    }

    /// What it has done so far.
    pub(crate) fn work(&self) -> Result<ProxyWork, Blamed> {
        let work = proxy_metrics::fetch(&self.metrics).map_err(|error| {
            Blamed::new(
                Blame::Machine,
                format!("the proxy's metrics cannot be read: {error}"),
            )
        })?;
        Ok(ProxyWork {
            settings: self.spec.settings.clone(),
            ..work
        })
    }

    /// The complaints in its log, a few lines: errors of its script above all.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let log = self.log();
        let complaints = log.lines().filter_map(|line| {
            let (_, rest) = line.split_once(": (")?;
            let (level, text) = rest.split_once(") ")?;
            matches!(level, "error" | "critical").then(|| text.to_owned())
        });
        let mut found: Vec<String> = Vec::new();
        for complaint in complaints {
            if !found.contains(&complaint) {
                found.push(complaint);
            }
            if found.len() == LINES_SHOWN {
                break;
            }
        }
        found
    }

    fn log(&self) -> String {
        let log = files::read_regular(&self.directory.path().join("log"), LOG_BYTES_MAX);
        String::from_utf8_lossy(&log.unwrap_or_default()).into_owned()
    }

    fn wait_until_it_listens(&mut self, connect: Connect) -> Result<(Address, String), Blamed> {
        let begin = reactor::system_now();
        loop {
            let log = self.log();
            let after = |word: &str| {
                let mut lines = log.lines();
                lines.find_map(|line| Some(line.split_once(word)?.1))
            };
            let metrics = after(METRICS).and_then(|rest| rest.split_once('/'));
            let own = after(LISTENS).and_then(|place| address(connect, place));
            if let (Some(own), Some((metrics, _))) = (own, metrics) {
                return Ok((own, metrics.to_owned()));
            }
            if let Ok(Some(status)) = self.child.try_wait() {
                let said =
                    fs::read_to_string(self.directory.path().join("said")).unwrap_or_default();
                let said = said.trim();
                let why = if said.is_empty() { log.trim() } else { said };
                return Err(Blamed::new(
                    Blame::Input,
                    format!("the proxy ended at once ({status}): {why}"),
                ));
            }
            if reactor::system_now() - begin > START_LIMIT {
                return Err(failed(&"it does not listen within 10 s"));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

impl Drop for ProxyProcess {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            // Both calls fail only for a process that has ended.
            let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
            let _ = self.child.wait();
        }
    }
}

fn failed(error: &dyn std::fmt::Display) -> Blamed {
    Blamed::new(Blame::Machine, format!("the proxy does not start: {error}"))
}

/// The address that the log names.
fn address(connect: Connect, place: &str) -> Option<Address> {
    match connect {
        Connect::Socket => Some(Address::Unix(place.into())),
        Connect::Tcp => {
            let (host, port) = place.rsplit_once(':')?;
            Some(Address::Tcp {
                host: host.to_owned(),
                port: port.parse().ok()?,
            })
        }
    }
}

fn command(
    spec: &ProxySpec,
    access: ProxyAccess,
    server: &Endpoint,
    directory: &Path,
    log: &Path,
) -> io::Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    let own = match access.connect {
        Connect::Socket => directory.join("proxy.sock").display().to_string(),
        Connect::Tcp => "127.0.0.1:0".to_owned(),
    };
    let file = |path: &Path| path.canonicalize().map(|path| path.display().to_string());
    let mut options = vec![
        ("proxy-address", own),
        ("proxy-backend-addresses", server.address.to_string()),
        ("metrics-address", "127.0.0.1:0".to_owned()),
        ("log-file", log.display().to_string()),
        ("log-level", "message".to_owned()),
        ("event-threads", spec.threads.to_string()),
        ("fault-seed", access.seed.to_string()),
    ];
    if let Some(script) = &spec.script {
        options.push(("proxy-lua-script", file(script)?));
    }
    if let Some(rewrite) = &spec.rewrite {
        options.push(("rewrite", file(rewrite)?));
    }
    if matches!(server.address, Address::Tcp { .. }) && server.ssl_mode != SslMode::Disabled {
        options.push((
            "backend-ssl-mode",
            server.ssl_mode.to_string().to_lowercase(),
        ));
        if let Some(ca) = &server.ssl_ca {
            options.push(("backend-ssl-ca", file(ca)?));
        }
    }
    command.arg("proxy");
    let faults = spec
        .faults
        .iter()
        .map(|(key, value)| (key.replace('_', "-"), value.clone()));
    let options = options
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value));
    for (key, value) in options.chain(faults) {
        command.arg(format!("--{key}={value}"));
    }
    if access.compress {
        command.arg("--proxy-compress");
    }
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(directory.join("said"))?);
    Ok(command)
}
