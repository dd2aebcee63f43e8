//! Times of a load on the command line.

use std::time::Duration;

use load::WarmUp;
use settings::quantity;

/// A time with its unit.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    quantity::duration(text).ok_or_else(|| {
        let takes = "a time is a number followed by ms, s, m or h, such as 60s";
        format!("{takes}; {}", quantity::DURATION_LIMIT)
    })
}

/// A warm-up: none, a time, or `auto`, which is until steady and at most this long.
pub(crate) fn warm_up(text: &str, at_most: Duration) -> Result<WarmUp, String> {
    match text {
        "auto" => Ok(WarmUp::UntilSteady { at_most }),
        "0" | "0s" | "none" => Ok(WarmUp::None),
        _ => time(text).map(WarmUp::For),
    }
}
