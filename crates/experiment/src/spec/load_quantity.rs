//! Quantities of `[load]` and of its stages: the expected text, and how a count of connections is read.

pub(super) const CONNECTIONS: &str = "a count from 1 to 100000";
/// The same of one of several loads.
pub(super) const CONNECTIONS_OR_NONE: &str = "a count from 1 to 100000, or 0 to leave the load out";
pub(super) const RATE: &str = "operations per second, above 0 and at most 1000000";
pub(super) const DURATION: &str = "a duration such as \"30s\", at most 30days";

pub(super) fn connections(text: &str) -> Option<u32> {
    connections_or_none(text).filter(|count| *count > 0)
}

pub(super) fn connections_or_none(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| *count <= 100_000)
}
