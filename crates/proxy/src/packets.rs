//! The packets of an answer that is kept.

use protocol::relay::{Framer, FramerEvent, Summary};

/// Memory of a packet besides its bytes: the vector, and what an allocation costs.
pub(crate) const PACKET_BYTES: usize = size_of::<Vec<u8>>() + 16;

/// The packets of an answer, joined and without headers.
#[derive(Default)]
pub(crate) struct Packets {
    framer: Framer,
    /// Those that are complete.
    pub(crate) all: Vec<Vec<u8>>,
    open: Vec<u8>,
    /// Memory of the complete ones, bytes.
    bytes: usize,
    /// What the answer said, once it has ended.
    pub(crate) summary: Summary,
}

impl Packets {
    /// Takes the next bytes of the answer.
    pub(crate) fn take(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        loop {
            match self.framer.next(bytes, &mut at) {
                FramerEvent::Nothing => return,
                FramerEvent::Head { .. } => {}
                FramerEvent::Payload(range) => self.open.extend_from_slice(&bytes[range]),
                // MariaDB's reports of progress are no part of the answer.
                FramerEvent::End if self.open.starts_with(&[0xff, 0xff, 0xff]) => self.open.clear(),
                FramerEvent::End => {
                    self.bytes += self.open.capacity() + PACKET_BYTES;
                    self.all.push(std::mem::take(&mut self.open));
                }
            }
        }
    }

    /// The memory that they take, bytes.
    pub(crate) fn memory(&self) -> usize {
        self.bytes + self.open.capacity()
    }

    /// Bytes of the packet that is not complete.
    pub(crate) fn open_bytes(&self) -> usize {
        self.open.len()
    }
}
