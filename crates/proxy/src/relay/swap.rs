//! Connections of the pool: kept for other sessions, and taken by this one.

use std::rc::Rc;

use protocol::relay::com;

use super::{
    client::Client, command_phase::CommandPhase, connect_phase::ConnectPhase,
    session_end::SessionEnd, sides::Sides,
};
use crate::{Level, backends::Use, link::Link, session_reset, unreset_state::Fresh};

impl CommandPhase<'_> {
    /// Does what a hook wished by changing the session's backend: keeps the connection for others, takes another one.
    pub(super) async fn swap(&mut self) -> Result<(), SessionEnd> {
        let wanted = self.client.session.borrow().backend;
        let now = self.server.as_ref().map(|server| server.place);
        if wanted == now {
            self.client.session.borrow_mut().stay();
            return Ok(());
        }
        if let Some(link) = self.server.take() {
            self.client.park(link);
        }
        {
            let mut session = self.client.session.borrow_mut();
            (session.server, session.left) = (None, None);
        }
        let Some(place) = wanted else {
            return Ok(());
        };
        if Box::pin(self.take_idle(place)).await? {
            return Ok(());
        }
        if self.client.thread.settings.account.is_some() {
            if !Box::pin(self.open_in_session(place)).await? {
                self.client.session.borrow_mut().backend = None;
            }
            return Ok(());
        }
        let mut session = self.client.session.borrow_mut();
        session.backend = None;
        let text = format!(
            "proxy.connection.backend_ndx = {}: no idle connection of user {:?} to this backend; only a login opens \
             one, so park more connections first",
            place + 1,
            String::from_utf8_lossy(&session.client.username)
        );
        self.client.log(Level::Critical, &text);
        Ok(())
    }

    /// Makes an idle connection to a backend the session's, with nothing of another session; false if there is none.
    pub(super) async fn take_idle(&mut self, place: usize) -> Result<bool, SessionEnd> {
        loop {
            let client = &*self.client;
            let rank = |link: &Link| link.rank(&client.session.borrow());
            let pool = &client.thread.pool;
            let Some(link) = pool.take_soon(place, client.number, rank).await else {
                return Ok(false);
            };
            let is_own = link.session == client.number;
            let link = if is_own {
                client.in_use(link)
            } else {
                let database = client.session.borrow().client.default_db.clone();
                client.renewed(link, &database).await
            };
            let Some(link) = link else {
                continue;
            };
            client.know_link(&link);
            client.session.borrow_mut().left = None;
            let charset = self.charset();
            let mut sides = self.sides_with(link);
            if !is_own {
                sides.dress(charset).await?;
            }
            sides.server.session = sides.client.number;
            sides.server.fresh = Fresh::No;
            return Ok(true);
        }
    }

    /// Both sides, with this connection from now on.
    pub(super) fn sides_with(&mut self, link: Link) -> Sides<'_> {
        Sides {
            server: self.server.insert(link),
            client: self.client,
            is_answered: self.is_answered,
        }
    }

    /// The character set that the client wants; 0 leaves it to the server.
    pub(super) fn charset(&self) -> u16 {
        self.login.as_ref().map_or(0, |it| it.options.charset)
    }
}

impl ConnectPhase<'_> {
    /// Takes an idle connection of the chosen backend for a client whose login is still to come.
    pub(super) async fn take_idle_for_login(&mut self) -> bool {
        let Some(place) = self.client.session.borrow().backend else {
            return false;
        };
        let fits: fn(Fresh) -> bool = match self.client.thread.settings.account {
            Some(_) => Fresh::is_for_user,
            None => Fresh::is_for_logins,
        };
        let pool = Rc::clone(&self.client.thread.pool);
        loop {
            // One that needs no reset is not that of a session that will want it again.
            let rank = move |link: &Link| match link.fresh {
                Fresh::No => Some(0),
                fresh => fits(fresh).then_some(1),
            };
            let Some(link) = pool.take_soon(place, self.client.number, rank).await else {
                return false;
            };
            let Some(mut link) = self.client.in_use(link) else {
                return false;
            };
            if link.fresh == Fresh::No
                && let Err(why) =
                    session_reset::remove(&mut link, self.client.thread.settings.connect_timeout)
                        .await
            {
                pool.closed(&why);
                continue;
            }
            if fits(link.fresh) {
                self.client.know_link(&link);
                self.client.session.borrow_mut().left = None;
                *self.server = Some(link);
                return true;
            }
            pool.park(link, false);
        }
    }

    /// Whether a new client gets a new connection in place of an idle one: without `COM_CHANGE_USER`, the server could only
    /// be asked to check the client's password on a new one. The challenge of the old one is known to all that have seen it.
    pub(super) fn exchanges_idle(&self) -> bool {
        let settings = &self.client.thread.settings;
        settings.account.is_none() && !settings.pool_changes_user
    }

    /// Closes an idle connection of the chosen backend to which no session will come back; false if there is none at all.
    pub(super) fn give_idle_up(&self) -> bool {
        let Some(place) = self.client.session.borrow().backend else {
            return false;
        };
        let rank = |link: &Link| (link.fresh != Fresh::No).then_some(0);
        let pool = &self.client.thread.pool;
        pool.take(place, self.client.number, rank).is_some() || pool.count_shared(place) > 0
    }
}

impl Client {
    /// A connection without anything of the session that used it last, for this user; `None` if it was closed or has gone
    /// back to the pool.
    pub(super) async fn renewed(&self, link: Link, database: &[u8]) -> Option<Link> {
        let mut link = self.in_use(link)?;
        if link.fresh == Fresh::No
            && let Err(why) =
                session_reset::remove(&mut link, self.thread.settings.connect_timeout).await
        {
            self.thread.pool.closed(&why);
            return None;
        }
        // No command of a server leaves a database.
        if link.fresh.is_for_user() && (!database.is_empty() || link.peer.default_db.is_empty()) {
            return Some(link);
        }
        self.thread.pool.park(link, false);
        None
    }

    /// Counts the session among the clients of the connection's backend.
    fn in_use(&self, mut link: Link) -> Option<Link> {
        if link.used.is_none() {
            link.used = Some(Use::begin(&self.thread.settings.backends, link.place)?);
        }
        Some(link)
    }

    /// Notes for hooks that the session has this connection.
    pub(super) fn know_link(&self, link: &Link) {
        let mut session = self.session.borrow_mut();
        session.backend = Some(link.place);
        session.server = Some(link.peer.clone());
    }

    /// Keeps a connection for other sessions; one that has said something is closed.
    pub(super) fn park(&self, link: Link) {
        if link.wire.has_unread() {
            return;
        }
        let has_no_database = {
            let mut session = self.session.borrow_mut();
            session.server = None;
            session.client.default_db.is_empty()
        };
        let place = link.place;
        // Without an account of the proxy's own, no other connection could serve a client without a database, once another
        // client has chosen one on this.
        let is_needed = has_no_database
            && link.session == self.number
            && self.thread.settings.account.is_none();
        let is_reserved = link.is_spoiled || is_needed;
        if is_reserved || self.thread.pool.count_shared(place) < self.thread.idle_max(place) {
            self.thread.pool.park(link, is_reserved);
        }
    }
}

impl Sides<'_> {
    /// Gives the session's connection, which is as after a reset, the client's database and character set.
    pub(super) async fn dress(&mut self, charset: u16) -> Result<(), SessionEnd> {
        let database = self.client.session.borrow().client.default_db.clone();
        // Also where it is the right one: the reset has taken its character set.
        if !database.is_empty() {
            self.choose_database(&database).await?;
        }
        if charset == 0 {
            return Ok(());
        }
        let statement = format!(
            "SET character_set_client = {charset}, character_set_results = {charset}, \
             collation_connection = {charset}"
        );
        let command = [&[com::QUERY], statement.as_bytes()].concat();
        if is_error(&self.own_command(&command).await?) {
            let text = "the character set of the client could not be set on an idle connection";
            self.client.log(Level::Warning, text);
        }
        Ok(())
    }

    /// Chooses a database on the session's connection; the session ends if that fails, because the client's statements would
    /// run in another one.
    pub(super) async fn choose_database(&mut self, database: &[u8]) -> Result<(), SessionEnd> {
        let command = [&[com::INIT_DB][..], database].concat();
        let answer = self.own_command(&command).await?;
        if is_error(&answer) {
            let name = String::from_utf8_lossy(database);
            let text = format!("the database {name} could not be chosen");
            return Err(self.client.refuse_with(answer, text).await);
        }
        self.change_server_peer(|peer| peer.default_db = database.to_vec());
        Ok(())
    }

    /// Sends a command of the proxy's own, of whose answer the client sees nothing.
    async fn own_command(&mut self, payload: &[u8]) -> Result<Vec<u8>, SessionEnd> {
        self.send_to_server(payload, 0).await?;
        self.server_packet().await
    }
}

fn is_error(packet: &[u8]) -> bool {
    packet.first() == Some(&0xff)
}
