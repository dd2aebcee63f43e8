//! The template of a `unique` dictionary: a text with one number, as C's printf writes it.

use bstr::{BString, ByteSlice};

/// `user%06d@example`: everything from a second directive on is cut off, as by Super Smack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    before: BString,
    number: Number,
    after: BString,
}

/// The conversion of the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Number {
    left: bool,
    zeros: bool,
    sign: Option<u8>,
    width: usize,
    precision: Option<usize>,
    base: Base,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Decimal,
    Hex,
    HexUpper,
    Octal,
}

/// Maximum width of the number in a template.
const WIDTH_MAX: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TemplateError {
    #[error("the template's directive '%{0}' writes no whole number: use %d, %u, %x, %X or %o")]
    Directive(String),
    #[error(
        "the template has no directive, so its words would not be unique: use u%05d, for example"
    )]
    NoDirective,
    #[error("the width of the template's number is beyond {WIDTH_MAX}")]
    Width,
}

impl Template {
    pub(super) fn parse(text: &[u8]) -> Result<Self, TemplateError> {
        let mut before = BString::default();
        let mut rest: &[u8] = text;
        loop {
            let Some(at) = rest.find_byte(b'%') else {
                return Err(TemplateError::NoDirective);
            };
            before.extend_from_slice(&rest[..at]);
            rest = &rest[at + 1..];
            match rest.strip_prefix(b"%") {
                Some(behind) => {
                    before.push(b'%');
                    rest = behind;
                }
                None => break,
            }
        }
        let (number, rest) = Number::parse(rest)?;
        Ok(Self {
            before: escaped(&before),
            number,
            after: escaped(&cut(rest)),
        })
    }

    /// Appends the word with this number, escaped for a string literal.
    pub(super) fn write(&self, id: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.before);
        self.number.write(id, out);
        out.extend_from_slice(&self.after);
    }
}

fn escaped(text: &[u8]) -> BString {
    let mut out = Vec::new();
    protocol::escape_into(text, &mut out);
    out.into()
}

/// The literal text up to the next directive.
fn cut(mut rest: &[u8]) -> BString {
    let mut text = BString::default();
    while let Some(at) = rest.find_byte(b'%') {
        text.extend_from_slice(&rest[..at]);
        if rest.get(at + 1) != Some(&b'%') {
            return text;
        }
        text.push(b'%');
        rest = &rest[at + 2..];
    }
    text.extend_from_slice(rest);
    text
}

impl Number {
    /// Parses the directive after a `%`; returns it with the rest.
    fn parse(text: &[u8]) -> Result<(Self, &[u8]), TemplateError> {
        let flags = text
            .iter()
            .take_while(|byte| b"-0+ #".contains(byte))
            .count();
        let (flags, rest) = text.split_at(flags);
        let (width, rest) = digits(rest)?;
        let (precision, rest) = match rest.strip_prefix(b".") {
            Some(rest) => {
                let (precision, rest) = digits(rest)?;
                (Some(precision), rest)
            }
            None => (None, rest),
        };
        let length = rest
            .iter()
            .take_while(|byte| b"hlqjzt".contains(byte))
            .count();
        let rest = &rest[length..];
        let base = match rest.first() {
            Some(b'd' | b'i' | b'u') => Base::Decimal,
            Some(b'x') => Base::Hex,
            Some(b'X') => Base::HexUpper,
            Some(b'o') => Base::Octal,
            _ => {
                let shown = &text[..(text.len() - rest.len() + 1).min(text.len())];
                return Err(TemplateError::Directive(shown.to_str_lossy().into_owned()));
            }
        };
        let signed = matches!(rest.first(), Some(b'd' | b'i'));
        let sign = [b'+', b' ']
            .into_iter()
            .find(|sign| signed && flags.contains(sign));
        let number = Self {
            left: flags.contains(&b'-'),
            zeros: flags.contains(&b'0') && precision.is_none(),
            sign,
            width,
            precision,
            base,
        };
        Ok((number, &rest[1..]))
    }

    fn write(self, id: u64, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend(self.sign);
        let digits_start = out.len();
        // A u64 has at most 22 digits in any of the bases; filled from the end.
        let mut digits = [0_u8; 22];
        let mut first = digits.len();
        let (base, ten) = match self.base {
            Base::Decimal => (10, b'a'),
            Base::Octal => (8, b'a'),
            Base::Hex => (16, b'a'),
            Base::HexUpper => (16, b'A'),
        };
        let mut left = id;
        while left > 0 || (first == digits.len() && self.precision != Some(0)) {
            let digit = (left % base) as u8;
            first -= 1;
            digits[first] = if digit < 10 {
                b'0' + digit
            } else {
                ten + digit - 10
            };
            left /= base;
        }
        let digits = &digits[first..];
        let zeros = self.precision.unwrap_or(0).saturating_sub(digits.len());
        out.resize(out.len() + zeros, b'0');
        out.extend_from_slice(digits);
        let missing = self.width.saturating_sub(out.len() - start);
        if self.left {
            out.resize(out.len() + missing, b' ');
        } else if missing > 0 {
            let (at, fill) = if self.zeros {
                (digits_start, b'0')
            } else {
                (start, b' ')
            };
            let end = out.len();
            out.resize(end + missing, fill);
            out.copy_within(at..end, at + missing);
            out[at..at + missing].fill(fill);
        }
    }
}

fn digits(text: &[u8]) -> Result<(usize, &[u8]), TemplateError> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() {
        return Ok((0, rest));
    }
    match digits.to_str_lossy().parse() {
        Ok(number) if number <= WIDTH_MAX => Ok((number, rest)),
        _ => Err(TemplateError::Width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(template: &str, id: u64) -> String {
        let mut out = b"<".to_vec();
        Template::parse(template.as_bytes())
            .unwrap()
            .write(id, &mut out);
        out.push(b'>');
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn words_as_printf_writes_them() {
        for (template, id, expected) in [
            ("u%05dx", 0, "<u00000x>"),
            ("u%05dx", 1, "<u00001x>"),
            ("u%05dx", 1_234_567, "<u1234567x>"),
            ("%d", 42, "<42>"),
            ("%6d|", 42, "<    42|>"),
            ("%-6d|", 42, "<42    |>"),
            ("%+06d", 42, "<+00042>"),
            ("% d", 42, "< 42>"),
            ("%.4u", 42, "<0042>"),
            ("%8.4u", 42, "<    0042>"),
            ("%x.", 255, "<ff.>"),
            ("%04X", 255, "<00FF>"),
            ("%lo", 8, "<10>"),
            ("%lld", u64::MAX, "<18446744073709551615>"),
            ("100%% %d%%", 7, "<100% 7%>"),
            ("a%db%dc", 3, "<a3b>"),
            ("o'%d", 3, "<o\\'3>"),
        ] {
            assert_eq!(word(template, id), expected, "{template}");
        }
    }

    #[test]
    fn refused_templates() {
        for (template, error) in [
            ("plain", TemplateError::NoDirective),
            ("100%%", TemplateError::NoDirective),
            ("a%s", TemplateError::Directive("s".into())),
            ("a%05", TemplateError::Directive("05".into())),
            ("a%99999d", TemplateError::Width),
        ] {
            assert_eq!(
                Template::parse(template.as_bytes()),
                Err(error),
                "{template}"
            );
        }
    }
}
