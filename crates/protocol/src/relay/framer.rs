//! The packets in a stream of bytes that passes by in pieces.

use std::ops::Range;

use crate::packets::{HEADER, PAYLOAD_MAX};

/// Follows the packets of a stream of bytes, however they are cut, and renumbers them if asked to.
#[derive(Debug, Clone, Default)]
pub struct Framer {
    header: [u8; HEADER],
    have: usize,
    /// Bytes of the current part's payload that are still to come.
    left: usize,
    in_payload: bool,
    /// The current part is full, so that another one follows.
    goes_on: bool,
    /// The current or the next part continues a packet.
    continues: bool,
    /// Added to the number of each packet.
    shift: u8,
    number: u8,
}

/// What comes next in the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FramerEvent {
    /// All bytes are used.
    Nothing,
    /// A part of a packet begins.
    Head {
        /// Length of this part's payload.
        length: usize,
        /// Whether it is the packet's first part.
        is_first: bool,
    },
    /// Bytes of the payload.
    Payload(Range<usize>),
    /// The packet is complete.
    End,
}

impl Framer {
    /// A framer at the beginning of a packet, which adds `shift` to each packet's number.
    pub fn new(shift: u8) -> Self {
        Self {
            shift,
            ..Self::default()
        }
    }

    /// The next piece of `bytes` from `at`, which moves on.
    pub fn next(&mut self, bytes: &mut [u8], at: &mut usize) -> FramerEvent {
        if self.in_payload {
            if self.left > 0 {
                let count = self.left.min(bytes.len() - *at);
                if count == 0 {
                    return FramerEvent::Nothing;
                }
                let range = *at..*at + count;
                *at += count;
                self.left -= count;
                return FramerEvent::Payload(range);
            }
            self.in_payload = false;
            self.continues = self.goes_on;
            if !self.goes_on {
                return FramerEvent::End;
            }
        }
        while self.have < HEADER {
            let Some(byte) = bytes.get_mut(*at) else {
                return FramerEvent::Nothing;
            };
            if self.have == HEADER - 1 {
                *byte = byte.wrapping_add(self.shift);
            }
            self.header[self.have] = *byte;
            self.have += 1;
            *at += 1;
        }
        let [a, b, c, number] = self.header;
        let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
        self.have = 0;
        self.number = number;
        self.left = length;
        self.goes_on = length == PAYLOAD_MAX;
        self.in_payload = true;
        FramerEvent::Head {
            length,
            is_first: !self.continues,
        }
    }

    /// Passes over complete packets of one part whose payload begins with less than `below`; returns how many.
    pub(crate) fn pass_whole(&mut self, bytes: &mut [u8], at: &mut usize, below: u8) -> u64 {
        if self.in_payload || self.have > 0 || self.continues {
            return 0;
        }
        let mut count = 0;
        while let Some(&[a, b, c, number, first]) = bytes[*at..].first_chunk() {
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            let next = *at + HEADER + length;
            if first >= below || length == 0 || length == PAYLOAD_MAX || next > bytes.len() {
                break;
            }
            self.number = number.wrapping_add(self.shift);
            bytes[*at + HEADER - 1] = self.number;
            *at = next;
            count += 1;
        }
        count
    }

    /// Whether no packet is open.
    pub fn is_between_packets(&self) -> bool {
        !self.in_payload && self.have == 0 && !self.continues
    }

    /// Bytes to the end of the open part, or of its header; 0 between packets.
    pub fn bytes_of_part_left(&self) -> usize {
        if self.in_payload {
            self.left
        } else if self.is_between_packets() {
            0
        } else {
            HEADER - self.have
        }
    }

    /// Numbers the packets from the next one on, which gets `next`.
    pub fn renumber(&mut self, next: u8) {
        let received = self.number.wrapping_sub(self.shift);
        self.shift = next.wrapping_sub(received).wrapping_sub(1);
        self.number = next.wrapping_sub(1);
    }

    /// The number of the last part, as it was passed on.
    pub fn number(&self) -> u8 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths of the logical packets in `bytes`, fed in pieces of `step` bytes.
    fn lengths(bytes: &[u8], step: usize) -> Vec<usize> {
        let (mut framer, mut lengths, mut length) = (Framer::new(0), Vec::new(), 0);
        for piece in bytes.chunks(step) {
            let (mut piece, mut at) = (piece.to_vec(), 0);
            loop {
                match framer.next(&mut piece, &mut at) {
                    FramerEvent::Nothing => break,
                    FramerEvent::Head { is_first: true, .. } => length = 0,
                    FramerEvent::Head { .. } => {}
                    FramerEvent::Payload(range) => length += range.len(),
                    FramerEvent::End => lengths.push(length),
                }
            }
        }
        assert!(framer.is_between_packets());
        lengths
    }

    #[test]
    fn packets_are_found_however_the_bytes_are_cut() {
        let bytes = [3, 0, 0, 0, 7, 8, 9, 0, 0, 0, 1, 1, 0, 0, 2, 5];
        for step in 1..=bytes.len() {
            assert_eq!(lengths(&bytes, step), [3, 0, 1], "{step}");
        }
    }

    #[test]
    fn a_packet_of_several_parts_is_one() {
        let mut bytes = vec![0xff, 0xff, 0xff, 0];
        bytes.resize(HEADER + PAYLOAD_MAX, 1);
        bytes.extend_from_slice(&[0, 0, 0, 1]);
        bytes.extend_from_slice(&[2, 0, 0, 2, 1, 1]);
        assert_eq!(lengths(&bytes, 100_000), [PAYLOAD_MAX, 2]);
    }

    #[test]
    fn numbers_are_shifted_and_wrap() {
        let mut bytes = [1, 0, 0, 254, 9, 1, 0, 0, 255, 9];
        let mut framer = Framer::new(3);
        let mut at = 0;
        while framer.next(&mut bytes, &mut at) != FramerEvent::Nothing {}
        assert_eq!(bytes, [1, 0, 0, 1, 9, 1, 0, 0, 2, 9]);
        assert_eq!(framer.number(), 2);
    }
}
