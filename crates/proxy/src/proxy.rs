//! The running proxy: its listening sockets and event threads.

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    rc::Rc,
    sync::{Arc, atomic::AtomicU64, mpsc},
    task::Poll,
    thread::{self, JoinHandle},
    time::Duration,
};

use files::SocketFile;
use reactor::{Clock, Interrupt, Listener, Reactor, Stream};

use crate::{
    Address, Log, Metrics, Service, Settings, StartError, accept_queue::AcceptQueue, check,
    faults::FaultInjector, relay, thread::EventThread,
};

/// Delay before the next attempt if a connection cannot be accepted (out of memory or files).
const ACCEPT_AGAIN: Duration = Duration::from_millis(10);

/// A running proxy; it ends when it is dropped.
pub struct Proxy {
    end: Interrupt,
    threads: Vec<JoinHandle<()>>,
    addresses: Vec<Option<SocketAddr>>,
    services: Vec<Service>,
    /// The files of unix sockets, until the end.
    socket_files: Vec<SocketFile>,
    metrics: Arc<Metrics>,
}

impl Proxy {
    /// Starts to listen and to serve, in threads of its own, which also the interrupt ends.
    pub fn start(
        settings: Settings,
        log: Arc<Log>,
        interrupt: &Interrupt,
    ) -> Result<Self, StartError> {
        let settings = Arc::new(settings);
        let end = interrupt.child();
        let sessions = Arc::default();
        let count = settings.threads.max(1);
        let doors: Arc<Vec<AcceptQueue>> =
            Arc::new((0..count).map(|_| AcceptQueue::default()).collect());
        let trouble = FaultInjector::of(&settings.faults);
        let (sender, started) = mpsc::channel();
        let mut proxy = Self {
            end: end.clone(),
            threads: Vec::new(),
            addresses: Vec::new(),
            services: settings.services.clone(),
            socket_files: Vec::new(),
            metrics: Arc::clone(&settings.metrics),
        };
        for index in 0..count {
            let worker = Worker {
                index,
                settings: Arc::clone(&settings),
                log: Arc::clone(&log),
                end: end.clone(),
                sessions: Arc::clone(&sessions),
                doors: Arc::clone(&doors),
                trouble: trouble.clone(),
            };
            let sender = sender.clone();
            let thread = thread::Builder::new().name(format!("proxy-{index}"));
            let thread = thread.spawn(move || worker.run(&sender));
            proxy.threads.push(thread.map_err(StartError::Thread)?);
        }
        drop(sender);
        for _ in 0..count {
            match started.recv() {
                Ok(Ok(listening)) => {
                    for listening in listening {
                        proxy.addresses.push(listening.address);
                        proxy.socket_files.extend(listening.file);
                    }
                }
                Ok(Err(error)) => return Err(error),
                Err(mpsc::RecvError) => {
                    return Err(StartError::Thread(io::Error::other("it ended at once")));
                }
            }
        }
        Ok(proxy)
    }

    /// Where a service listens, in the order of the settings; `None` for a unix socket.
    pub fn address(&self, service: usize) -> Option<SocketAddr> {
        self.addresses.get(service).copied().flatten()
    }

    /// Where its services listen, in the order of the settings, in words.
    pub fn addresses(&self) -> Vec<String> {
        let places = self.services.iter().zip(&self.addresses);
        let places = places.map(|(service, address)| match address {
            Some(address) => address.to_string(),
            None => service.address.to_string(),
        });
        places.collect()
    }

    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Waits until the interrupt, a script or the end of a thread ends it.
    pub fn wait(&self) {
        self.end.wait(Duration::MAX);
    }

    /// Ends it: no session is served any more when this returns.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.end.raise();
        for thread in self.threads.drain(..) {
            // A panic was reported by the thread itself.
            let _ = thread.join();
        }
        self.socket_files.clear();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.end();
    }
}

/// Where a service listens.
struct Listening {
    address: Option<SocketAddr>,
    file: Option<SocketFile>,
}

/// What an event thread starts with.
struct Worker {
    index: usize,
    settings: Arc<Settings>,
    log: Arc<Log>,
    /// Ends all threads.
    end: Interrupt,
    sessions: Arc<AtomicU64>,
    doors: Arc<Vec<AcceptQueue>>,
    trouble: Option<Arc<FaultInjector>>,
}

type Started = Result<Vec<Listening>, StartError>;

impl Worker {
    fn run(self, started: &mpsc::Sender<Started>) {
        let reactor = match Reactor::new(Clock::System) {
            Ok(reactor) => reactor,
            Err(error) => {
                // The starter waits for it.
                let _ = started.send(Err(StartError::Thread(error)));
                return;
            }
        };
        reactor.run(async {
            let shared = self.shared();
            let (answer, shared) = match shared.and_then(|shared| Ok((self.listen()?, shared))) {
                Ok((listening, shared)) => (Ok(listening), Some(shared)),
                Err(error) => (Err(error), None),
            };
            // The starter waits for it.
            let _ = started.send(answer);
            if let Some(shared) = shared {
                self.serve(shared).await;
            }
        });
    }

    fn shared(&self) -> Result<Rc<EventThread>, StartError> {
        let thread = EventThread::new(
            Arc::clone(&self.settings),
            Arc::clone(&self.log),
            self.end.clone(),
            Arc::clone(&self.sessions),
            self.trouble.clone(),
        );
        thread.map_err(StartError::Hooks)
    }

    /// The first thread accepts for all: handing each connection to the thread with the fewest sessions balances them,
    /// which the kernel's choice among several listeners would not.
    fn listen(&self) -> Started {
        if self.index > 0 {
            return Ok(Vec::new());
        }
        let mut all = Vec::new();
        let mut listeners = Vec::new();
        for service in &self.settings.services {
            let listener = match &service.address {
                Address::Tcp(address) => Listener::bind_tcp(*address),
                // A proxy that was killed has left its file.
                Address::Unix(path) => {
                    SocketFile::remove_stale(path).and_then(|_| Listener::bind_unix(path))
                }
            };
            match listener {
                Ok(listener) => {
                    all.push(Listening {
                        address: listener.tcp_address(),
                        file: match &service.address {
                            Address::Unix(path) => Some(SocketFile::at(path)),
                            Address::Tcp(_) => None,
                        },
                    });
                    listeners.push(listener);
                }
                Err(source) => {
                    return Err(StartError::Listen {
                        address: service.address.clone(),
                        source,
                    });
                }
            }
        }
        for (service, listener) in listeners.into_iter().enumerate() {
            let doors = Arc::clone(&self.doors);
            reactor::spawn(async move {
                loop {
                    let Ok(connection) = listener.accept_for_any().await else {
                        reactor::sleep(ACCEPT_AGAIN).await;
                        continue;
                    };
                    if let Some(door) = doors.iter().min_by_key(|door| door.sessions()) {
                        door.hand_over(service, connection);
                    }
                }
            });
        }
        Ok(all)
    }

    async fn serve(&self, shared: Rc<EventThread>) {
        reactor::spawn(Rc::clone(&shared.waits).run());
        let settings = &self.settings;
        if let Some(interval) = settings.check_interval.filter(|_| self.index == 0) {
            check::spawn(
                &settings.backends,
                interval,
                settings.connect_timeout,
                &self.log,
            );
        }
        let sessions = poll_fn::<(), _>(|context| {
            for (service, connection) in self.doors[self.index].take(context.waker()) {
                let leaving = Leaving {
                    doors: Arc::clone(&self.doors),
                    index: self.index,
                };
                let Ok(stream) = Stream::take(connection) else {
                    continue;
                };
                let shared = Rc::clone(&shared);
                reactor::spawn(async move {
                    let _leaving = leaving;
                    relay::serve(shared, service, stream).await;
                });
            }
            Poll::Pending
        });
        self.end.unless_raised(sessions).await;
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Without one of them the others have no use.
        self.end.raise();
    }
}

/// Counts a session off when it ends, however it ends.
struct Leaving {
    doors: Arc<Vec<AcceptQueue>>,
    index: usize,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.doors[self.index].left();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backends;

    #[test]
    fn it_ends_with_its_interrupt() {
        let interrupt = Interrupt::default();
        let settings = Settings::new(Vec::new(), Arc::new(Backends(Vec::new())));
        let proxy = Proxy::start(settings, Arc::new(Log::silent()), &interrupt).unwrap();
        thread::scope(|scope| {
            scope.spawn(|| interrupt.raise());
            proxy.wait();
        });
        proxy.stop();
    }
}
