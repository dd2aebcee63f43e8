//! The result of an event.

use protocol::Password;
use samples::{EventOutcome, printable_lines_within};

/// Longest message that is kept, characters.
const MESSAGE_CHARS_MAX: usize = 2_000;
/// Longest output that is kept, characters.
const OUTPUT_CHARS_MAX: usize = 16_000;
/// What is shown instead of a password.
const MASK: &str = "***";

/// The result of an event.
#[derive(Debug, Default)]
pub(super) struct EventResult {
    pub(super) outcome: EventOutcome,
    /// Why it failed; empty otherwise.
    pub(super) message: String,
    pub(super) rows_affected: Option<u64>,
    pub(super) warnings: Option<u64>,
    pub(super) output: String,
}

impl EventResult {
    /// It ended without an error.
    pub(super) fn done() -> Self {
        Self {
            outcome: EventOutcome::Done,
            ..Self::default()
        }
    }

    /// It ended with this error.
    pub(super) fn failed(message: String) -> Self {
        Self::done().but_failed(message)
    }

    /// The same with an error.
    pub(super) fn but_failed(self, message: String) -> Self {
        Self {
            outcome: EventOutcome::Failed,
            message,
            ..self
        }
    }

    /// The same, ended before it was done.
    pub(super) fn but_cut_off(self, message: String) -> Self {
        Self {
            outcome: EventOutcome::TimedOut,
            message,
            ..self
        }
    }

    /// The same as it may be written to a record: printable, of limited length, and without this password.
    pub(super) fn without(self, password: Option<&Password>) -> Self {
        let masked = |text: &str| match password.map(Password::reveal) {
            Some(secret) if !secret.is_empty() => text.replace(secret, MASK),
            _ => text.to_owned(),
        };
        Self {
            message: printable_lines_within(&masked(&self.message), MESSAGE_CHARS_MAX),
            output: printable_lines_within(&masked(&self.output), OUTPUT_CHARS_MAX),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_reaches_a_record() {
        let performed = EventResult {
            output: "user bench, password hunter2\u{1b}[31m".to_owned(),
            ..EventResult::failed("hunter2 is wrong".to_owned())
        };
        let written = performed.without(Some(&Password::from("hunter2")));
        assert_eq!(written.message, "*** is wrong");
        assert!(written.output.starts_with("user bench, password ***"));
        assert!(!written.output.contains('\u{1b}'));
        let plain = EventResult::failed("x".repeat(9_000)).without(Some(&Password::from("")));
        assert!(plain.message.chars().count() < MESSAGE_CHARS_MAX + 50);
    }
}
