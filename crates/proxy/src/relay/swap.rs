//! Connections of the pool: kept for other sessions, and taken by this one.

use protocol::relay::com;

use super::{Ended, Relay};
use crate::{Level, backends::Use, leftovers, link::Link, survivors::Fresh};

impl Relay {
    /// Does what a hook wished by changing the session's backend: keeps the connection for others, takes another one.
    pub(super) async fn swap(&mut self) -> Result<(), Ended> {
        let wanted = self.session.borrow().backend;
        let now = self.server.as_ref().map(|server| server.place);
        if wanted == now {
            self.session.borrow_mut().stay();
            return Ok(());
        }
        if let Some(link) = self.server.take() {
            self.park(link);
        }
        {
            let mut session = self.session.borrow_mut();
            (session.server, session.left) = (None, None);
        }
        let Some(place) = wanted else {
            return Ok(());
        };
        if Box::pin(self.take_idle(place)).await? {
            return Ok(());
        }
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
        Ok(())
    }

    /// Makes an idle connection to a backend the session's, with nothing of another session; false if there is none.
    pub(super) async fn take_idle(&mut self, place: usize) -> Result<bool, Ended> {
        loop {
            let link = {
                let session = std::rc::Rc::clone(&self.session);
                let rank = move |link: &Link| link.rank(&session.borrow());
                self.thread.pool.take_soon(place, self.number, rank).await
            };
            let Some(link) = link else {
                return Ok(false);
            };
            let is_own = link.session == self.number;
            let link = if is_own {
                self.in_use(link)
            } else {
                let database = self.session.borrow().client.default_db.clone();
                self.renewed(link, &database).await
            };
            let Some(link) = link else {
                continue;
            };
            self.use_link(link);
            if !is_own {
                self.dress().await?;
            }
            if let Some(server) = &mut self.server {
                server.session = self.number;
                server.fresh = Fresh::No;
            }
            return Ok(true);
        }
    }

    /// Takes an idle connection of the chosen backend for a client whose login is still to come.
    pub(super) async fn take_idle_for_login(&mut self) -> bool {
        let Some(place) = self.session.borrow().backend else {
            return false;
        };
        let is_relayed = self.thread.settings.account.is_none();
        let fits = move |fresh: Fresh| {
            if is_relayed {
                fresh.is_for_logins()
            } else {
                fresh.is_for_user()
            }
        };
        loop {
            // One that needs no reset is not that of a session that will want it again.
            let rank = move |link: &Link| match link.fresh {
                Fresh::No => Some(0),
                fresh => fits(fresh).then_some(1),
            };
            let link = self.thread.pool.take_soon(place, self.number, rank).await;
            let Some(link) = link else {
                return false;
            };
            let Some(mut link) = self.in_use(link) else {
                return false;
            };
            if link.fresh == Fresh::No
                && let Err(why) =
                    leftovers::remove(&mut link, self.thread.settings.connect_timeout).await
            {
                self.thread.pool.closed(&why);
                continue;
            }
            if fits(link.fresh) {
                self.use_link(link);
                return true;
            }
            self.thread.pool.park(link, false);
        }
    }

    /// Whether a new client gets a new connection in place of an idle one: without `COM_CHANGE_USER`, the server could only
    /// be asked to check the client's password on a new one. The challenge of the old one is known to all that have seen it.
    pub(super) fn exchanges_idle(&self) -> bool {
        let settings = &self.thread.settings;
        settings.account.is_none() && !settings.pool_changes_user
    }

    /// Closes an idle connection of the chosen backend to which no session will come back; false if there is none at all.
    pub(super) fn give_idle_up(&self) -> bool {
        let Some(place) = self.session.borrow().backend else {
            return false;
        };
        let rank = |link: &Link| (link.fresh != Fresh::No).then_some(0);
        let is_closed = self.thread.pool.take(place, self.number, rank).is_some();
        is_closed || self.thread.pool.count_shared(place) > 0
    }

    /// A connection without anything of the session that used it last, for this user; `None` if it was closed or has gone
    /// back to the pool.
    pub(super) async fn renewed(&mut self, link: Link, database: &[u8]) -> Option<Link> {
        let mut link = self.in_use(link)?;
        if link.fresh == Fresh::No
            && let Err(why) =
                leftovers::remove(&mut link, self.thread.settings.connect_timeout).await
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

    /// Makes a connection the session's.
    fn use_link(&mut self, link: Link) {
        let mut session = self.session.borrow_mut();
        session.backend = Some(link.place);
        session.server = Some(link.peer.clone());
        session.left = None;
        self.server = Some(link);
    }

    /// Keeps a connection for other sessions; one without a login is closed, because no session could use it.
    pub(super) fn park(&mut self, link: Link) {
        if !link.is_logged_in || link.wire.has_unread() {
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

    /// Gives the session's connection, which is as after a reset, the client's database and character set.
    pub(super) async fn dress(&mut self) -> Result<(), Ended> {
        let database = self.session.borrow().client.default_db.clone();
        // Also where it is the right one: the reset has taken its character set.
        if !database.is_empty() {
            self.choose_database(&database).await?;
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

    /// Chooses a database on the session's connection; the session ends if that fails, because the client's statements would
    /// run in another one.
    pub(super) async fn choose_database(&mut self, database: &[u8]) -> Result<(), Ended> {
        let command = [&[com::INIT_DB][..], database].concat();
        let answer = self.own_command(&command).await?;
        if is_error(&answer) {
            let name = String::from_utf8_lossy(database);
            let text = format!("the database {name} could not be chosen");
            return Err(self.refuse(answer, text).await);
        }
        self.change_server_peer(|peer| peer.default_db = database.to_vec());
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
