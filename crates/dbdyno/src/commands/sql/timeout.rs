//! The option of a time limit.

use std::time::Duration;

/// A limit above zero, for example `30s`.
pub(super) fn timeout(text: &str) -> Result<Duration, String> {
    let time =
        humantime::parse_duration(text).map_err(|error| format!("{error}; for example 30s"))?;
    if time.is_zero() {
        return Err("a limit above zero is needed, for example 30s".to_owned());
    }
    Ok(time)
}
