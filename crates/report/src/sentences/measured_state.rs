//! The state in which servers were measured side by side, as a clause of the answer.

use samples::{MeasuredState, Record, ServerState};

/// `measured on steady servers`; `None` if no run was side by side, and for older records.
pub(crate) fn in_words(runs: &[Record]) -> Option<&'static str> {
    let states = runs.iter().filter_map(|run| run.measured_state.as_ref());
    let states: Vec<&MeasuredState> = states.collect();
    let is_fresh = |it: &&MeasuredState| it.state == ServerState::Fresh;
    if states.is_empty() {
        None
    } else if states.iter().any(|it| it.not_reached.is_some()) {
        Some("measured before all servers were steady")
    } else if states.iter().all(is_fresh) {
        Some("measured on fresh servers")
    } else if states.iter().any(is_fresh) {
        Some("measured on steady and on fresh servers")
    } else {
        Some("measured on steady servers")
    }
}

#[cfg(test)]
mod tests {
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
}
