//! A planned event of a run: what was done to the server while the load ran, when, and how it ended.

use serde::{Deserialize, Serialize};

/// A planned event of a run. A record has one line when the event begins and another one when it has ended; the later
/// one counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlannedEvent {
    /// Place among the events of the run in the order of their times, from 1.
    pub number: u32,
    /// Name in the experiment file, or what it does in short.
    pub name: String,
    pub action: PlannedAction,
    /// The statements, what is done to the server (`restart`, `kill`), or the program with its arguments.
    pub what: String,
    /// Planned begin, seconds since the measurement began.
    pub at_s: f64,
    /// Begin, seconds since the start of the load; the planned one of an event that did not begin.
    pub t_s: f64,
    /// Begin, seconds since the measurement began; `None` for an event that did not begin.
    pub begin_s: Option<f64>,
    /// End, seconds since the measurement began; `None` while it runs, and for an event that did not begin.
    pub end_s: Option<f64>,
    pub outcome: EventOutcome,
    /// Why it failed; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// Rows that its statements changed; `None` for another action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_affected: Option<u64>,
    /// Warnings of its statements; `None` for another action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warnings: Option<u64>,
    /// Output of a command, standard output before standard error, cut at its limit; empty without any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
}

/// What a planned event does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlannedAction {
    /// It executes statements.
    #[default]
    Sql,
    /// It stops or kills the private server, and starts it again.
    Server,
    /// It runs a program.
    Command,
}

impl PlannedAction {
    /// The word of records and reports, which is also the key in the experiment file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Server => "server",
            Self::Command => "command",
        }
    }
}

/// How an event ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventOutcome {
    /// It has not ended: it runs, or dbdyno was killed.
    #[default]
    Running,
    /// It ended without an error.
    Done,
    /// An error of the server, an exit code, or a program that could not be started.
    Failed,
    /// It was ended by its time limit, or by the end of the run.
    TimedOut,
    /// The run ended before it could begin.
    NotBegun,
}

impl EventOutcome {
    /// The word of reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "not ended",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::NotBegun => "not begun",
        }
    }
}

impl PlannedEvent {
    /// Duration in seconds; `None` without a begin or an end.
    pub fn took_s(&self) -> Option<f64> {
        Some((self.end_s? - self.begin_s?).max(0.0))
    }

    /// True unless it ended without an error.
    pub fn has_failed(&self) -> bool {
        self.outcome != EventOutcome::Done
    }
}

/// Adds a line about an event, which replaces the earlier line about the same one.
pub(crate) fn take(events: &mut Vec<PlannedEvent>, event: PlannedEvent) {
    match events.iter_mut().find(|it| it.number == event.number) {
        Some(earlier) => *earlier = event,
        None => events.push(event),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_later_line_about_an_event_counts() {
        let running = |number| PlannedEvent {
            number,
            begin_s: Some(2.0),
            ..PlannedEvent::default()
        };
        let mut events = Vec::new();
        take(&mut events, running(1));
        assert!(events[0].has_failed() && events[0].took_s().is_none());
        let ended = PlannedEvent {
            end_s: Some(3.5),
            outcome: EventOutcome::Done,
            ..running(1)
        };
        take(&mut events, ended);
        take(&mut events, running(2));
        assert_eq!(events.len(), 2);
        assert_eq!(events[0].took_s(), Some(1.5));
        assert!(!events[0].has_failed());
    }
}
