//! Tests of the null server as seen by clients: answers, behaviour on a driven clock, and invalid clients.

mod answers;
mod behaviour;
mod hostile;
mod service_law;

use std::path::PathBuf;

use protocol::{
    Connection, Endpoint,
    null_server::{NullServer, Settings},
    testing::endpoint,
};
use reactor::{Clock, Listener, Reactor};

/// A null server on a driven clock, and its address.
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

fn against<T>(settings: Settings, test: impl AsyncFnOnce(&Served) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    Reactor::new(Clock::Driven).unwrap().run(async {
        let server = NullServer::new(settings);
        server.serve(Listener::bind_unix(&path).unwrap(), path.to_str());
        test(&Served { server, path }).await
    })
}
