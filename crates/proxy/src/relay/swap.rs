//! Connections of the pool: kept for other sessions, and taken by this one.

use std::sync::atomic::Ordering::Relaxed;

use protocol::relay::com;

use super::{Ended, Relay, login::FORM};
use crate::{Level, backends::Use, link::Link};

impl Relay {
    /// Does what a hook wished by changing the session's backend: keeps the connection for others, takes another one.
    pub(super) async fn swap(&mut self) -> Result<(), Ended> {
        let wanted = self.session.borrow().backend;
        let now = self.server.as_ref().map(|server| server.place);
        if wanted == now {
            return Ok(());
        }
        if let Some(link) = self.server.take() {
            self.park(link);
        }
        let Some(place) = wanted else {
            return Ok(());
        };
        let Some(link) = self.idle_link(place) else {
            if self.thread.settings.account.is_some() {
                if !Box::pin(self.open_in_session(place)).await? {
                    self.session.borrow_mut().backend = None;
                }
                return Ok(());
            }
            let mut session = self.session.borrow_mut();
            session.backend = None;
            let user = String::from_utf8_lossy(&session.client.username).into_owned();
            drop(session);
            self.log(
                Level::Critical,
                &format!(
                    "proxy.connection.backend_ndx = {}: no idle connection of user {user:?} to this backend; only a \
                     login opens one, so park more connections first",
                    place + 1
                ),
            );
            return Ok(());
        };
        let number = self.number;
        let is_foreign = link.session != number;
        if !self.use_link(link) {
            return Ok(());
        }
        if is_foreign && self.thread.settings.pool_changes_user {
            self.reset().await?;
        }
        if let Some(server) = &mut self.server {
            server.session = number;
        }
        Ok(())
    }

    /// An idle connection to a backend that fits this session; the one that it used last, or one with its database, first.
    pub(super) fn idle_link(&self, place: usize) -> Option<Link> {
        if !self.is_verified {
            // The name that it claims opens nothing.
            return None;
        }
        let session = self.session.borrow();
        let client = &session.client;
        let promised = (self.login.as_ref()).map(|login| login.capabilities & self.offered);
        self.thread.pool.take(place, |link| {
            let fits = link.is_logged_in
                && link.peer.username == client.username
                && promised.is_some_and(|mine| (mine ^ link.capabilities) & FORM == 0);
            let own = link.session == self.number;
            let same = link.peer.default_db == client.default_db;
            // No command leaves a database.
            let keeps_foreign = client.default_db.is_empty() && !same && !own;
            (fits && !keeps_foreign).then_some(2 * u32::from(own) + u32::from(same))
        })
    }

    /// Makes an idle connection the session's; false if its backend is gone.
    pub(super) fn use_link(&mut self, mut link: Link) -> bool {
        let Some(used) = Use::begin(&self.thread.settings.backends, link.place) else {
            return false;
        };
        link.used = Some(used);
        let mut session = self.session.borrow_mut();
        session.backend = Some(link.place);
        session.server = Some(link.peer.clone());
        self.server = Some(link);
        true
    }

    /// Keeps a connection for other sessions; one without a login is closed, because no session could use it.
    pub(super) fn park(&mut self, mut link: Link) {
        let peer = self.session.borrow_mut().server.take();
        if !link.is_logged_in || link.wire.has_unread() {
            return;
        }
        if let Some(peer) = peer {
            link.peer = peer;
        }
        let most = self.thread.settings.backends.0[link.place]
            .max_idle
            .load(Relaxed);
        let idle = self.thread.pool.count(link.place, b"");
        if most == 0 || idle < usize::try_from(most).unwrap_or(usize::MAX) {
            self.thread.pool.park(link);
        }
    }

    /// Gives a connection that another session used the state of a new one, with this client's database and character
    /// set.
    ///
    /// A server from before 5.7.3 does not know the command: its open transaction is rolled back, and its variables and
    /// temporary tables stay.
    pub(super) async fn reset(&mut self) -> Result<(), Ended> {
        if is_error(&self.own_command(&[com::RESET_CONNECTION]).await?) {
            self.log(
                Level::Warning,
                "the server of an idle connection does not know COM_RESET_CONNECTION; its variables and temporary tables \
                 stay",
            );
            self.own_command(b"\x03ROLLBACK").await?;
        }
        // Neither tells which database a `USE` in a statement's text has left behind.
        let database = self.session.borrow().client.default_db.clone();
        if !database.is_empty() {
            let command = [&[com::INIT_DB][..], &database].concat();
            let answer = self.own_command(&command).await?;
            if is_error(&answer) {
                // The client's statements would run in the database of another session.
                let text = format!(
                    "the database {} could not be chosen",
                    String::from_utf8_lossy(&database)
                );
                return Err(self.refuse(answer, text).await);
            }
            let mut session = self.session.borrow_mut();
            if let Some(peer) = &mut session.server {
                peer.default_db = database;
            }
        }
        let charset = self.login.as_ref().map_or(0, |login| login.charset);
        if charset == 0 {
            return Ok(());
        }
        let mut statement = vec![com::QUERY];
        statement.extend_from_slice(
            format!(
                "SET character_set_client = {charset}, character_set_results = {charset}, \
                 collation_connection = {charset}"
            )
            .as_bytes(),
        );
        if is_error(&self.own_command(&statement).await?) {
            self.log(
                Level::Warning,
                "the character set of the client could not be set on an idle connection",
            );
        }
        Ok(())
    }

    /// Sends a command of the proxy's own, of whose answer the client sees nothing.
    async fn own_command(&mut self, payload: &[u8]) -> Result<Vec<u8>, Ended> {
        self.send_to_server(payload, 0).await?;
        self.server_packet().await
    }
}

fn is_error(packet: &[u8]) -> bool {
    packet.first() == Some(&0xff)
}
