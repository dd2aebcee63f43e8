//! Opens the connections of an event loop's users, several at a time.

use std::{
    cell::{Cell as StdCell, RefCell},
    collections::VecDeque,
    rc::Rc,
    time::Duration,
};

use reactor::channel;

use super::{message::Message, slot::UserAssignment};
use crate::{
    timeline::Timeline,
    user::{Failure, User},
};

/// Connections that one loop opens at the same time: a server's backlog is short.
const CONNECTING_AT_ONCE: usize = 32;
/// Attempts to open one connection before it counts as failed.
const CONNECT_ATTEMPTS: u32 = 3;
/// Time limit for all attempts together, including a user's first steps over a new connection, where it prepares its
/// statements.
const CONNECT_LIMIT: Duration = Duration::from_secs(60);

/// Opens the connections of all users, several at a time; those that fail after all attempts are left out.
pub(super) async fn connect_all<U: User + 'static>(
    messages: &channel::Sender<Message>,
    timeline: &Timeline,
    users: Vec<UserAssignment<U>>,
) -> Vec<UserAssignment<U>> {
    let total = users.len();
    let waiting = Rc::new(RefCell::new(VecDeque::from(users)));
    let connected = Rc::new(RefCell::new(Vec::with_capacity(total)));
    let open = Rc::new(StdCell::new(CONNECTING_AT_ONCE.min(total)));
    for _ in 0..open.get() {
        let (waiting, connected, open) =
            (Rc::clone(&waiting), Rc::clone(&connected), Rc::clone(&open));
        let messages = messages.clone();
        reactor::spawn(async move {
            loop {
                let next = waiting.borrow_mut().pop_front();
                let Some(mut dealt) = next else {
                    break;
                };
                let result = connect_in_time(&mut dealt.user).await;
                let is_open = result.is_ok();
                let _ = messages.send(Message::Connect {
                    group: dealt.offsets.group,
                    result,
                });
                if is_open {
                    connected.borrow_mut().push(dealt);
                }
            }
            open.set(open.get() - 1);
        });
    }
    // A cancelled load does not wait.
    while open.get() > 0 && !timeline.is_over(reactor::now()) {
        reactor::sleep(Duration::from_millis(1)).await;
    }
    connected.take()
}

/// Opens one connection, unless that takes too long.
async fn connect_in_time<U: User>(user: &mut U) -> Result<Duration, Failure> {
    match reactor::timeout(CONNECT_LIMIT, connect(user)).await {
        Ok(result) => result,
        Err(reactor::Elapsed) => Err(Failure::from(protocol::Error::NoAnswer {
            after: CONNECT_LIMIT,
        })),
    }
}

/// Opens one connection; returns the time of the successful attempt.
async fn connect<U: User>(user: &mut U) -> Result<Duration, Failure> {
    let mut attempt = 1;
    loop {
        let begin = reactor::now();
        match user.connect().await {
            Ok(()) => return Ok(reactor::now() - begin),
            // The server refused: a retry changes nothing, unless it was out of connections (1040).
            Err(failure) if failure.number != 0 && failure.number != 1040 => return Err(failure),
            Err(failure) if attempt == CONNECT_ATTEMPTS => return Err(failure),
            Err(_) => reactor::sleep(Duration::from_millis(50) * attempt).await,
        }
        attempt += 1;
    }
}
