//! A socket as the poller knows it: its readiness and who waits for it.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    io,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use mio::{Interest, Token, event::Event};

use crate::executor::Inner;

/// What the last events said about one socket.
#[derive(Default)]
pub(crate) struct Readiness {
    readable: Direction,
    writable: Direction,
    /// The peer closed: a read will not block any more, whatever the last read returned.
    closed: Cell<bool>,
}

/// One direction of a socket.
#[derive(Default)]
struct Direction {
    ready: Cell<bool>,
    /// Somebody waits.
    awaited: Cell<bool>,
    /// Who waits, or waited last: mostly the same task again, so that its waker need not be cloned.
    waker: RefCell<Option<Waker>>,
}

impl Direction {
    fn wake(&self) {
        self.ready.set(true);
        if !self.awaited.replace(false) {
            return;
        }
        // Nothing is borrowed while a foreign waker does what it likes.
        let waker = self.waker.take();
        if let Some(waker) = waker {
            waker.wake_by_ref();
            self.waker.borrow_mut().get_or_insert(waker);
        }
    }

    fn wait(&self, waker: &Waker) {
        self.awaited.set(true);
        let mut kept = self.waker.borrow_mut();
        match &mut *kept {
            Some(kept) => kept.clone_from(waker),
            None => *kept = Some(waker.clone()),
        }
    }
}

impl Readiness {
    pub(crate) fn update(&self, event: &Event) {
        // An error is found by the next read or write.
        if event.is_read_closed() || event.is_error() {
            self.closed.set(true);
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.readable.wake();
        }
        if event.is_writable() || event.is_write_closed() || event.is_error() {
            self.writable.wake();
        }
    }
}

/// A socket of one of several kinds.
pub(crate) trait PolledSocket {
    /// It as the poller takes it.
    fn source(&mut self) -> &mut dyn mio::event::Source;
}

/// A socket registered with the reactor that was running when it was made.
pub(crate) struct Source<S: PolledSocket> {
    pub(crate) io: S,
    token: Token,
    readiness: Rc<Readiness>,
    reactor: Rc<Inner>,
}

impl<S: PolledSocket> Source<S> {
    pub(crate) fn register(mut io: S, interest: Interest) -> io::Result<Self> {
        let reactor = Inner::current();
        let readiness = Rc::new(Readiness::default());
        let token = Token(reactor.sources.borrow_mut().insert(Rc::clone(&readiness)));
        if let Err(error) = reactor.registry.register(io.source(), token, interest) {
            reactor.sources.borrow_mut().remove(token.0);
            return Err(error);
        }
        Ok(Self {
            io,
            token,
            readiness,
            reactor,
        })
    }

    /// Changes what the poller reports; what is ready now is reported again.
    pub(crate) fn set_interest(&mut self, interest: Interest) -> io::Result<()> {
        self.reactor
            .registry
            .reregister(self.io.source(), self.token, interest)
    }

    /// Waits until a read may find something.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        poll_fn(|context| {
            if self.readiness.closed.get() {
                Poll::Ready(Ok(()))
            } else {
                self.poll_side(&self.readiness.readable, context)
            }
        })
        .await
    }

    /// Waits until a write may find room; needs interest in writing.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        poll_fn(|context| self.poll_side(&self.readiness.writable, context)).await
    }

    /// The socket holds nothing more to read for now: the next event will tell.
    pub(crate) fn drained(&self) {
        self.readiness.readable.ready.set(false);
    }

    /// A read blocked although an event had promised otherwise.
    pub(crate) fn read_blocked(&self) {
        self.readiness.closed.set(false);
        self.drained();
    }

    pub(crate) fn write_blocked(&self) {
        self.readiness.writable.ready.set(false);
    }

    fn poll_side(&self, side: &Direction, context: &Context<'_>) -> Poll<io::Result<()>> {
        if side.ready.get() {
            return Poll::Ready(Ok(()));
        }
        if !self.reactor.is_current() {
            return Poll::Ready(Err(io::Error::other(
                "the socket belongs to another reactor",
            )));
        }
        side.wait(context.waker());
        Poll::Pending
    }
}

impl<S: PolledSocket> Drop for Source<S> {
    fn drop(&mut self) {
        // The kernel forgets the socket when it is closed, so a failure changes nothing.
        let _ = self.reactor.registry.deregister(self.io.source());
        self.reactor.sources.borrow_mut().remove(self.token.0);
    }
}
