//! Host name resolution in a separate thread: the system's resolver blocks, for half a minute if no name server
//! answers.

use std::{
    future::poll_fn,
    io,
    net::{IpAddr, SocketAddr, ToSocketAddrs},
    sync::{Arc, Mutex, PoisonError},
    task::{Poll, Waker},
    thread,
};

/// The result of the resolver thread, and the waiting task.
#[derive(Default)]
struct Answer {
    found: Option<io::Result<Vec<SocketAddr>>>,
    waker: Option<Waker>,
}

/// The addresses of a host; an IP address needs no resolution.
pub(crate) async fn addresses(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let answer = Arc::new(Mutex::new(Answer::default()));
    let (theirs, host) = (Arc::clone(&answer), host.to_owned());
    thread::Builder::new()
        .name("name-lookup".to_owned())
        .spawn(move || {
            let found = (host.as_str(), port).to_socket_addrs();
            let mut answer = theirs.lock().unwrap_or_else(PoisonError::into_inner);
            answer.found = Some(found.map(Iterator::collect));
            let waker = answer.waker.take();
            // The lock is released before an unknown waker runs.
            drop(answer);
            if let Some(waker) = waker {
                waker.wake();
            }
        })?;
    poll_fn(|context| {
        let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
        match answer.found.take() {
            Some(found) => Poll::Ready(found),
            None => {
                answer.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    })
    .await
}
