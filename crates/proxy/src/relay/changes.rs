//! Counting what a hook makes of a command.

use crate::{
    Decision, Session,
    metrics::{Change, ThreadMetrics},
};

/// Counts what becomes of a command of the client; its place among the changes, if it is changed or may be routed.
pub(super) fn count(
    metrics: &ThreadMetrics,
    decision: &Decision,
    session: &Session,
    packet: &[u8],
) -> Option<usize> {
    let is_delayed = !session.delay.is_zero();
    let in_queue = match decision {
        Decision::SendQueue => of_queue(session, packet),
        _ => [false; 3],
    };
    let answer = match decision {
        Decision::Answer(packets) => Some(match packets.first().and_then(|it| it.first()) {
            Some(0xff) => Change::Refused,
            _ => Change::Answered,
        }),
        _ => None,
    };
    if !is_delayed && in_queue == [false; 3] && answer.is_none() && session.route.is_none() {
        return None;
    }
    let place = metrics.changes.place(packet);
    let kinds = [
        Change::Replaced,
        Change::InjectedBefore,
        Change::InjectedAfter,
    ];
    let of_queue = kinds.into_iter().zip(in_queue).filter(|(_, is)| *is);
    let delay = is_delayed.then_some(Change::Delayed);
    for change in of_queue.map(|it| it.0).chain(answer).chain(delay) {
        metrics.changes.count(place, change);
    }
    Some(place)
}

/// Whether the client's command is replaced, has others before it, and behind it. The last one replaces a command that is
/// not in the queue.
fn of_queue(session: &Session, packet: &[u8]) -> [bool; 3] {
    let queue = &session.queries;
    let Some(last) = queue.len().checked_sub(1) else {
        return [false; 3];
    };
    match queue.iter().position(|it| it.packet == packet) {
        Some(own) => [false, own > 0, own < last],
        None => [true, last > 0, false],
    }
}

/// Counts what a hook makes of the result of a command, which is the client's own if it was not changed.
pub(super) fn count_result(
    metrics: &ThreadMetrics,
    decision: &Decision,
    changed: Option<usize>,
    command: &[u8],
) {
    let change = match decision {
        Decision::Ignore => Change::ResultDropped,
        Decision::Answer(_) => Change::ResultReplaced,
        Decision::PassOn | Decision::SendQueue => return,
    };
    let changes = &metrics.changes;
    let place = changed.unwrap_or_else(|| changes.place(command));
    changes.count(place, change);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, Injection, Peer};

    #[test]
    fn the_place_of_the_clients_command_says_what_was_injected() {
        let address = Address::Tcp(([127, 0, 0, 1], 1).into());
        let mut session = Session::new(1, Peer::new(address.clone(), address));
        for (queue, expected) in [
            ("", [false; 3]),
            ("c", [false; 3]),
            ("bc", [false, true, false]),
            ("cb", [false, false, true]),
            ("bcb", [false, true, true]),
            ("x", [true, false, false]),
            ("bx", [true, true, false]),
        ] {
            session.queries = queue
                .bytes()
                .map(|it| Injection {
                    id: 1,
                    packet: vec![3, it],
                    needs_result: false,
                })
                .collect();
            assert_eq!(of_queue(&session, b"\x03c"), expected, "{queue}");
        }
    }
}
