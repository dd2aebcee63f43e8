//! Drives a load: one thread per event loop, and the controller on the caller's.

use std::{sync::Arc, thread};

use reactor::{Clock, Interrupt, Options, channel};

use crate::{
    arrivals::Share,
    budget::{Allowance, Budget},
    controller::Controller,
    event_loop::{self, GroupOffsets, Task, UserAssignment},
    load::{Group, Load, LoadListener},
    outcome::{Error, Outcome},
    rules::Stop,
    stages::Stages,
    timeline::Timeline,
    user::User,
};

/// Runs a load to its end.
///
/// # Panics
/// If the load has turns and is not a closed loop without stages that ends when told to.
pub fn drive<U: User + 'static>(
    load: Load<U>,
    interrupt: &Interrupt,
    observer: &mut dyn LoadListener,
) -> Result<Outcome, Error> {
    assert!(
        load.turns.is_none() || can_have_turns(&load),
        "a load with turns is a closed loop without stages that ends when told to"
    );
    let stages = Stages::of(load.warm_up, &load.stages);
    let timeline = Arc::new(Timeline::new(load.interval, stages, load.turns.clone()));
    let (messages, inbox) = channel::unbounded();
    let mut controller = Controller::new(&load, Arc::clone(&timeline), inbox, observer);
    let (on_error, tolerated) = (load.on_error, load.tolerated);
    let (arrivals, seed) = (load.arrivals, load.seed);
    let shape = controller.shape();
    let drain = load.drain;
    let loops = load.loops.max(1);
    let options = Options {
        clock: Clock::System,
        spin: load.spin,
    };
    let budget = match load.stop {
        Stop::Operations(operations) | Stop::AfterOrOperations(_, operations) => {
            Some(Arc::new(Budget::new(operations, loops)))
        }
        Stop::After(_) | Stop::UntilPrecise(_) | Stop::WhenUsersEnd | Stop::WhenTold => None,
    };
    let shares = share_out(&load);
    let groups = Arc::new(load.groups);
    let threads = shares
        .into_iter()
        .zip(0..)
        .map(|(users, index)| {
            let groups = Arc::clone(&groups);
            let (give_back, used_cells) = channel::unbounded();
            controller.gives_back_to(give_back);
            let task = Task {
                share: Share { index, of: loops },
                shape,
                arrivals,
                seed,
                allowance: Allowance::new(budget.clone()),
                on_error,
                tolerated,
                drain,
                timeline: Arc::clone(&timeline),
                messages: messages.clone(),
                used_cells,
            };
            thread::Builder::new()
                .name(format!("loop-{index}"))
                .spawn(move || {
                    let make = |(offsets, index): (GroupOffsets, u32)| UserAssignment {
                        offsets,
                        // The users of other groups serve those of the first one.
                        place: Some(index).filter(|_| offsets.group == 0),
                        user: (groups[offsets.group].make)(index),
                    };
                    event_loop::run(task, options, users.into_iter().map(make).collect())
                })
        })
        .collect::<Result<Vec<_>, _>>();
    // From here on, the only senders are the loops: the channel closes when the last one has ended.
    drop(messages);
    let result = match threads.as_ref() {
        Ok(_) => controller.conduct(interrupt),
        Err(_) => Err(Error::Interrupted),
    };
    timeline.stop_by(reactor::system_now());
    for thread in threads? {
        match thread.join() {
            Ok(end) => end?,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    result
}

fn can_have_turns<U>(load: &Load<U>) -> bool {
    let is_closed_loop = load.arrivals.rate_per_s().is_none();
    is_closed_loop && load.stages.is_empty() && matches!(load.stop, Stop::WhenTold)
}

/// Distributes the users to the event loops, one after the other.
fn share_out<U>(load: &Load<U>) -> Vec<Vec<(GroupOffsets, u32)>> {
    let mut shares = vec![Vec::new(); load.loops.max(1) as usize];
    let mut first_operation = 0;
    let mut first_statement = 0;
    let mut dealt = 0;
    for (
        group,
        Group {
            operations,
            statements,
            users,
            ..
        },
    ) in load.groups.iter().enumerate()
    {
        for index in 0..*users {
            let offsets = GroupOffsets {
                group,
                first_operation,
                first_statement,
            };
            let share = dealt % shares.len();
            shares[share].push((offsets, index));
            dealt += 1;
        }
        first_operation += operations.len();
        first_statement += statements.len();
    }
    shares
}
