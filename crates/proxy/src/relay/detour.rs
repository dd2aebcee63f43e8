//! A single command's way to another backend and back.

use super::{command_phase::CommandPhase, session_end::SessionEnd};
use crate::{Level, Peer, Route, link::Link, metrics::Change};

/// The session's own connection while a command takes another one.
pub(super) struct SuspendedConnection {
    link: Option<Link>,
    peer: Option<Peer>,
    backend: Option<usize>,
    /// The status of its connection.
    status: (bool, bool),
}

impl CommandPhase<'_> {
    /// Takes a connection to another backend for one command; `None` if the command stays, which the rule counts if no
    /// connection can be had.
    pub(super) async fn leave_home(
        &mut self,
        route: Route,
        changed: Option<usize>,
    ) -> Result<Option<SuspendedConnection>, SessionEnd> {
        if self.server.as_ref().map(|server| server.place) == Some(route.backend) {
            return Ok(None);
        }
        let home = {
            let mut session = self.client.session.borrow_mut();
            SuspendedConnection {
                link: self.server.take(),
                peer: session.server.take(),
                backend: session.backend,
                status: (session.in_transaction, session.auto_commit),
            }
        };
        match self.have_link(route.backend).await {
            Ok(true) => {
                if let Some(place) = changed {
                    let metrics = &self.client.thread.metrics;
                    metrics.changes.count(place, Change::Routed);
                }
                return Ok(Some(home));
            }
            Ok(false) => {}
            Err(ended @ (SessionEnd::Client(_) | SessionEnd::ClientLeft)) => return Err(ended),
            Err(ended) => {
                let text = format!("a connection for a routed statement cannot be used: {ended}");
                self.client.log(Level::Warning, &text);
            }
        }
        *self.server = None;
        self.settle(home);
        route.rule.drop_one();
        Ok(None)
    }

    /// Makes an idle connection the session's, with its database; without one, opens one of the proxy's own login. False if
    /// none can be had.
    async fn have_link(&mut self, place: usize) -> Result<bool, SessionEnd> {
        if !Box::pin(self.take_idle(place)).await? {
            // Without an account only a client's own login opens a connection.
            return Box::pin(self.open_in_session(place)).await;
        }
        let database = self.client.session.borrow().client.default_db.clone();
        if let Some(mut sides) = self.sides()
            && sides.server.peer.default_db != database
        {
            sides.choose_database(&database).await?;
        }
        Ok(true)
    }

    /// Goes back to the session's own connection; the other one is kept for further commands, unless the statement has left
    /// a transaction open there.
    pub(super) fn return_home(&mut self, home: SuspendedConnection) {
        let is_clean = self.client.session.borrow().is_between_transactions();
        if let Some(link) = self.server.take().filter(|_| is_clean) {
            self.client.park(link);
        }
        self.settle(home);
    }

    fn settle(&mut self, home: SuspendedConnection) {
        *self.server = home.link;
        let mut session = self.client.session.borrow_mut();
        session.server = home.peer;
        session.backend = home.backend;
        (session.in_transaction, session.auto_commit) = home.status;
    }
}
