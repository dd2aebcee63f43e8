//! Sizes as the servers parse them and as a my.cnf has them: `64M`, `1G`, `4096`.

/// A size in bytes from digits and one optional suffix `K`, `M`, `G`, `T`, `P` or `E` (powers of 1024, either
/// case). `None` if it is not such a size or exceeds 64 bits.
///
/// Source: MySQL Reference Manual, "Using Options to Set Program Variables".
pub fn parse_size_bytes(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (&text[..text.len() - 1], 10),
        b'M' => (&text[..text.len() - 1], 20),
        b'G' => (&text[..text.len() - 1], 30),
        b'T' => (&text[..text.len() - 1], 40),
        b'P' => (&text[..text.len() - 1], 50),
        b'E' => (&text[..text.len() - 1], 60),
        _ => (text, 0),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Bytes as a my.cnf has them: the largest unit that divides.
pub(crate) fn size(bytes: i128) -> String {
    for (unit, shift) in [("G", 30), ("M", 20), ("K", 10)] {
        if bytes > 0 && bytes % (1 << shift) == 0 {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::{parse_size_bytes, size};

    #[test]
    fn suffixes_are_powers_of_1024() {
        for (text, bytes) in [
            ("0", Some(0)),
            ("4096", Some(4096)),
            ("64M", Some(64 << 20)),
            ("1g", Some(1 << 30)),
            ("15E", Some(15 << 60)),
            ("16E", None),
            ("70%", None),
            ("", None),
            ("M", None),
            ("-1", None),
            ("+1", None),
            ("1 G", None),
            ("1µ", None),
        ] {
            assert_eq!(parse_size_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn bytes_are_shown_in_the_largest_unit_that_divides() {
        for (bytes, text) in [
            (0, "0"),
            (1000, "1000"),
            (1 << 10, "1K"),
            (3 << 29, "1536M"),
            (1 << 40, "1024G"),
            (-1024, "-1024"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
