//! An observer that listens and serves several clients, in parallel and one after the other.

use std::{
    net::{TcpListener, TcpStream},
    os::fd::OwnedFd,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use reactor::{Interrupt, readable_within};

use crate::{
    error::Problem,
    pending_logins::{PendingLogin, PendingLogins},
    session::{Access, Session, UnauthenticatedClient},
};

/// Maximum number of clients served in parallel; clients that have not yet proved the secret are counted separately.
pub const LIMIT_OF_CLIENTS: usize = 32;

/// Pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(200);

/// Serves clients until it is stopped; `tell` receives each arrival and departure with its reason, and on another line a
/// hint, if there is one.
///
/// An error is one of the listening socket, never of a client.
pub fn listen(
    listener: TcpListener,
    place: &Access,
    stop: &Interrupt,
    tell: &(dyn Fn(String) + Sync),
) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let socket: OwnedFd = listener.try_clone()?.into();
    let clients = AtomicUsize::new(0);
    let pending_logins = Mutex::new(PendingLogins::default());
    thread::scope(|scope| {
        while !stop.is_raised() {
            if !readable_within(&socket, Some(stop), Duration::MAX)? {
                continue;
            }
            let (stream, peer) = match listener.accept() {
                Ok(accepted) => accepted,
                // The client gave up in the queue, or too many files are open: the other clients are still served.
                Err(error) => {
                    if error.kind() != std::io::ErrorKind::WouldBlock {
                        tell(format!("cannot accept: {error}"));
                        stop.wait(PAUSE);
                    }
                    continue;
                }
            };
            let (clients, pending_logins) = (&clients, &pending_logins);
            let pending_login = PendingLogin::arrived(pending_logins, &stream, peer);
            scope.spawn(move || {
                let result = serve(stream, pending_login, place, clients, stop, tell);
                match result {
                    Ok(()) => tell(format!("{peer}: left")),
                    Err(problem) => {
                        let error = problem.at(&peer.to_string());
                        let hint = error.hint().map(|hint| format!("\nhint: {hint}"));
                        tell(format!("{error}{}", hint.unwrap_or_default()));
                    }
                }
            });
        }
        Ok(())
    })
}

fn serve(
    stream: TcpStream,
    pending_login: PendingLogin<'_>,
    place: &Access,
    clients: &AtomicUsize,
    stop: &Interrupt,
    tell: &(dyn Fn(String) + Sync),
) -> Result<(), Problem> {
    let peer = pending_login.peer;
    stream.set_nodelay(true)?;
    let mut guest = UnauthenticatedClient::new(stream.try_clone()?.into(), stream.into())?;
    guest.greet(place, Some(peer.ip()))?;
    drop(pending_login);
    if clients.fetch_add(1, Ordering::Relaxed) >= LIMIT_OF_CLIENTS {
        clients.fetch_sub(1, Ordering::Relaxed);
        let why = format!("{LIMIT_OF_CLIENTS} clients are connected already");
        return guest.refuse(Problem::Refused(why));
    }
    tell(format!("{peer}: accepted"));
    let result = Session::new(place, guest, &peer.to_string()).run(stop, &|said| tell(said));
    clients.fetch_sub(1, Ordering::Relaxed);
    result
}
