//! A checksum over the rows of an answer that does not depend on their order.

use std::hash::{DefaultHasher, Hasher};

use crate::{
    command::COM_QUERY, connection::Connection, error::Error, row_sink::RowSink, skim::Outcome,
};

/// The rows of an answer in any order: equal for the same rows, each as often. It has a meaning only within one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowsChecksum {
    rows: u64,
    /// Sum of the hashes of the rows: a sum does not depend on an order, and two equal rows do not cancel each other.
    sum: u64,
    /// Bytes of all rows, as the server's text.
    bytes: u64,
}

impl RowsChecksum {
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Bytes of all rows, without the heads of their packets.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// Adds up rows that are not kept.
struct Summed {
    checksum: RowsChecksum,
}

impl RowSink for Summed {
    fn begin_set(&mut self, _: bool) {}

    fn column(&mut self, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn row(&mut self, payload: &[u8]) -> Result<(), Error> {
        let mut hasher = DefaultHasher::new();
        hasher.write(payload);
        self.checksum.sum = self.checksum.sum.wrapping_add(hasher.finish());
        self.checksum.rows += 1;
        self.checksum.bytes += payload.len() as u64;
        Ok(())
    }

    fn bytes_left(&self) -> usize {
        ROW_BYTES_MAX
    }
}

/// Largest row of a checksum, the server's own limit of a packet.
const ROW_BYTES_MAX: usize = 1 << 30;

impl Connection {
    /// Executes a statement and adds up its rows; of several sets of rows, those of all of them.
    ///
    /// The values are compared as the server's text.
    pub async fn checksum(&mut self, sql: &[u8]) -> Result<(Outcome, RowsChecksum), Error> {
        let mut summed = Summed {
            checksum: RowsChecksum::default(),
        };
        let outcome = self.run(COM_QUERY, sql, None, Some(&mut summed)).await?;
        Ok((outcome, summed.checksum))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(rows: &[Vec<u8>]) -> RowsChecksum {
        let mut summed = Summed {
            checksum: RowsChecksum::default(),
        };
        for row in rows {
            summed.row(row).unwrap();
        }
        summed.checksum
    }

    #[test]
    fn equal_rows_do_not_cancel_each_other() {
        let (a, b) = (b"\x01a".to_vec(), b"\x01b".to_vec());
        assert_ne!(of(&[a.clone(), a.clone()]), of(&[b.clone(), b]));
        assert_ne!(of(&[a.clone(), a.clone()]), of(&[a]));
        // NULL is no empty text.
        assert_ne!(of(&[vec![0xfb]]), of(&[vec![0]]));
    }

    proptest! {
        #[test]
        fn the_order_does_not_matter(rows in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..9), 0..20)) {
            let sum = of(&rows);
            let mut turned = rows.clone();
            turned.reverse();
            let third = turned.len() / 3;
            turned.rotate_left(third);
            prop_assert_eq!(of(&turned), sum);
            prop_assert_eq!(sum.rows(), rows.len() as u64);
        }
    }
}
