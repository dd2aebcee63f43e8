//! The thread that receives from the other side, apart from who answers: only so the times at which something came are right.

use std::{sync::mpsc::SyncSender, thread, time::Duration};

use reactor::{Instant, system_now, thread_cpu_time};
use serde::de::DeserializeOwned;

use crate::{
    message::read,
    wire::{Input, WireError},
};

/// Who says nothing for so long is gone: the client asks for the time every second, and the observer answers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// Messages that wait for who answers. One who sends more than is answered finds that its lines are taken no more.
pub(crate) const WAITING_AT_MOST: usize = 8;

/// What was received.
pub(crate) struct Received<M> {
    /// The message, or why there will be none any more.
    pub(crate) message: Result<M, WireError>,
    /// When it came.
    pub(crate) at: Instant,
    /// CPU time of receiving so far.
    pub(crate) cpu: Duration,
}

/// Receives until the end, or until nobody wants to know any more.
pub(crate) fn receive<M, E>(mut input: Input, tell: SyncSender<E>, event: fn(Received<M>) -> E)
where
    M: DeserializeOwned + 'static,
    E: Send + 'static,
{
    thread::spawn(move || {
        loop {
            let line = input.line(PATIENCE);
            let at = system_now();
            let message = line.and_then(|line| read(&line));
            let is_over = message.is_err();
            let received = Received {
                message,
                at,
                cpu: thread_cpu_time(),
            };
            if tell.send(event(received)).is_err() || is_over {
                return;
            }
        }
    });
}
