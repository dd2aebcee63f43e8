//! The thread that only receives from the other side, so that the arrival times are accurate.

use std::{thread, time::Duration};

use reactor::{Instant, channel::Sender, system_now, thread_cpu_time};
use serde::de::DeserializeOwned;

use crate::{
    message::read,
    wire::{Input, WireError},
};

/// Timeout after which a silent peer is considered lost: the client sends a ping every second, and the observer
/// answers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// Maximum number of messages that wait to be processed. Further lines of a faster sender are not read until then.
pub(crate) const WAITING_AT_MOST: usize = 8;

pub(crate) struct Received<M> {
    /// The message, or the reason why there will be no more.
    pub(crate) message: Result<M, WireError>,
    pub(crate) at: Instant,
    /// CPU time used for receiving so far.
    pub(crate) cpu: Duration,
}

/// Receives until the connection ends or the channel is closed.
pub(crate) fn receive<M, E>(mut input: Input, tell: Sender<E>, event: fn(Received<M>) -> E)
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
