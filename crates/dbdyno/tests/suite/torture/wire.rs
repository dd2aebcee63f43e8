//! A broken network between dbdyno and a real server: bytes of both directions flipped, lost, doubled or delayed.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use crate::torture::{
    attack::{ATTACKS, Attack, Backend},
    budget::Budget,
    chance::Chance,
    figures::{Case, Kind},
    ground::{self, Ground},
    hostile::{bounded, written_secrets},
    judgement,
    mischief::flip,
};

const POLL: Duration = Duration::from_millis(50);

/// The damage to a piece of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    Flips,
    Cut,
    Doubled,
    Late,
    /// It is sent after the next piece.
    Overtaken,
    Lost,
    Closed,
}

const ALL: [Trouble; 7] = [
    Trouble::Flips,
    Trouble::Cut,
    Trouble::Doubled,
    Trouble::Late,
    Trouble::Overtaken,
    Trouble::Lost,
    Trouble::Closed,
];

/// The kind `wire`: bytes of both directions are damaged.
pub(crate) struct Wire<'a> {
    ground: &'a Ground,
    is_long: bool,
}

impl<'a> Wire<'a> {
    /// `None` without a real server.
    pub(crate) fn new(ground: &'a Ground, budget: &Budget) -> Option<Self> {
        ground.mariadb()?;
        Some(Self {
            ground,
            is_long: budget.is_long(),
        })
    }
}

impl Kind for Wire<'_> {
    fn name(&self) -> &'static str {
        "wire"
    }

    fn workers(&self) -> usize {
        4
    }

    fn case(&self, _number: u64, mut chance: Chance) -> Case {
        let attacks = ATTACKS.iter();
        let attacks = attacks.filter(|attack| {
            attack.backend == Backend::MariaDb && (self.is_long || !attack.is_long)
        });
        let attacks: Vec<&Attack> = attacks.collect();
        let attack = *chance.one_of(&attacks);
        let trouble = *chance.one_of(&ALL);
        // One of this number of pieces is damaged, after an undamaged beginning.
        let plan = Plan {
            trouble,
            one_in: [2, 3, 10, 50][chance.below(4)],
            from: [0, 1, 3, 8][chance.below(4)],
        };
        let server = self.ground.mariadb().expect("it was there");
        (attack.prepare)(self.ground);
        let place = self.ground.place();
        let wire = Cable::lay(ground::address(server), plan, chance);
        let trial = attack.trial(&place, wire.port);
        let trial = trial.below(attack.mib_max << 20);
        let ended = bounded(attack, trial, self.is_long).run();
        let hit = wire.hit.load(Ordering::Relaxed);
        let mut faults = judgement::faults(&ended);
        faults.extend(written_secrets(&place));
        let sort = match hit {
            0 => "not reached".to_owned(),
            _ => format!("{}: {trouble:?}", attack.name),
        };
        let story = format!("{plan:?}, {hit} pieces");
        Case::of(sort, &story, &ended, faults)
    }
}

#[derive(Debug, Clone, Copy)]
struct Plan {
    trouble: Trouble,
    one_in: usize,
    from: usize,
}

/// A relay that damages bytes; it ends when dropped.
struct Cable {
    port: u16,
    hit: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
    acceptor: Option<JoinHandle<()>>,
}

impl Cable {
    fn lay(server: SocketAddr, plan: Plan, chance: Chance) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a loopback port is free");
        let port = listener.local_addr().expect("it is bound").port();
        listener.set_nonblocking(true).expect("it is a socket");
        let hit = Arc::new(AtomicUsize::new(0));
        let is_over = Arc::new(AtomicBool::new(false));
        let end = End {
            plan,
            chance,
            hit: Arc::clone(&hit),
            is_over: Arc::clone(&is_over),
        };
        let acceptor = thread::spawn(move || accept(&listener, server, end));
        Self {
            port,
            hit,
            is_over,
            acceptor: Some(acceptor),
        }
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

fn accept(listener: &TcpListener, server: SocketAddr, mut end: End) {
    let mut directions = Vec::new();
    while !end.is_over.load(Ordering::Relaxed) {
        let Ok((client, _)) = listener.accept() else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        // A lost client or server is no failure of the cable.
        let Ok(lines) = lines(client, server) else {
            continue;
        };
        for (from, to) in lines {
            end.chance.any();
            let end = end.clone();
            directions.push(thread::spawn(move || {
                let _ = end.pass(&from, &to);
                let _ = from.shutdown(Shutdown::Both);
                let _ = to.shutdown(Shutdown::Both);
            }));
        }
    }
    for direction in directions {
        let _ = direction.join();
    }
}

/// Both directions of a connection.
fn lines(client: TcpStream, server: SocketAddr) -> io::Result<[(TcpStream, TcpStream); 2]> {
    let server = TcpStream::connect(server)?;
    for stream in [&client, &server] {
        stream.set_nonblocking(false)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(POLL))?;
        stream.set_write_timeout(Some(Duration::from_secs(5)))?;
    }
    Ok([(client.try_clone()?, server.try_clone()?), (server, client)])
}

/// One direction of one connection.
#[derive(Clone)]
struct End {
    plan: Plan,
    chance: Chance,
    hit: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl End {
    fn pass(mut self, mut from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        let mut buffer = vec![0; 1 << 14];
        let mut held: Option<Vec<u8>> = None;
        let mut pieces = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            let count = match from.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => count,
                Err(error) if is_pause(&error) => {
                    // No later piece could overtake it.
                    if let Some(held) = held.take() {
                        to.write_all(&held)?;
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            pieces += 1;
            let piece = &buffer[..count];
            if pieces <= self.plan.from || !self.chance.one_in(self.plan.one_in) {
                to.write_all(piece)?;
                if let Some(held) = held.take() {
                    to.write_all(&held)?;
                }
                continue;
            }
            self.hit.fetch_add(1, Ordering::Relaxed);
            match self.plan.trouble {
                Trouble::Overtaken if held.is_none() => held = Some(piece.to_vec()),
                Trouble::Closed => return Ok(()),
                trouble => to.write_all(&spoiled(trouble, piece, &mut self.chance))?,
            }
        }
        Ok(())
    }
}

fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), WouldBlock | TimedOut | Interrupted)
}

/// A damaged piece.
fn spoiled(trouble: Trouble, piece: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = piece.to_vec();
    match trouble {
        Trouble::Flips => flip(&mut bytes, chance),
        Trouble::Cut => bytes.truncate(chance.below(piece.len())),
        Trouble::Doubled => bytes.extend_from_slice(piece),
        Trouble::Late => thread::sleep(Duration::from_millis(chance.below(300) as u64)),
        Trouble::Lost => bytes.clear(),
        Trouble::Overtaken | Trouble::Closed => {}
    }
    bytes
}
