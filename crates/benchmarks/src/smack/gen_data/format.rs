//! The format language of gen-data: `%12-12s%n,%25-25s,%n,%d`.
//!
//! ```text
//! format    = { literal | directive } [ "%" width ] ;
//! directive = "%" width ( "s" | "n" | "d" | "%" ) ;
//! width     = [ digits ] { "-" [ digits ] } ;
//! ```
//!
//! `%` generates a percent sign whatever the width before it; an incomplete directive at the end generates nothing.

/// Longest string of a directive, in characters; a width of 0 means this, too.
pub(super) const STRING_WIDTH_MAX: u64 = 256;
/// Maximum width of a number; the original's buffer was far smaller.
const WIDTH_MAX: u64 = 1_000_000;

/// A parsed format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Format {
    pub(super) items: Vec<Item>,
}

/// One piece of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Literal(Vec<u8>),
    Directive { width: Width, content: Content },
}

/// The content of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// `s`: random letters from a to y.
    Letters,
    /// `n`: the row's number, from 1.
    RowNumber,
    /// `d`: a random number.
    Random,
}

/// The width of a directive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// Constant; draws no random number.
    Exact(u64),
    /// `min + draw mod span`: the upper bound itself is never drawn.
    Drawn { min: u64, span: u64 },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// An unknown directive; the text is the original's.
    #[error("'{}' - invalid format specifier", printable(*.0))]
    Specifier(u8),
    /// A width beyond [`WIDTH_MAX`].
    #[error("width {0} is beyond {WIDTH_MAX}")]
    Width(String),
}

fn printable(specifier: u8) -> String {
    String::from_utf8_lossy(&[specifier]).into_owned()
}

impl Format {
    pub(crate) fn parse(text: &[u8]) -> Result<Self, FormatError> {
        let mut items = Vec::new();
        let mut literal = Vec::new();
        let mut rest = text;
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            if byte != b'%' {
                literal.push(byte);
                continue;
            }
            let (width, behind) = width(rest)?;
            let Some((&specifier, behind)) = behind.split_first() else {
                break;
            };
            rest = behind;
            let content = match specifier {
                b's' => Content::Letters,
                b'n' => Content::RowNumber,
                b'd' => Content::Random,
                b'%' => {
                    literal.push(b'%');
                    continue;
                }
                other => return Err(FormatError::Specifier(other)),
            };
            if !literal.is_empty() {
                items.push(Item::Literal(std::mem::take(&mut literal)));
            }
            items.push(Item::Directive { width, content });
        }
        literal.push(b'\n');
        items.push(Item::Literal(literal));
        Ok(Self { items })
    }
}

/// Parses the width at the start of `text`; returns it with the rest.
fn width(text: &[u8]) -> Result<(Width, &[u8]), FormatError> {
    let (mut min, (mut max, mut rest)) = (0, digits(text)?);
    // The last two of several bounds apply.
    while let Some(behind) = rest.strip_prefix(b"-") {
        min = max;
        (max, rest) = digits(behind)?;
    }
    let width = if max == 0 || max == min {
        Width::Exact(min)
    } else {
        // If the maximum is below the minimum, C's remainder by the negative difference equals this one.
        let span = max.abs_diff(min);
        Width::Drawn { min, span }
    };
    Ok((width, rest))
}

fn digits(text: &[u8]) -> Result<(u64, &[u8]), FormatError> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.is_empty() {
        return Ok((0, rest));
    }
    let shown = String::from_utf8_lossy(digits);
    match shown.parse() {
        Ok(number) if number <= WIDTH_MAX => Ok((number, rest)),
        _ => Err(FormatError::Width(shown.into_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn width_of(format: &str) -> Width {
        match &Format::parse(format.as_bytes()).unwrap().items[0] {
            Item::Directive { width, .. } => *width,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn widths() {
        for (format, expected) in [
            ("%s", Width::Exact(0)),
            ("%0s", Width::Exact(0)),
            ("%25s", Width::Drawn { min: 0, span: 25 }),
            ("%12-12s", Width::Exact(12)),
            ("%3-5s", Width::Drawn { min: 3, span: 2 }),
            ("%7-s", Width::Exact(7)),
            ("%-7s", Width::Drawn { min: 0, span: 7 }),
            ("%-s", Width::Exact(0)),
            ("%9-5s", Width::Drawn { min: 9, span: 4 }),
            ("%3-5-7s", Width::Drawn { min: 5, span: 2 }),
        ] {
            assert_eq!(width_of(format), expected, "{format}");
        }
    }

    #[test]
    fn literals_and_the_end_of_the_row() {
        let items = Format::parse(b"a%%b,%nc").unwrap().items;
        assert_eq!(items[0], Item::Literal(b"a%b,".to_vec()));
        assert_eq!(items[2], Item::Literal(b"c\n".to_vec()));
    }

    #[test]
    fn a_percent_sign_ends_a_directive_and_an_unfinished_one_makes_nothing() {
        for (format, row) in [
            ("%128-%128s", "%128s\n"),
            ("%5-5%n", "%n\n"),
            ("abc%", "abc\n"),
            ("abc%12-", "abc\n"),
        ] {
            let items = Format::parse(format.as_bytes()).unwrap().items;
            assert_eq!(items, [Item::Literal(row.as_bytes().to_vec())], "{format}");
        }
    }

    #[test]
    fn bad_specifiers() {
        for (format, message) in [
            ("%x", "'x' - invalid format specifier"),
            ("%25-\n25s", "'\n' - invalid format specifier"),
            ("%9999999s", "width 9999999 is beyond 1000000"),
        ] {
            let error = Format::parse(format.as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), message, "{format}");
        }
    }
}
