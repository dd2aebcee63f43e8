//! Figures in the format of the screen: short, with their unit, `-` for an unknown one.

use std::time::Duration;

/// The text for an unknown figure.
pub(crate) const UNKNOWN: &str = "-";

/// A number: `0`, `0.250`, `12.3`, `1.23k`, `45.6M`.
pub(crate) fn number(value: Option<f64>) -> String {
    known(value, units::count)
}

/// A duration: `850 ns`, `85.2 µs`, `1.23 ms`, `2.50 s`.
pub(crate) fn duration(ns: Option<f64>) -> String {
    known(ns, units::duration)
}

/// Milliseconds without their unit, for a column whose heading has it.
pub(crate) fn ms(ns: Option<f64>) -> String {
    known(ns, |ns| units::si(ns / 1e6))
}

/// A share of 1 in per cent without its sign, for a column whose heading has it.
pub(crate) fn percent(share: Option<f64>) -> String {
    known(share, units::percent_number)
}

/// The same with its sign.
pub(crate) fn percent_sign(share: Option<f64>) -> String {
    known(share, units::percent)
}

/// Bytes with a binary prefix: `512 B`, `1.50 MiB`.
pub(crate) fn bytes(bytes: Option<f64>) -> String {
    known(bytes, units::mean_bytes)
}

pub(crate) fn bytes_per_s(per_s: Option<f64>) -> String {
    known(per_s, units::bytes_per_s)
}

/// Mebibytes without their unit, for a column whose heading has it.
pub(crate) fn mib(bytes: Option<f64>) -> String {
    known(bytes, |bytes| units::si(bytes / 1048576.0))
}

fn known(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), text)
}

/// A length of time: `42 s`, `3 min 7 s`, `2 d 3 h`.
pub(crate) fn span(seconds: f64) -> String {
    // The result is negative if the clock was set back.
    units::span(Duration::try_from_secs_f64(seconds.max(0.0).floor()).unwrap_or_default())
}
