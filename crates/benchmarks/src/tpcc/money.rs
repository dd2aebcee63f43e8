//! Amounts of money in hundredths: exact, as the specification requires.

/// Reads a decimal with two places, such as `31.15`, or a whole number; `None` for anything else.
pub(super) fn parse(text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    let (whole, hundredths) = match text.split_once('.') {
        Some((whole, hundredths)) if hundredths.len() == 2 => (whole, hundredths.parse().ok()?),
        Some(_) => return None,
        None => (text, 0_i64),
    };
    let sign = if whole.starts_with('-') { -1 } else { 1 };
    Some(whole.parse::<i64>().ok()? * 100 + sign * hundredths)
}

/// An amount as the text of a decimal parameter.
pub(super) struct Text {
    bytes: [u8; 24],
    start: usize,
}

impl Text {
    /// The text of an amount in hundredths: 1205 is `12.05`.
    pub(super) fn of(amount: u64) -> Self {
        let mut text = Self {
            bytes: [0; 24],
            start: 24,
        };
        let mut rest = amount;
        for place in 0_u32.. {
            if place > 2 && rest == 0 {
                break;
            }
            if place == 2 {
                text.push(b'.');
            }
            text.push(b'0' + (rest % 10) as u8);
            rest /= 10;
        }
        text
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    fn push(&mut self, byte: u8) {
        self.start -= 1;
        self.bytes[self.start] = byte;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_go_both_ways() {
        for (amount, text) in [
            (0, "0.00"),
            (7, "0.07"),
            (1205, "12.05"),
            (500_000, "5000.00"),
        ] {
            assert_eq!(Text::of(amount).as_bytes(), text.as_bytes());
            assert_eq!(parse(text.as_bytes()), Some(amount as i64));
        }
        assert_eq!(Text::of(u64::MAX).as_bytes(), b"184467440737095516.15");
        for (text, amount) in [
            ("-10.00", Some(-1000)),
            ("-0.05", Some(-5)),
            ("12", Some(1200)),
            ("1.5", None),
            ("", None),
            ("x.00", None),
        ] {
            assert_eq!(parse(text.as_bytes()), amount, "{text}");
        }
    }
}
