//! A login on a new connection in place of an idle one that other sessions still need.

use std::rc::Rc;

use protocol::relay::{ClientLogin, capability};

use super::{
    client::Client, login_phase::LoginPhase, rounds::LoggedIn, safety::NO_METHOD,
    session_end::SessionEnd, sides::Sides,
};
use crate::{backends::Use, link::Link};

impl LoginPhase<'_> {
    /// Puts the idle connection back, and logs the client in on a new one. The client's proof is for another challenge: the
    /// server gets the name of no method, and asks the client for a proof of its own.
    pub(super) async fn log_in_beside(
        &mut self,
        idle: Link,
        login: &ClientLogin,
    ) -> Result<LoggedIn, SessionEnd> {
        let place = idle.place;
        self.client.session.borrow_mut().server = None;
        let thread = Rc::clone(&self.client.thread);
        thread.pool.park(idle, false);
        let used = Use::begin(&thread.settings.backends, place).ok_or(SessionEnd::ServerLeft)?;
        let opened = self.client.open(&used.backend().address).await;
        let Some(login) = login.with_proof(b"", NO_METHOD) else {
            return Err(SessionEnd::ServerLeft);
        };
        let stream = match opened {
            Ok(stream) => stream,
            Err(failure) => return Err(self.client.no_backend(place, &failure.to_string()).await),
        };
        let link = self.server.insert(thread.link(stream, used));
        let mut sides = Sides::new(self.client, link);
        let limit = thread.settings.connect_timeout;
        let Ok(payload) = reactor::timeout(limit, sides.server_packet()).await else {
            return Err(sides.client.no_backend(place, "it sends no greeting").await);
        };
        let payload = payload?;
        if payload.first() == Some(&0xff) {
            sides.client.answer_result(payload).await?;
            return Ok(LoggedIn::No);
        }
        let reads_queries = sides.client.reads_queries;
        let offer = match sides.server.know_greeting(payload, reads_queries) {
            Ok(offer) => offer,
            Err(error) => return Err(sides.client.no_backend(place, &error.to_string()).await),
        };
        sides.server.capabilities = login.capabilities & sides.server.greeting.capabilities;
        sides.client.session.borrow_mut().server = Some(sides.server.peer.clone());
        sides.relay_login(&login, offer.capabilities).await
    }
}

impl Client {
    /// Whether the login would take the idle connection, on which the client was greeted, from sessions that have no other:
    /// by another user, or without a database, which other sessions could not give back.
    pub(super) fn is_needed_by_others(&self, server: &Link, login: &ClientLogin) -> bool {
        let user = &server.peer.username;
        server.offer.is_none()
            && (login.database.is_empty() || login.user != *user)
            && login.capabilities & capability::PLUGIN_AUTH != 0
            && self.thread.pool.is_needed(server.place, user)
    }

    async fn no_backend(&mut self, place: usize, why: &str) -> SessionEnd {
        let backend = &self.thread.settings.backends.0[place];
        backend.failed(reactor::now());
        let address = &backend.address;
        let text = format!("(proxy) no connection to backend {address}: {why}");
        self.refuse(1105, "08S01", text).await
    }
}
