//! Events that stop and start a private server.

use experiment::ServerAction;
use server::{Error, Lifetime};

use crate::stage::shared_server::SharedServer;

/// Stops or kills the server and starts it again; returns its new process id once it answers.
pub(super) fn act(server: &SharedServer, action: ServerAction) -> Result<Option<u32>, Error> {
    let mut server = server.lock();
    match action {
        ServerAction::Restart => server.stop()?,
        ServerAction::Kill => server.kill()?,
    }
    server.start(Lifetime::Owned)?;
    Ok(server.pid())
}
