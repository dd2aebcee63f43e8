//! The machine of a remote server, sampled by an observer on it.

use std::{
    cell::Cell,
    collections::BTreeMap,
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use blame::{Blame, Blamed};
use experiment::{Observe, ObserverAddress};
use observer::{ObservationRequest, RemoteHost, Secret, Ssh, Tcp, Transport};
use protocol::Endpoint;
use reactor::{Instant, Interrupt};
use samples::{Cgroup, Host, Line, ObserverLoss, RunWriter, WriteError};

use crate::{
    control::{control, variables, wait_for_thread},
    listener::{Context, Listener},
    password_file,
    record::server_directories::server_directories,
};

/// Configuration of the observer of a server's machine, for all runs.
#[derive(Debug)]
pub struct Observation {
    observe: Observe,
    transport: Transport,
    /// A machine that was reached once may be lost later; one that was never reached is the user's error.
    was_reached: Cell<bool>,
}

impl Observation {
    /// The observation with these options; reads the secret.
    pub fn new(observe: Observe, listener: &dyn Listener) -> Result<Rc<Self>, Blamed> {
        let transport = transport(&observe, listener)?;
        Ok(Rc::new(Self {
            observe,
            transport,
            was_reached: Cell::new(false),
        }))
    }

    /// Whether it has these options.
    pub fn is(&self, observe: &Observe) -> bool {
        self.observe == *observe
    }

    /// Tests the connection, so that a failure is found before a long preparation.
    pub fn try_out(&self) -> Result<(), Blamed> {
        if self.was_reached.get() {
            Ok(())
        } else {
            self.reach().map(drop)
        }
    }

    /// Connects to the observer.
    pub fn reach(&self) -> Result<RemoteHost, Blamed> {
        let address = self.observe.address.to_string();
        let (to, transport) = (address.clone(), self.transport.clone());
        let reached = wait_for_thread(move || RemoteHost::reach(&to, &transport))?;
        let host = reached.map_err(|error| {
            let hint = error.hint().map(str::to_owned);
            Blamed::new(Blame::Input, format!("observer {error}")).hint(hint)
        })?;
        self.was_reached.set(true);
        Ok(host)
    }
}

fn transport(observe: &Observe, listener: &dyn Listener) -> Result<Transport, Blamed> {
    Ok(match &observe.address {
        ObserverAddress::Ssh { destination, port } => {
            let command = observe.ssh.as_deref().unwrap_or("ssh");
            Transport::Ssh(Ssh {
                command: command.split_whitespace().map(str::to_owned).collect(),
                destination: destination.clone(),
                port: *port,
                program: observe.program.clone().unwrap_or("dbdyno".to_owned()),
            })
        }
        ObserverAddress::Tcp { host, port } => {
            let file = observe.secret_file.as_deref().unwrap_or(Path::new(""));
            Transport::Tcp(Tcp {
                host: host.clone(),
                port: *port,
                secret: secret(file, listener)?,
            })
        }
    })
}

/// Reads the secret of an observer or of its client from a file.
pub fn secret(file: &Path, listener: &dyn Listener) -> Result<Secret, Blamed> {
    let text = password_file::read(file, "secret", listener)?;
    Secret::new(&text).map_err(|error| {
        let hint = format!("openssl rand -hex 32 > {}", file.display());
        Blamed::new(Blame::Input, format!("{}: {error}", file.display())).hint(hint)
    })
}

/// The observed machine of the server in one run.
pub struct ServerHost {
    address: String,
    /// The connection to the observer, or the reason why there is none.
    remote: Result<RemoteHost, String>,
    started: Option<Instant>,
    failed: Arc<Mutex<Option<WriteError>>>,
}

impl ServerHost {
    /// Connects to the observer. If it was reached before, its loss is recorded and does not end the run.
    pub fn reach(observation: &Observation, context: &Context) -> Result<Self, Blamed> {
        let was_reached = observation.was_reached.get();
        let remote = match observation.reach() {
            Err(error) if was_reached => {
                context.warn(&format!("server host not observed in this run: {error}"));
                Err(error.to_string())
            }
            other => Ok(other?),
        };
        Ok(Self {
            address: observation.observe.address.to_string(),
            remote,
            started: None,
            failed: Arc::default(),
        })
    }

    /// True if the observer is connected.
    pub fn is_reached(&self) -> bool {
        self.remote.is_ok()
    }

    /// True if client and server share one machine, which only the observer samples then.
    pub fn is_shared(&self) -> bool {
        let host = self.remote.as_ref().map(RemoteHost::host);
        host.is_ok_and(|host| host == Host::Both)
    }

    /// Sends the observer the targets found in the server's variables; returns the lines for the record. `own` is the
    /// client's control group, which belongs to a shared machine.
    pub fn watch(&self, variables: &BTreeMap<String, String>, own: &[Cgroup]) -> Vec<Line> {
        let watched = match &self.remote {
            Ok(remote) => remote
                .watch(watch(variables), Interrupt::of_user())
                .map_err(|error| error.to_string()),
            Err(why) => Err(why.clone()),
        };
        let mut observer = samples::Observer {
            at: "start".to_owned(),
            ..self.observer_properties()
        };
        match watched {
            Ok(watching) => {
                observer.server_process = watching.server_process;
                let mut machine = watching.machine;
                if self.is_shared() {
                    machine.cgroups.extend_from_slice(own);
                }
                let storage = Line::Storage(watching.storage);
                vec![Line::Machine(machine), Line::Observer(observer), storage]
            }
            Err(why) => {
                observer.lost = Some(ObserverLoss { t_s: 0.0, why });
                vec![Line::Observer(observer)]
            }
        }
    }

    /// Starts the samples into the record, at the start of the load.
    pub fn start(
        &mut self,
        started: Instant,
        every: Duration,
        writer: RunWriter,
        interrupt: Interrupt,
    ) {
        self.started = Some(started);
        let Ok(remote) = &self.remote else {
            return;
        };
        let failed = Arc::clone(&self.failed);
        remote.start(started, every, move |telemetry| {
            let written = writer.append(&Line::Telemetry(Box::new(telemetry)));
            let Err(error) = written else {
                return true;
            };
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            interrupt.raise();
            false
        });
    }

    /// Ends the samples; returns the record's last lines, or the line that could not be written.
    pub fn leave(self, context: &Context) -> (Vec<Line>, Option<WriteError>) {
        let mut observer = samples::Observer {
            at: "end".to_owned(),
            ..self.observer_properties()
        };
        let Ok(remote) = self.remote else {
            return (Vec::new(), None);
        };
        let observed = remote.leave(Interrupt::of_user());
        let mut lines: Vec<Line> = observed.changed.into_iter().map(Line::Changed).collect();
        lines.extend(observed.collected.map(Line::Collected));
        observer.clock = observed.offset.map(Into::into);
        observer.drift = observed.drift;
        observer.receiving_cpu_s = Some(observed.receiving_cpu.as_secs_f64());
        observer.lost = observed.lost.map(|(at, why)| {
            let t_s = self
                .started
                .map_or(0.0, |started| (at - started).as_secs_f64());
            context.warn(&format!(
                "server host not observed from {} on: {why}",
                units::moment(t_s)
            ));
            ObserverLoss { t_s, why }
        });
        lines.push(Line::Observer(observer));
        let failed = self
            .failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        (lines, failed)
    }

    /// The constant properties of the observer.
    fn observer_properties(&self) -> samples::Observer {
        let remote = self.remote.as_ref().ok();
        samples::Observer {
            address: self.address.clone(),
            version: remote
                .map(|remote| remote.version().to_owned())
                .unwrap_or_default(),
            same_machine: remote.and_then(RemoteHost::same_machine),
            clock: remote.map(|remote| remote.offset().into()),
            ..samples::Observer::default()
        }
    }
}

/// The server's variables with its directories and its process.
pub fn variables_of(endpoint: &Endpoint) -> Result<BTreeMap<String, String>, Blamed> {
    control(endpoint, variables)
}

/// The targets of an observer for a server with these variables.
pub fn watch(variables: &BTreeMap<String, String>) -> ObservationRequest {
    let datadir = variables.get("datadir").map(PathBuf::from);
    let pid_file = variables.get("pid_file").filter(|file| !file.is_empty());
    let directories = server_directories(variables).into_iter();
    ObservationRequest {
        // A relative path starts at the data directory.
        pid_file: datadir
            .clone()
            .zip(pid_file)
            .map(|(data, file)| data.join(file)),
        port: variables
            .get("port")
            .and_then(|port| port.parse().ok())
            .filter(|port| *port > 0),
        datadir,
        directories: directories.map(|it| (it.holds, it.path)).collect(),
    }
}
