//! A socket registered with the poller: its readiness and the tasks waiting for it.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    io,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use mio::{Interest, Token, event::Event};

use crate::executor::Inner;

/// The readiness of a socket, according to the last events.
#[derive(Default)]
pub(crate) struct Readiness {
    readable: Direction,
    writable: Direction,
    /// The peer closed: a read will not block any more, regardless of the last read.
    closed: Cell<bool>,
}

/// One direction of a socket.
#[derive(Default)]
struct Direction {
    ready: Cell<bool>,
    awaited: Cell<bool>,
    /// Waker of the waiting task, or of the last one: usually the same task again, so that its waker need not be
    /// cloned.
    waker: RefCell<Option<Waker>>,
}

impl Direction {
    fn wake(&self) {
        self.ready.set(true);
        if !self.awaited.replace(false) {
            return;
        }
        // The borrow ends before an unknown waker runs.
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
        // The next read or write returns the error.
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

    /// Changes the events that the poller reports; current readiness is reported again.
    pub(crate) fn set_interest(&mut self, interest: Interest) -> io::Result<()> {
        self.reactor
            .registry
            .reregister(self.io.source(), self.token, interest)
    }

    /// Waits until a read may succeed.
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

    /// Waits until the peer has closed the connection or its sending side; unread data may be left.
    pub(crate) async fn closed(&self) -> io::Result<()> {
        poll_fn(|context| {
            if self.readiness.closed.get() {
                return Poll::Ready(Ok(()));
            }
            if !self.reactor.is_current() {
                return Poll::Ready(Err(foreign()));
            }
            self.readiness.readable.wait(context.waker());
            Poll::Pending
        })
        .await
    }

    /// Waits until a write may succeed; requires interest in writing.
    pub(crate) async fn writable(&self) -> io::Result<()> {
        poll_fn(|context| self.poll_side(&self.readiness.writable, context)).await
    }

    /// The socket has no more data to read; the next event reports new data.
    pub(crate) fn drained(&self) {
        self.readiness.readable.ready.set(false);
    }

    /// A read blocked although an event had reported readiness.
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
            return Poll::Ready(Err(foreign()));
        }
        side.wait(context.waker());
        Poll::Pending
    }
}

fn foreign() -> io::Error {
    io::Error::other("the socket belongs to another reactor")
}

impl<S: PolledSocket> Drop for Source<S> {
    fn drop(&mut self) {
        // The kernel forgets the socket when it is closed, so a failure changes nothing.
        let _ = self.reactor.registry.deregister(self.io.source());
        self.reactor.sources.borrow_mut().remove(self.token.0);
    }
}
