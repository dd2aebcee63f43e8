//! The state in which a server was measured side by side with others: steady, or fresh.

use serde::{Deserialize, Serialize};

/// The state of a server in its slices, as the experiment asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// The load ran until the server was steady.
    Steady,
    /// The load ran for a fixed time, or not at all.
    Fresh,
}

/// The state in which a server was measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasuredState {
    pub state: ServerState,
    /// Why the server was to be steady and was not when its slices began, in words; `None` for all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reached: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Line;

    #[test]
    fn only_a_state_that_was_not_reached_has_a_reason() {
        let line = |state, not_reached: Option<&str>| {
            let not_reached = not_reached.map(str::to_owned);
            let line = Line::MeasuredState(MeasuredState { state, not_reached });
            let text = serde_json::to_string(&line).unwrap();
            assert_eq!(serde_json::from_str::<Line>(&text).unwrap(), line);
            text
        };
        assert_eq!(
            line(ServerState::Fresh, None),
            r#"{"line":"measured_state","state":"fresh"}"#
        );
        assert_eq!(
            line(ServerState::Steady, Some("not steady after 60 s")),
            r#"{"line":"measured_state","state":"steady","not_reached":"not steady after 60 s"}"#
        );
    }
}
