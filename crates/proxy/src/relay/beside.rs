//! A login on a new connection in place of an idle one that other sessions still need.

use protocol::relay::{ClientLogin, capability, error_packet};

use super::{Ended, Relay, login::LoggedIn, sides::NO_METHOD};
use crate::backends::Use;

impl Relay {
    /// Whether the login would take the idle connection, on which the client was greeted, from sessions that have no other:
    /// by another user, or without a database, which other sessions could not give back.
    pub(super) fn is_needed_by_others(&self, login: &ClientLogin) -> bool {
        let Some(server) = &self.server else {
            return false;
        };
        let user = &server.peer.username;
        server.is_logged_in
            && (login.database.is_empty() || login.user != *user)
            && login.capabilities & capability::PLUGIN_AUTH != 0
            && self.thread.pool.is_needed(server.place, user)
    }

    /// Puts the idle connection back, and logs the client in on a new one. The client's proof is for another challenge: the
    /// server gets the name of no method, and asks the client for a proof of its own.
    pub(super) async fn log_in_beside(&mut self, login: &ClientLogin) -> Result<LoggedIn, Ended> {
        let Some(link) = self.server.take() else {
            return Err(Ended::ServerLeft);
        };
        let place = link.place;
        self.session.borrow_mut().server = None;
        self.thread.pool.park(link, false);
        let used = Use::begin(&self.thread.settings.backends, place).ok_or(Ended::ServerLeft)?;
        let opened = self.open(&used.backend().address).await;
        let Some(login) = login.with_proof(b"", NO_METHOD) else {
            return Err(Ended::ServerLeft);
        };
        let greeted = match opened {
            Ok(stream) => {
                self.server = Some(self.thread.link(stream, used));
                let limit = self.thread.settings.connect_timeout;
                match reactor::timeout(limit, self.server_packet()).await {
                    Ok(payload) => Ok(payload?),
                    Err(reactor::Elapsed) => Err("it sends no greeting".to_owned()),
                }
            }
            Err(failure) => Err(failure.to_string()),
        };
        let payload = match greeted {
            Ok(payload) => payload,
            Err(why) => return Err(self.no_connection_beside(place, &why).await),
        };
        if payload.first() == Some(&0xff) {
            self.answer_result(payload).await?;
            return Ok(LoggedIn::No);
        }
        let reads_queries = self.reads_queries;
        let Some(server) = &mut self.server else {
            return Err(Ended::ServerLeft);
        };
        if let Err(error) = server.know_greeting(payload, reads_queries) {
            return Err(self.no_connection_beside(place, &error.to_string()).await);
        }
        server.capabilities = login.capabilities & server.greeting.capabilities;
        self.session.borrow_mut().server = Some(server.peer.clone());
        self.relay_login(&login).await
    }

    async fn no_connection_beside(&mut self, place: usize, why: &str) -> Ended {
        let backend = &self.thread.settings.backends.0[place];
        backend.failed(reactor::now());
        let text = format!(
            "(proxy) no connection to backend {}: {why}",
            backend.address
        );
        let packet = error_packet(1105, "08S01", &text);
        self.refuse(packet, text).await
    }
}
