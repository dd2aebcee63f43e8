//! Bytes with binary prefixes, and network rates in bits.

use crate::number::{decimals, si};

/// A size: `512 B`, `1.50 GiB`.
pub fn bytes(bytes: u64) -> String {
    mean_bytes(bytes as f64)
}

/// A mean or a sum of sizes, with decimals below 1 KiB: `72.2 B`.
pub fn mean_bytes(bytes: f64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut scaled = bytes;
    let mut unit = 0;
    // 1023.6 would be printed as 1024 of the smaller unit.
    while scaled.abs() >= 1023.5 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let is_whole = unit == 0 && scaled.fract() == 0.0;
    let decimals = if is_whole { 0 } else { decimals(scaled) };
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

/// A rate of bytes: `12.3 MiB/s`.
pub fn bytes_per_s(per_s: f64) -> String {
    format!("{}/s", mean_bytes(per_s))
}

/// A network rate in bits, as networks are specified: `940 Mbit/s`.
pub fn bits_per_s(bytes_per_s: f64) -> String {
    let number = si(bytes_per_s * 8.0);
    let prefix_at = number.trim_end_matches(char::is_alphabetic).len();
    let (number, prefix) = number.split_at(prefix_at);
    format!("{number} {prefix}bit/s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_choose_their_unit() {
        for (size, text) in [
            (0.0, "0 B"),
            (512.0, "512 B"),
            (72.25, "72.2 B"),
            (1023.0, "1023 B"),
            (1_536.0, "1.50 KiB"),
            (134_217_728.0, "128 MiB"),
            (1_610_612_736.0, "1.50 GiB"),
            (2.2e12, "2.00 TiB"),
            (-1_536.0, "-1.50 KiB"),
        ] {
            assert_eq!(mean_bytes(size), text);
        }
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes_per_s(1_536.0), "1.50 KiB/s");
        assert_eq!(bits_per_s(117.5e6), "940 Mbit/s");
        assert_eq!(bits_per_s(0.0), "0 bit/s");
    }
}
