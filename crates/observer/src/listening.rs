//! An observer that listens, for several clients at a time and one after the other.

use std::{
    net::{SocketAddr, TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use reactor::system_now;
use rustix::event::PollFlags;

use crate::{
    error::Problem,
    session::{Guest, Place, Session},
    wire::wait,
};

/// Clients that are served at a time, those included that have not shown yet that they know the secret.
pub const LIMIT_OF_CLIENTS: usize = 32;

/// How often it looks whether it is to end.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Serves clients until it is stopped; `tell` hears who comes, who goes and why.
///
/// An error is one of the listening socket, never of a client.
pub fn listen(
    listener: TcpListener,
    place: &Place,
    is_stopped: &(dyn Fn() -> bool + Sync),
    tell: &(dyn Fn(String) + Sync),
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let socket: OwnedFd = listener.try_clone()?.into();
    let served = AtomicUsize::new(0);
    thread::scope(|scope| {
        while !is_stopped() {
            if !wait(&socket, PollFlags::IN, system_now() + LOOK_EVERY)? {
                continue;
            }
            let (stream, peer) = match listener.accept() {
                Ok(accepted) => accepted,
                // It gave up in the queue, or there are too many open files: the others go on.
                Err(error) => {
                    if error.kind() != std::io::ErrorKind::WouldBlock {
                        tell(format!("cannot accept: {error}"));
                        thread::sleep(LOOK_EVERY);
                    }
                    continue;
                }
            };
            let is_full = served.fetch_add(1, Ordering::Relaxed) >= LIMIT_OF_CLIENTS;
            let served = &served;
            scope.spawn(move || {
                let result = serve(stream, peer, place, is_full, is_stopped, tell);
                served.fetch_sub(1, Ordering::Relaxed);
                match result {
                    Ok(()) => tell(format!("{peer}: left")),
                    Err(problem) => tell(format!("{peer}: {problem}")),
                }
            });
        }
        Ok(())
    })
}

fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    place: &Place,
    is_full: bool,
    is_stopped: &(dyn Fn() -> bool + Sync),
    tell: &(dyn Fn(String) + Sync),
) -> Result<(), Problem> {
    stream.set_nodelay(true)?;
    let mut guest = Guest::new(stream.try_clone()?.into(), stream.into())?;
    if is_full {
        let why = format!("{LIMIT_OF_CLIENTS} clients are here already");
        return guest.refuse(Problem::Refused(why));
    }
    guest.greet(place, Some(peer.ip()))?;
    tell(format!("{peer}: let in"));
    Session::new(place, guest, &peer.to_string()).run(is_stopped, &|said| tell(said))
}
