//! Idle connections to backends, kept for other sessions of the same event thread.

use std::{
    cell::RefCell,
    future::{Future, poll_fn},
    pin::pin,
    rc::Rc,
    task::{Poll, Waker},
};

use crate::{backends::Idleness, link::Link};

/// The idle connections of one event thread. A socket belongs to its thread's event loop, so threads do not share them.
#[derive(Default)]
pub(crate) struct Pool {
    idle: RefCell<Vec<Rc<Idle>>>,
}

struct Idle {
    place: usize,
    link: RefCell<Option<Link>>,
    waker: RefCell<Option<Waker>>,
    /// Counts the connection.
    _idleness: Option<Idleness>,
}

impl Pool {
    /// Keeps a connection until a session takes it or the server closes it.
    pub(crate) fn park(self: &Rc<Self>, mut link: Link) {
        let used = link.used.take();
        let idle = Rc::new(Idle {
            place: link.place,
            link: RefCell::new(Some(link)),
            waker: RefCell::default(),
            _idleness: used.as_ref().map(Idleness::after),
        });
        self.idle.borrow_mut().push(Rc::clone(&idle));
        let pool = Rc::clone(self);
        reactor::spawn(async move {
            // A server says nothing to an idle client, except that it closes the connection.
            idle.until_readable_or_taken().await;
            pool.idle
                .borrow_mut()
                .retain(|other| !Rc::ptr_eq(other, &idle));
        });
    }

    /// Number of idle connections to a backend, of this user; of all users if it is empty.
    pub(crate) fn count(&self, place: usize, user: &[u8]) -> usize {
        let idle = self.idle.borrow();
        let of_user = |idle: &&Rc<Idle>| {
            idle.place == place
                && (idle.link.borrow().as_ref())
                    .is_some_and(|link| user.is_empty() || link.peer.username == user)
        };
        idle.iter().filter(of_user).count()
    }

    /// Takes the connection to a backend with the highest rank; `None` of `rank` is one that does not fit.
    pub(crate) fn take(&self, place: usize, rank: impl Fn(&Link) -> Option<u32>) -> Option<Link> {
        let mut all = self.idle.borrow_mut();
        let ranks = all
            .iter()
            .enumerate()
            .filter(|(_, idle)| idle.place == place);
        let ranks = ranks.filter_map(|(at, idle)| {
            let rank = rank(idle.link.borrow().as_ref()?)?;
            Some((rank, at))
        });
        let (_, at) = ranks.max_by_key(|(rank, _)| *rank)?;
        let idle = all.swap_remove(at);
        drop(all);
        let link = idle.link.take();
        if let Some(waker) = idle.waker.take() {
            waker.wake();
        }
        link
    }
}

impl Idle {
    async fn until_readable_or_taken(&self) {
        poll_fn(|context| {
            let mut link = self.link.borrow_mut();
            let Some(link) = &mut *link else {
                return Poll::Ready(());
            };
            *self.waker.borrow_mut() = Some(context.waker().clone());
            loop {
                {
                    let readable = pin!(link.wire.readable());
                    if readable.poll(context).is_pending() {
                        return Poll::Pending;
                    }
                }
                // TLS has messages of its own, which are no data.
                if !matches!(link.wire.try_receive(1), Ok(false)) {
                    return Poll::Ready(());
                }
            }
        })
        .await;
    }
}
