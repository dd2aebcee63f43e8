//! One client's session, in phases that follow each other: connecting, logging in, serving commands.

mod account;
mod change_user;
mod changes;
mod client;
mod command_effects;
mod command_phase;
mod connect_phase;
mod detour;
mod exchange;
mod extra_login;
mod injection;
mod login_phase;
mod rounds;
mod safety;
mod session_end;
mod sides;
mod swap;

use std::rc::Rc;

use reactor::Stream;

use crate::{Level, link::Link, thread::EventThread};
use client::Client;
use connect_phase::ConnectPhase;
use session_end::SessionEnd;

/// Serves one client until it leaves.
pub(crate) async fn serve(thread: Rc<EventThread>, service: usize, stream: Stream) {
    let Some(mut client) = Client::new(&thread, service, stream) else {
        // The client is gone already.
        return;
    };
    // Beside the phases: hooks see it in use until the session has ended.
    let mut server = None;
    thread.metrics.sessions_opened.add(1);
    let end = run(&mut client, &mut server).await;
    thread.metrics.sessions_closed.add(1);
    thread.pool.ask_for(&client.session);
    client.hooks.disconnect_client(&client.session);
    // A hook may have asked to keep the server's connection.
    let is_kept = end.is_ok() && client.session.borrow().backend.is_none();
    if let Some(link) = server.take().filter(|_| is_kept) {
        client.park(link);
    }
    let idle_max = |place| thread.idle_max(place);
    thread.pool.session_ended(client.number, idle_max);
    let (Ok(ended) | Err(ended)) = end;
    let level = if ended.is_usual() {
        Level::Debug
    } else {
        Level::Warning
    };
    if thread.log.takes(level) {
        let session = client.session.borrow();
        let text = format!("session of {}: {ended}", session.client.src);
        if session.form.is_some() {
            thread.log.write_of_peer(level, &text);
        } else {
            thread.log.write_of_stranger(level, &text);
        }
    }
}

/// Why the session ended; `Ok` if no command was on its way: the server's connection may be kept for other sessions.
async fn run(client: &mut Client, server: &mut Option<Link>) -> Result<SessionEnd, SessionEnd> {
    let connecting = ConnectPhase { client, server };
    let logging_in = connecting.connect().await?;
    let commanding = logging_in.log_in().await?;
    commanding.serve().await
}
