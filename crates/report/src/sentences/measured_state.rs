//! The state in which servers were measured side by side, as a clause of the answer.

use samples::{MeasuredState, Record, ServerState};

/// `measured on steady servers`; of values that took turns on one server `measured on one server, by SET GLOBAL, in its
/// steady state`. `None` if no run was side by side, and for older records.
pub(crate) fn in_words(runs: &[Record]) -> Option<&'static str> {
    let states = runs.iter().filter_map(|run| run.measured_state.as_ref());
    let states: Vec<&MeasuredState> = states.collect();
    let is_fresh = |it: &&MeasuredState| it.state == ServerState::Fresh;
    let mut turns = runs.iter().filter_map(|run| run.side_by_side.as_ref());
    let by_set_global = turns.any(|turns| !turns.set_global.is_empty());
    let (of_servers, of_values) = if states.is_empty() {
        return None;
    } else if states.iter().any(|it| it.not_reached.is_some()) {
        (
            "measured before all servers were steady",
            "measured on one server, by SET GLOBAL, before it was steady",
        )
    } else if states.iter().all(is_fresh) {
        (
            "measured on fresh servers",
            "measured on one server, by SET GLOBAL, without waiting for a steady state",
        )
    } else if states.iter().any(is_fresh) {
        (
            "measured on steady and on fresh servers",
            "measured on one server, by SET GLOBAL, not always in its steady state",
        )
    } else {
        (
            "measured on steady servers",
            "measured on one server, by SET GLOBAL, in its steady state",
        )
    };
    Some(if by_set_global { of_values } else { of_servers })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use samples::SideBySide;

    use super::*;

    /// A run with this state, if any.
    fn run(state: Option<(ServerState, Option<&str>)>) -> Record {
        let header = r#"{"line":"run","format":1,"dbdyno_version":"0","experiment":"x","experiment_sha256":"","seed":1,"run":1,"block":1,"combination":{},"started_at":"","connections":1,"loops":1,"io":"epoll","transport":"unix socket"}"#;
        let mut record = Record::read(header.as_bytes()).unwrap();
        record.measured_state = state.map(|(state, not_reached)| MeasuredState {
            state,
            not_reached: not_reached.map(str::to_owned),
        });
        record
    }

    #[test]
    fn the_state_of_all_servers_is_a_clause() {
        let steady = Some((ServerState::Steady, None));
        let early = Some((ServerState::Steady, Some("not steady after 60 s")));
        let fresh = Some((ServerState::Fresh, None));
        for (states, expected) in [
            (&[][..], None),
            (&[None, None], None),
            (&[steady, steady], Some("measured on steady servers")),
            (&[fresh, fresh], Some("measured on fresh servers")),
            (
                &[steady, fresh],
                Some("measured on steady and on fresh servers"),
            ),
            (
                &[early, steady, fresh],
                Some("measured before all servers were steady"),
            ),
        ] {
            let runs: Vec<Record> = states.iter().map(|state| run(*state)).collect();
            assert_eq!(in_words(&runs), expected, "{states:?}");
        }
    }

    #[test]
    fn values_on_one_server_are_named_as_such() {
        let value = |value: &str, state: (ServerState, Option<&str>)| {
            let mut record = run(Some(state));
            record.side_by_side = Some(SideBySide {
                combinations: Vec::new(),
                slice_s: 0.5,
                settle_s: 0.1,
                slices_per_batch: 5,
                slices_at_most: 60,
                on_one_server: true,
                quiet: false,
                set_global: BTreeMap::from([("sync_binlog".to_owned(), value.to_owned())]),
            });
            record
        };
        let steady = (ServerState::Steady, None);
        let early = (ServerState::Steady, Some("not steady after 20 s"));
        let fresh = (ServerState::Fresh, None);
        for (states, expected) in [
            ([steady, steady], "in its steady state"),
            ([steady, early], "before it was steady"),
            ([fresh, fresh], "without waiting for a steady state"),
            ([steady, fresh], "not always in its steady state"),
        ] {
            let runs = [value("0", states[0]), value("1", states[1])];
            let expected = format!("measured on one server, by SET GLOBAL, {expected}");
            assert_eq!(in_words(&runs), Some(expected.as_str()));
        }
    }
}
