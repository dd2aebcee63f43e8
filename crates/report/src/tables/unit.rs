//! The names of the units of measures in the formats for programs.

use verdict::Scale;

/// The name of a scale's unit, the same in every format for programs.
pub(crate) fn unit(scale: Scale) -> &'static str {
    match scale {
        Scale::PerSecond => "per second",
        Scale::PerMinute => "per minute",
        Scale::Nanoseconds => "ns",
        Scale::Seconds => "s",
        Scale::PerOperation(unit) => match unit.name() {
            "" => "per operation",
            "B" => "bytes per operation",
            _ => "µs per operation",
        },
    }
}
