//! Tests of the client with a fake server: login methods that no installed server has, and misbehaving servers.

mod answers;
mod far_away;
mod hostile;
mod limits;
mod parsec;
mod server_key;
mod sha2;

use std::future::Future;

use protocol::{
    Connection, Endpoint, Error,
    testing::{Peer, endpoint},
};
use reactor::{Clock, Listener, Reactor, spawn};

/// Runs a client against a server that follows a script, on a driven clock.
fn against<S, C>(
    server: impl FnOnce(Peer) -> S + 'static,
    client: impl FnOnce(Endpoint) -> C,
) -> C::Output
where
    S: Future<Output = ()> + 'static,
    C: Future,
{
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Reactor::new(Clock::Driven).unwrap().run(async {
        let listener = Listener::bind_unix(&path).unwrap();
        spawn(async move { server(Peer::new(listener.accept().await.unwrap())).await });
        client(endpoint(&path)).await
    })
}

async fn open(endpoint: Endpoint) -> Result<(), Error> {
    Connection::open(&endpoint).await.map(drop)
}
