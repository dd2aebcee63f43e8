//! Values of the options of `dbdyno storage`.

use clap::builder::RangedI64ValueParser;
use settings::quantity;

/// The smallest test file, bytes: fio needs some blocks to choose from.
const FILE_AT_LEAST: u64 = 16 << 20;
/// Test files are written in units of this, bytes.
const FILE_UNIT: u64 = 1 << 20;
/// Largest block of a request, bytes.
const BLOCK_AT_MOST: u64 = 4 << 20;
/// More repeats are a mistake.
const REPEATS_AT_MOST: i64 = 100;
/// A day: longer ones are a mistake.
const SECONDS_AT_MOST: u64 = 86_400;

/// The size of a test file: `16G`.
pub(super) fn file_bytes(text: &str) -> Result<u64, String> {
    let bytes = quantity::bytes(text).filter(|bytes| *bytes >= FILE_AT_LEAST);
    let bytes = bytes.filter(|bytes| bytes % FILE_UNIT == 0);
    bytes.ok_or_else(|| "a size of at least 16M, in whole MiB, for example 16G".to_owned())
}

/// The size of a request: `16k`.
pub(super) fn block_bytes(text: &str) -> Result<u64, String> {
    let bytes = quantity::bytes(text).filter(|bytes| bytes % 512 == 0);
    let bytes = bytes.filter(|bytes| (512..=BLOCK_AT_MOST).contains(bytes));
    bytes.ok_or_else(|| "a multiple of 512 bytes up to 4M, for example 16k".to_owned())
}

/// Repeats of each pattern.
pub(super) fn repeats() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=REPEATS_AT_MOST)
}

/// A time of whole seconds, for fio takes no others: `60s`, `2m`, or without a unit `60`.
pub(super) fn duration_s(text: &str) -> Result<u64, String> {
    let time = quantity::seconds(text).filter(|it| it.subsec_nanos() == 0);
    let seconds = time.map(|it| it.as_secs());
    let seconds = seconds.filter(|it| (1..=SECONDS_AT_MOST).contains(it));
    seconds.ok_or_else(|| "a time of whole seconds, at least 1s, for example 60s or 2m".to_owned())
}

/// The same, or none at all.
pub(super) fn pause_s(text: &str) -> Result<u64, String> {
    match text {
        "0" | "0s" => Ok(0),
        _ => duration_s(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_with_their_bounds() {
        assert_eq!(file_bytes("16G"), Ok(16 << 30));
        assert!(file_bytes("1M").is_err() && file_bytes("x").is_err());
        assert!(file_bytes("16777217").is_err());
        assert_eq!(block_bytes("16k"), Ok(16384));
        assert!(
            block_bytes("100").is_err() && block_bytes("8M").is_err() && block_bytes("0").is_err()
        );
        for (text, seconds) in [("60", 60), ("2s", 2), ("2m", 120), ("1m 30s", 90)] {
            assert_eq!(duration_s(text), Ok(seconds), "{text}");
        }
        for text in ["0", "0s", "1.5", "500ms", "1500ms", "2days", "x"] {
            assert!(duration_s(text).is_err(), "{text}");
        }
        assert_eq!((pause_s("0"), pause_s("0s")), (Ok(0), Ok(0)));
    }
}
