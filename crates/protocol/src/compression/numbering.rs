//! The numbers of compressed packets, made those of packets that are not compressed.

use crate::packets::{HEADER, PAYLOAD_MAX};

/// Numbers the packets of an exchange anew, in both directions: both sides continue theirs from those of the frames.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    sent: Headers,
    received: Headers,
    /// The number of the next packet, for either side.
    next: u8,
    /// What is sent; kept to reuse its memory.
    out: Vec<u8>,
}

/// The headers in a stream of packets that passes by in pieces.
#[derive(Debug, Default)]
struct Headers {
    have: usize,
    length: usize,
    /// Bytes of the payload that are still to come.
    left: usize,
}

impl Numbering {
    pub(crate) fn begin_exchange(&mut self) {
        self.next = 0;
    }

    /// Numbers received packets; they may be the first of an exchange.
    pub(crate) fn received(&mut self, bytes: &mut [u8], begins: bool) {
        if begins {
            self.begin_exchange();
        }
        self.received.number(bytes, &mut self.next);
    }

    /// Packets to send, numbered.
    pub(crate) fn sent(&mut self, bytes: &[u8]) -> &[u8] {
        self.out.clear();
        self.out.extend_from_slice(bytes);
        self.sent.number(&mut self.out, &mut self.next);
        self.out.shrink_to(PAYLOAD_MAX >> 6);
        &self.out
    }
}

impl Headers {
    fn number(&mut self, bytes: &mut [u8], next: &mut u8) {
        let mut at = 0;
        loop {
            let passed = self.left.min(bytes.len() - at);
            at += passed;
            self.left -= passed;
            let Some(byte) = bytes.get_mut(at) else {
                return;
            };
            if self.have < HEADER - 1 {
                self.length |= usize::from(*byte) << (8 * self.have);
                self.have += 1;
            } else {
                *byte = *next;
                *next = next.wrapping_add(1);
                self.left = self.length;
                (self.have, self.length) = (0, 0);
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_numbered_however_they_are_cut() {
        let command = b"\x02\0\0\x00\x03x";
        let answer = b"\x01\0\0\x07a\0\0\0\x08\x02\0\0\x09bc";
        let right = b"\x01\0\0\x01a\0\0\0\x02\x02\0\0\x03bc";
        for piece in 1..answer.len() {
            let mut numbering = Numbering::default();
            for _ in 0..2 {
                numbering.begin_exchange();
                assert_eq!(numbering.sent(command), command);
                let mut all = *answer;
                for bytes in all.chunks_mut(piece) {
                    numbering.received(bytes, false);
                }
                assert_eq!(&all, right);
            }
        }
    }

    #[test]
    fn a_command_begins_again_with_0() {
        let mut numbering = Numbering::default();
        let mut command = *b"\x01\0\0\x00\x0e";
        for _ in 0..3 {
            numbering.received(&mut command, true);
            assert_eq!(command[3], 0);
            assert_eq!(numbering.sent(b"\x01\0\0\x05\0")[3], 1);
        }
    }
}
