//! The null server, as clients see it: its answers, its behaviour under a driven clock, and clients that talk nonsense.

#![expect(clippy::unwrap_used, reason = "a test fails by it")]

mod answers;
mod behaviour;
mod hostile;

use std::path::PathBuf;

use protocol::{
    Connection, Endpoint,
    null_server::{NullServer, Settings},
    testing::endpoint,
};
use reactor::{Clock, Listener, Reactor};

/// A null server on a driven clock, and the way to it.
struct Served {
    server: NullServer,
    path: PathBuf,
}

impl Served {
    fn endpoint(&self) -> Endpoint {
        endpoint(&self.path)
    }

    async fn open(&self) -> Connection {
        Connection::open(&self.endpoint()).await.unwrap()
    }
}

/// Runs `test` against a null server with these settings.
fn against<T>(settings: Settings, test: impl AsyncFnOnce(&Served) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Reactor::new(Clock::Driven).unwrap().run(async {
        let server = NullServer::new(settings);
        server.serve(Listener::bind_unix(&path).unwrap(), path.to_str());
        test(&Served { server, path }).await
    })
}
