//! One event loop: connects its users, drives them, and delivers its figures once per interval.

use std::{
    cell::{Cell as StdCell, RefCell},
    rc::Rc,
    time::Duration,
};

use reactor::{Instant, Options, Reactor};

use crate::{outcome::UserTotal, pace::Pace, recorder::Recorder, timeline::Timeline, user::User};

mod connecting;
mod message;
mod one_user;
mod retry;
mod shared_state;
mod slot;
mod waiting_users;

pub(crate) use message::Message;
use one_user::EndReason;
use shared_state::SharedState;
pub(crate) use shared_state::Task;
use slot::UserSlot;
pub(crate) use slot::{GroupOffsets, UserAssignment};
use waiting_users::WaitingUsers;

/// Runs one event loop to its end.
pub(crate) fn run<U: User + 'static>(
    task: Task,
    options: Options,
    users: Vec<UserAssignment<U>>,
) -> std::io::Result<()> {
    let reactor = Reactor::with_options(options)?;
    reactor.run(async move {
        let connected = connecting::connect_all(&task.messages, &task.timeline, users).await;
        task.send(Message::Ready);
        let Some(start) = wait_for_start(&task.timeline).await else {
            return;
        };
        let shared = Rc::new(SharedState {
            recorder: RefCell::new(Recorder::new(task.shape)),
            users: RefCell::new(vec![UserTotal::default(); connected.len()]),
            pace: Pace::new(
                &task.arrivals,
                task.timeline.stages(),
                task.seed,
                task.share,
                connected.len(),
                start,
            ),
            start,
            from: StdCell::new(start),
            last_end: StdCell::new(start),
            running: StdCell::new(connected.len() as u64),
            finishing: StdCell::new(0),
            waiting: WaitingUsers::default(),
            begun_anew: StdCell::new(0),
            task,
        });
        for (slot, dealt) in connected.into_iter().enumerate() {
            let UserAssignment {
                offsets,
                place,
                user,
            } = dealt;
            let slot = UserSlot {
                offsets,
                slot,
                place,
            };
            reactor::spawn(live(Rc::clone(&shared), slot, user));
        }
        shared.keep_time().await;
    });
    Ok(())
}

/// The start time from the controller; `None` when it cancelled the load.
async fn wait_for_start(timeline: &Timeline) -> Option<Instant> {
    loop {
        if timeline.is_over(reactor::now()) {
            return None;
        }
        if let Some(start) = timeline.start() {
            reactor::sleep_until(start).await;
            return Some(start);
        }
        reactor::sleep(Duration::from_millis(1)).await;
    }
}

/// One user from its first operation to its last.
async fn live<U: User>(shared: Rc<SharedState>, slot: UserSlot, mut user: U) {
    if let EndReason::Done { last } = shared.drive(slot, &mut user).await {
        shared.finish_user(slot, last, &mut user).await;
    }
    user.disconnect().await;
    shared.running.set(shared.running.get() - 1);
}

#[cfg(test)]
mod tests;
