//! Idle connections to backends, kept for other sessions of the same event thread.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    sync::Arc,
    task::{Poll, Waker},
    time::Duration,
};

use crate::{
    Level, Log, Peer, Session, SharedSession, backends::Idleness, link::Link, session_reset,
    unreset_state::Fresh,
};

/// The idle connections of one event thread, those that wait longest first. A socket belongs to its thread's event loop, so
/// threads do not share them.
pub(crate) struct Pool {
    idle: RefCell<Vec<Rc<Idle>>>,
    /// The session whose hook runs.
    asking: RefCell<Option<SharedSession>>,
    /// Sessions that wait for a connection that is being reset.
    waiting: RefCell<Vec<Waker>>,
    /// Sessions of each user that have logged in.
    users: RefCell<HashMap<Vec<u8>, usize>>,
    /// Time limit for the reset of a connection.
    limit: Duration,
    log: Arc<Log>,
}

struct Idle {
    place: usize,
    user: Vec<u8>,
    /// The session that used it last.
    session: u64,
    /// Only for this session, as long as it lives.
    is_reserved: Cell<bool>,
    /// The session has ended, and what it left has to be removed.
    is_left: Cell<bool>,
    /// `None` while it is being reset, and when it was taken.
    link: RefCell<Option<Link>>,
    waker: RefCell<Option<Waker>>,
    /// Counts the connection.
    _idleness: Option<Idleness>,
}

/// A session of a user, which is counted while this value lives.
pub(crate) struct UserCount {
    pool: Rc<Pool>,
    user: Vec<u8>,
}

impl Drop for UserCount {
    fn drop(&mut self) {
        let mut users = self.pool.users.borrow_mut();
        if let Some(count) = users.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                users.remove(&self.user);
            }
        }
    }
}

/// What an idle connection waits for.
enum Event {
    /// It was taken, or the server has closed it.
    Gone,
    /// Its session has ended.
    Left,
}

impl Pool {
    /// An empty pool, whose connections are reset within this time.
    pub(crate) fn new(limit: Duration, log: Arc<Log>) -> Self {
        Self {
            idle: RefCell::default(),
            asking: RefCell::default(),
            waiting: RefCell::default(),
            users: RefCell::default(),
            limit,
            log,
        }
    }

    /// Keeps a connection until a session takes it or the server closes it; a reserved one is for its own session only.
    pub(crate) fn park(self: &Rc<Self>, mut link: Link, is_reserved: bool) {
        let used = link.used.take();
        let idle = Rc::new(Idle {
            place: link.place,
            user: link.peer.username.clone(),
            session: link.session,
            is_reserved: Cell::new(is_reserved),
            is_left: Cell::new(false),
            link: RefCell::new(Some(link)),
            waker: RefCell::default(),
            _idleness: used.as_ref().map(Idleness::after),
        });
        self.idle.borrow_mut().push(Rc::clone(&idle));
        let pool = Rc::clone(self);
        reactor::spawn(async move {
            while let Event::Left = idle.next().await {
                if !pool.reset(&idle).await {
                    break;
                }
            }
            pool.idle
                .borrow_mut()
                .retain(|other| !Rc::ptr_eq(other, &idle));
            pool.wake();
        });
    }

    /// Removes what a session that has ended left on a connection; false if the connection has to be closed.
    async fn reset(&self, idle: &Idle) -> bool {
        idle.is_left.set(false);
        let Some(mut link) = idle.link.take() else {
            return false;
        };
        let removed = session_reset::remove(&mut link, self.limit).await;
        let is_kept = removed.is_ok();
        match removed {
            Ok(()) => *idle.link.borrow_mut() = Some(link),
            Err(why) => self.closed(&why),
        }
        self.wake();
        is_kept
    }

    /// Notes why a connection was closed instead of shared.
    pub(crate) fn closed(&self, why: &session_reset::ReuseObstacle) {
        let text = format!("an idle connection is closed instead of shared: {why}");
        self.log.write(Level::Info, &text);
    }

    /// After the end of a session: its connections become those of all, without anything that it left. `most` is the number
    /// of idle connections of a backend at most.
    pub(crate) fn session_ended(&self, session: u64, most: impl Fn(usize) -> usize) {
        let own: Vec<Rc<Idle>> = {
            let all = self.idle.borrow();
            let own = all.iter().filter(|idle| idle.session == session);
            own.cloned().collect()
        };
        for idle in own {
            let is_too_much =
                idle.is_reserved.replace(false) && self.count_shared(idle.place) > most(idle.place);
            let is_spoiled = (idle.link.borrow().as_ref()).is_some_and(|link| link.is_spoiled);
            if is_too_much || is_spoiled {
                idle.link.take();
            } else {
                let link = idle.link.borrow();
                let is_used = link.as_ref().is_some_and(|link| link.fresh == Fresh::No);
                idle.is_left.set(is_used);
            }
            idle.wake();
        }
    }

    /// Counts a session that has logged in by this user.
    pub(crate) fn count_user(self: &Rc<Self>, user: Vec<u8>) -> UserCount {
        *self.users.borrow_mut().entry(user.clone()).or_default() += 1;
        UserCount {
            pool: Rc::clone(self),
            user,
        }
    }

    /// Whether sessions of a user live and the pool has no connection for them, to this backend.
    pub(crate) fn is_needed(&self, place: usize, user: &[u8]) -> bool {
        let idle = self.idle.borrow();
        let has_other =
            |idle: &Rc<Idle>| idle.place == place && idle.user == user && !idle.is_reserved.get();
        self.users.borrow().contains_key(user) && !idle.iter().any(has_other)
    }

    /// Number of idle connections to a backend that are not reserved for a session.
    pub(crate) fn count_shared(&self, place: usize) -> usize {
        let idle = self.idle.borrow();
        let shared = |idle: &&Rc<Idle>| idle.place == place && !idle.is_reserved.get();
        idle.iter().filter(shared).count()
    }

    /// From now on the hooks of this session ask.
    pub(crate) fn ask_for(&self, session: &SharedSession) {
        *self.asking.borrow_mut() = Some(Rc::clone(session));
    }

    /// Number of idle connections to a backend, of this user, that the asking session could take; of all users if it is
    /// empty.
    pub(crate) fn count(&self, place: usize, user: &[u8]) -> usize {
        let asking = self.asking.borrow();
        let session = asking.as_ref().and_then(|it| it.try_borrow().ok());
        let all = self.idle.borrow();
        let counts = |idle: &&Rc<Idle>| {
            if idle.place != place || !(user.is_empty() || idle.user == user) {
                return false;
            }
            let own = session.as_ref().map_or(0, |session| session.number);
            if idle.is_reserved.get() {
                return idle.session == own;
            }
            match (&session, &*idle.link.borrow()) {
                // Of another user, or before the login: whether it fits is seen later.
                (Some(session), Some(link))
                    if session.form.is_some() && session.client.username == idle.user =>
                {
                    link.rank(session).is_some()
                }
                // One that is being reset.
                _ => true,
            }
        };
        all.iter().filter(counts).count()
    }

    /// The server's end of the connection that the asking session would get.
    pub(crate) fn preview(&self, place: usize) -> Option<Peer> {
        let asking = self.asking.borrow();
        let session = asking.as_ref()?.try_borrow().ok()?;
        let all = self.idle.borrow();
        let at = best(&all, place, session.number, |link| link.rank(&session))?;
        let link = all[at].link.borrow();
        Some(link.as_ref()?.peer.clone())
    }

    /// Takes the connection to a backend with the highest rank, of several the one that has waited longest; `None` of
    /// `rank` is one that does not fit.
    pub(crate) fn take(
        &self,
        place: usize,
        session: u64,
        rank: impl Fn(&Link) -> Option<u32>,
    ) -> Option<Link> {
        let mut all = self.idle.borrow_mut();
        let at = best(&all, place, session, rank)?;
        let idle = all.remove(at);
        drop(all);
        let link = idle.link.take();
        idle.wake();
        link
    }

    /// The same, after those that are being reset if there is no other.
    pub(crate) async fn take_soon(
        &self,
        place: usize,
        session: u64,
        rank: impl Fn(&Link) -> Option<u32>,
    ) -> Option<Link> {
        poll_fn(|context| {
            if let Some(link) = self.take(place, session, &rank) {
                return Poll::Ready(Some(link));
            }
            let all = self.idle.borrow();
            let is_reset = |idle: &Rc<Idle>| {
                idle.place == place && !idle.is_reserved.get() && idle.link.borrow().is_none()
            };
            if !all.iter().any(is_reset) {
                return Poll::Ready(None);
            }
            self.waiting.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await
    }

    fn wake(&self) {
        for waker in self.waiting.take() {
            waker.wake();
        }
    }
}

/// The place of the connection to a backend that a session gets.
fn best(
    all: &[Rc<Idle>],
    place: usize,
    session: u64,
    rank: impl Fn(&Link) -> Option<u32>,
) -> Option<usize> {
    let mut best: Option<(u32, usize)> = None;
    for (at, idle) in all.iter().enumerate() {
        if idle.place != place || idle.is_reserved.get() && idle.session != session {
            continue;
        }
        let rank = idle.link.borrow().as_ref().and_then(&rank);
        if let Some(rank) = rank
            && best.is_none_or(|(most, _)| rank > most)
        {
            best = Some((rank, at));
        }
    }
    best.map(|(_, at)| at)
}

impl Link {
    /// How well an idle connection fits a session that has logged in: its own first, then one that needs no reset, then one
    /// with the session's database; `None` if it does not fit.
    pub(crate) fn rank(&self, session: &Session) -> Option<u32> {
        let form = session.form?;
        let is_own = self.session == session.number;
        let (mine, its) = (&session.client.default_db, &self.peer.default_db);
        let fits = self.offer.is_none()
            && self.peer.username == session.client.username
            && self.has_form(form)
            // No command of a server leaves a database.
            && (!mine.is_empty() || its.is_empty())
            && (is_own || self.fresh == Fresh::No || self.fresh.is_for_user());
        let rank =
            4 * u32::from(is_own) + 2 * u32::from(self.fresh != Fresh::No) + u32::from(mine == its);
        fits.then_some(rank)
    }
}

impl Idle {
    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    async fn next(&self) -> Event {
        poll_fn(|context| {
            let mut link = self.link.borrow_mut();
            let Some(link) = &mut *link else {
                return Poll::Ready(Event::Gone);
            };
            if self.is_left.get() {
                return Poll::Ready(Event::Left);
            }
            *self.waker.borrow_mut() = Some(context.waker().clone());
            loop {
                {
                    let readable = pin!(link.wire.readable());
                    if readable.poll(context).is_pending() {
                        return Poll::Pending;
                    }
                }
                // A server says nothing to an idle client, except that it closes the connection; TLS has messages of its
                // own, which are no data.
                if !matches!(link.wire.try_receive(1), Ok(false)) {
                    return Poll::Ready(Event::Gone);
                }
            }
        })
        .await
    }
}
