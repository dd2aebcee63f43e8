//! The values of one column of a list: numbers or texts, in one piece of memory.

use super::scalar::Scalar;

/// A value of a list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell<'l> {
    Null,
    Int(i64),
    Double(f64),
    Text(&'l [u8]),
}

/// What a column needs, as its values say.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    kind: Kind,
    /// Bytes of its values as texts.
    pub(super) text_bytes: u64,
    has_nulls: bool,
}

/// The type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Kind {
    #[default]
    Int,
    Double,
    Text,
}

impl Size {
    pub(super) fn add(&mut self, value: Option<&[u8]>) {
        let Some(value) = value else {
            self.has_nulls = true;
            return;
        };
        self.text_bytes += value.len() as u64;
        if self.kind == Kind::Text {
            return;
        }
        // Leading zeros have a meaning, as in a postal code.
        let has_leading_zero = value.len() > 1 && value[0] == b'0' && value[1] != b'.';
        match number(value).filter(|_| !has_leading_zero) {
            Some(Scalar::Int(_)) => {}
            Some(_) => self.kind = Kind::Double,
            None => self.kind = Kind::Text,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Column {
    values: Values,
    /// One for each row; empty for a column without NULL.
    is_null: Vec<bool>,
    has_nulls: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Values {
    Ints(Vec<i64>),
    Doubles(Vec<f64>),
    /// The texts one behind the other, and where each ends.
    Texts {
        bytes: Vec<u8>,
        ends: Vec<u32>,
    },
}

impl Column {
    /// An empty column with the space for its values.
    pub(super) fn for_values(size: Size, rows: usize) -> Self {
        Self {
            values: match size.kind {
                Kind::Int => Values::Ints(Vec::with_capacity(rows)),
                Kind::Double => Values::Doubles(Vec::with_capacity(rows)),
                Kind::Text => Values::Texts {
                    bytes: Vec::with_capacity(size.text_bytes as usize),
                    ends: Vec::with_capacity(rows),
                },
            },
            is_null: Vec::with_capacity(if size.has_nulls { rows } else { 0 }),
            has_nulls: size.has_nulls,
        }
    }

    /// Adds the next row's value; false for one that [`Size`] has not seen.
    pub(super) fn push(&mut self, value: Option<&[u8]>) -> bool {
        if self.has_nulls {
            self.is_null.push(value.is_none());
        } else if value.is_none() {
            return false;
        }
        match (&mut self.values, value.map(number)) {
            (Values::Ints(ints), None) => ints.push(0),
            (Values::Ints(ints), Some(Some(Scalar::Int(int)))) => ints.push(int),
            (Values::Doubles(doubles), None) => doubles.push(0.0),
            (Values::Doubles(doubles), Some(Some(Scalar::Int(int)))) => doubles.push(int as f64),
            (Values::Doubles(doubles), Some(Some(Scalar::Double(double)))) => doubles.push(double),
            (Values::Texts { bytes, ends }, _) => {
                bytes.extend_from_slice(value.unwrap_or_default());
                match u32::try_from(bytes.len()) {
                    Ok(end) => ends.push(end),
                    Err(_) => return false,
                }
            }
            _ => return false,
        }
        true
    }

    pub(super) fn rows(&self) -> usize {
        match &self.values {
            Values::Ints(ints) => ints.len(),
            Values::Doubles(doubles) => doubles.len(),
            Values::Texts { ends, .. } => ends.len(),
        }
    }

    pub(super) fn cell(&self, row: usize) -> Cell<'_> {
        if self.is_null.get(row) == Some(&true) {
            return Cell::Null;
        }
        match &self.values {
            Values::Ints(ints) => Cell::Int(ints[row]),
            Values::Doubles(doubles) => Cell::Double(doubles[row]),
            Values::Texts { bytes, ends } => {
                let start = row.checked_sub(1).map_or(0, |before| ends[before]);
                Cell::Text(&bytes[start as usize..ends[row] as usize])
            }
        }
    }
}

fn number(value: &[u8]) -> Option<Scalar> {
    Scalar::number_of(std::str::from_utf8(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_was_not_seen_before_is_refused() {
        let mut size = Size::default();
        size.add(Some(b"1"));
        for value in [None, Some(&b"x"[..]), Some(b"1.5")] {
            assert!(!Column::for_values(size, 1).push(value), "{value:?}");
        }
        assert!(Column::for_values(size, 1).push(Some(b"2")));
    }
}
