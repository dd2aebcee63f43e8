//! Events that stop and start a private server.

use experiment::ServerAction;
use protocol::Address;
use server::Lifetime;

use crate::stage::shared_server::SharedServer;

/// Stops or kills the server, which the load reaches at `address`, and starts it again; returns its new process id once it
/// answers. The error says why the load has no server from then on.
pub(super) fn act(
    server: &SharedServer,
    action: ServerAction,
    address: &Address,
) -> Result<Option<u32>, String> {
    let mut server = server.lock();
    if !server.is_running() {
        // A start would make a crash look like a part of the plan.
        return Err("the server was not running any more".to_owned());
    }
    let port = server.port();
    let stopped = match action {
        ServerAction::Restart => server.stop(),
        ServerAction::Kill => server.kill(),
    };
    let started = stopped.and_then(|()| server.start(Lifetime::Owned));
    started.map_err(|error| error.to_string())?;
    if matches!(address, Address::Tcp { .. }) && server.port() != port {
        return Err(format!(
            "another program took the server's port {port} meanwhile; it now listens on {}, where the load cannot \
             reach it",
            server.port()
        ));
    }
    Ok(server.pid())
}
