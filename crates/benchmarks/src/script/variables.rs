//! The variables of one connection: values in slots, which a retry of an operation gets back as they were.

use std::io::Write as _;

use protocol::{Value, quote_into};

use super::{
    column::Cell,
    list::List,
    scalar::{EvalError, Scalar},
};

/// The value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) enum Slot {
    #[default]
    Unset,
    Scalar(Scalar),
    /// The text beside it.
    Text,
    /// A cell of a list.
    Listed {
        list: u32,
        row: u32,
        column: u32,
    },
}

/// The variables of a connection, and a copy of before the operation.
#[derive(Debug, Clone, Default)]
pub(super) struct Variables {
    slots: Vec<Slot>,
    /// The texts of the slots; kept to reuse their memory.
    texts: Vec<Vec<u8>>,
    saved_slots: Vec<Slot>,
    saved_texts: Vec<Vec<u8>>,
}

/// A variable that a statement cannot use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unusable {
    Unset(u32),
    /// A double that is no finite number.
    Infinite(u32),
}

impl Variables {
    /// This number of variables without values.
    pub(super) fn new(slots: usize) -> Self {
        Self {
            slots: vec![Slot::Unset; slots],
            texts: vec![Vec::new(); slots],
            saved_slots: vec![Slot::Unset; slots],
            saved_texts: vec![Vec::new(); slots],
        }
    }

    pub(super) fn set(&mut self, slot: u32, value: Scalar) {
        self.slots[slot as usize] = Slot::Scalar(value);
    }

    pub(super) fn set_text(&mut self, slot: u32, text: &[u8]) {
        let kept = &mut self.texts[slot as usize];
        kept.clear();
        kept.extend_from_slice(text);
        self.slots[slot as usize] = Slot::Text;
    }

    /// Sets a text that `write` writes.
    pub(super) fn write_text(&mut self, slot: u32, write: impl FnOnce(&mut Vec<u8>)) {
        let kept = &mut self.texts[slot as usize];
        kept.clear();
        write(kept);
        self.slots[slot as usize] = Slot::Text;
    }

    /// Sets the value of a list's row and column.
    pub(super) fn set_listed(&mut self, slot: u32, list: u32, [row, column]: [u32; 2]) {
        self.slots[slot as usize] = Slot::Listed { list, row, column };
    }

    /// Keeps the values for [`Self::restore`].
    pub(super) fn save(&mut self) {
        copy(
            (&self.slots, &self.texts),
            (&mut self.saved_slots, &mut self.saved_texts),
        );
    }

    /// Puts the kept values back.
    pub(super) fn restore(&mut self) {
        copy(
            (&self.saved_slots, &self.saved_texts),
            (&mut self.slots, &mut self.texts),
        );
    }

    /// The value in an expression.
    pub(super) fn scalar(&self, slot: u32, lists: &[List]) -> Result<Scalar, EvalError> {
        let text = match self.slots[slot as usize] {
            Slot::Unset => return Err(EvalError::Unset(slot)),
            Slot::Scalar(value) => return Ok(value),
            Slot::Text => self.texts[slot as usize].as_slice(),
            Slot::Listed { list, row, column } => match lists[list as usize].cell(row, column) {
                Cell::Null => return Ok(Scalar::Null),
                Cell::Int(int) => return Ok(Scalar::Int(int)),
                Cell::Double(double) => return Ok(Scalar::Double(double)),
                Cell::Text(text) => text,
            },
        };
        Scalar::of_text(text).ok_or(EvalError::Text(slot))
    }

    /// The value of a placeholder.
    pub(super) fn value<'v>(&'v self, slot: u32, lists: &'v [List]) -> Result<Value<'v>, Unusable> {
        match self.slots[slot as usize] {
            Slot::Unset => Err(Unusable::Unset(slot)),
            Slot::Scalar(Scalar::Null) => Ok(Value::Null),
            Slot::Scalar(Scalar::Bool(bool)) => Ok(Value::Int(bool.into())),
            Slot::Scalar(Scalar::Int(int)) => Ok(Value::Int(int)),
            Slot::Scalar(Scalar::Double(double)) if double.is_finite() => Ok(Value::Float(double)),
            Slot::Scalar(Scalar::Double(_)) => Err(Unusable::Infinite(slot)),
            Slot::Text => Ok(Value::Bytes(&self.texts[slot as usize])),
            Slot::Listed { list, row, column } => {
                Ok(match lists[list as usize].cell(row, column) {
                    Cell::Null => Value::Null,
                    Cell::Int(int) => Value::Int(int),
                    Cell::Double(double) => Value::Float(double),
                    Cell::Text(text) => Value::Bytes(text),
                })
            }
        }
    }
}

/// Writes a value as a literal of SQL: `5`, `2.5e0`, `'it\'s'`, `NULL`; see [`quote_into`] for strings.
pub(super) fn put_literal(value: Value<'_>, escapes_with_backslash: bool, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(int) => out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes()),
        Value::Uint(int) => out.extend_from_slice(itoa::Buffer::new().format(int).as_bytes()),
        // With an exponent it is a double for the server, too, and not a decimal number.
        Value::Float(double) => {
            write!(out, "{double:e}").expect("writing into memory does not fail");
        }
        Value::Decimal(number) => out.extend_from_slice(number),
        Value::Bytes(text) => quote_into(text, escapes_with_backslash, out),
    }
}

fn copy(from: (&[Slot], &[Vec<u8>]), to: (&mut [Slot], &mut [Vec<u8>])) {
    to.0.copy_from_slice(from.0);
    let texts = from.0.iter().zip(from.1).zip(to.1);
    for ((slot, from), to) in texts {
        if *slot == Slot::Text {
            to.clear();
            to.extend_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_gets_the_values_of_before() {
        let mut variables = Variables::new(2);
        variables.set_text(0, b"old");
        variables.save();
        variables.set(0, Scalar::Int(1));
        variables.set_text(1, b"new");
        variables.restore();
        assert_eq!(variables.value(0, &[]), Ok(Value::Bytes(b"old")));
        assert_eq!(variables.value(1, &[]), Err(Unusable::Unset(1)));
    }

    #[test]
    fn literals_have_the_type_of_their_value() {
        for (value, literal) in [
            (Value::Int(-5), "-5"),
            (Value::Float(2.5), "2.5e0"),
            (Value::Float(1e300), "1e300"),
            (Value::Bytes(b"it's \\"), "'it\\'s \\\\'"),
            (Value::Null, "NULL"),
        ] {
            let mut out = Vec::new();
            put_literal(value, true, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), literal);
        }
    }
}
