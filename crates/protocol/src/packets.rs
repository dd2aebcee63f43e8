//! Packets in a byte stream: splitting received bytes, and framing sent ones.
//!
//! A packet is a header of 4 bytes (length in 3, little-endian; sequence number) and a payload. A payload of
//! 16,777,215 bytes continues in the next packet; together they form one logical packet, which is what callers see.

use std::{cell::Cell, ops::Range};

use crate::error::Error;

/// Length of a packet's header.
pub(crate) const HEADER: usize = 4;
/// The longest payload of one packet; a payload of this length continues in the next packet.
pub(crate) const PAYLOAD_MAX: usize = 0xff_ffff;
/// Size limit of packets that are kept: errors, OKs, column counts and file names.
pub(crate) const CONTROL_BYTES_MAX: usize = 64 << 10;
/// Payload of a data packet, unless the server takes less. Well below the smallest default of the servers'
/// `max_allowed_packet` (1 MiB), which a longer packet would exceed.
pub(crate) const DATA_MAX: usize = 256 << 10;

/// Size of the receive buffer that all connections of a thread share, in turn. With ten thousand connections, separate
/// buffers would use more memory, and would seldom be in the processor's cache.
const BUFFER_SHARED: usize = 64 << 10;

thread_local! {
    /// Empty while it is borrowed, and before its first use.
    static SHARED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Splits received bytes into packets.
///
/// It borrows the thread's buffer for receiving, and returns it before it waits for more data. Unread bytes, the
/// beginning of a packet, are moved to its own buffer.
pub(crate) struct PacketReader {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    /// The own buffer while the thread's buffer is in use.
    own: Option<Vec<u8>>,
    skipping: Option<Skipping>,
    /// Expected number of the next packet.
    sequence: u8,
    /// The packets are inside compressed frames, whose numbers are checked instead.
    numbers_mean_nothing: bool,
}

/// A packet that is being discarded.
struct Skipping {
    payload_left: usize,
    goes_on: bool,
}

/// The beginning of a logical packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Length of the first part's payload, at most [`PAYLOAD_MAX`].
    pub(crate) length: usize,
    /// First byte of the payload, which determines the kind of packet; `None` if it is empty.
    pub(crate) first: Option<u8>,
}

impl PacketReader {
    pub(crate) fn new() -> Self {
        Self {
            buf: Vec::new(),
            start: 0,
            end: 0,
            own: None,
            skipping: None,
            sequence: 0,
            numbers_mean_nothing: false,
        }
    }

    pub(crate) fn ignore_numbers(&mut self) {
        self.numbers_mean_nothing = true;
    }

    fn is_in_turn(&self, number: u8) -> bool {
        number == self.sequence || self.numbers_mean_nothing
    }

    /// Buffer space to receive into; never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        if self.own.is_none() {
            self.borrow_shared();
        }
        if self.end == self.buf.len() {
            if self.start > 0 {
                self.buf.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                self.buf.resize(self.buf.len() * 2, 0);
            }
        }
        &mut self.buf[self.end..]
    }

    /// Marks `count` bytes of the buffer space as received.
    pub(crate) fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Call before waiting for more data and after a complete answer: other connections may then use the thread's
    /// buffer.
    pub(crate) fn rest(&mut self) {
        // A packet assembled from many reads would be copied at each of them.
        if self.own.is_some() && self.end - self.start <= BUFFER_SHARED / 2 {
            self.return_shared();
        }
    }

    fn borrow_shared(&mut self) {
        let mut shared = SHARED.take();
        if shared.is_empty() {
            shared = vec![0; BUFFER_SHARED];
        }
        let unread = self.end - self.start;
        shared[..unread].copy_from_slice(&self.buf[self.start..self.end]);
        self.own = Some(std::mem::replace(&mut self.buf, shared));
        (self.start, self.end) = (0, unread);
    }

    fn return_shared(&mut self) {
        let Some(mut own) = self.own.take() else {
            return;
        };
        let unread = &self.buf[self.start..self.end];
        if own.len() < unread.len() {
            own.resize(unread.len(), 0);
        }
        own[..unread.len()].copy_from_slice(unread);
        (self.start, self.end) = (0, unread.len());
        let shared = std::mem::replace(&mut self.buf, own);
        // A single large packet must not keep its memory forever.
        if shared.len() == BUFFER_SHARED {
            SHARED.set(shared);
        }
    }

    /// Whether there are received bytes that are not part of a returned packet.
    pub(crate) fn has_unread(&self) -> bool {
        self.start < self.end
    }

    pub(crate) fn begins_with_error(&self) -> bool {
        self.skipping.is_none() && self.buf[..self.end].get(self.start + HEADER) == Some(&0xff)
    }

    /// The next sequence number, for the packet sent in answer.
    pub(crate) fn sequence(&self) -> u8 {
        self.sequence
    }

    pub(crate) fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// Skips up to `at_most` complete packets while their payloads begin with less than `below`; returns their number.
    /// Packets with special properties are left to the other methods.
    pub(crate) fn skip_whole(&mut self, at_most: u64, below: u8) -> u64 {
        if self.skipping.is_some() {
            return 0;
        }
        let received = &self.buf[..self.end];
        let (mut at, mut sequence, mut count) = (self.start, self.sequence, 0);
        let any = self.numbers_mean_nothing;
        while count < at_most
            && let Some(&[a, b, c, number, first]) = received[at..].first_chunk()
        {
            let length = length(a, b, c);
            let next = at + HEADER + length;
            let plain =
                (number == sequence || any) && first < below && (1..PAYLOAD_MAX).contains(&length);
            if !plain || next > received.len() {
                break;
            }
            at = next;
            sequence = number.wrapping_add(1);
            count += 1;
        }
        (self.start, self.sequence) = (at, sequence);
        count
    }

    /// The next packet's payload, if it is an ordinary packet: complete, in sequence, not over `limit`.
    pub(crate) fn take_whole(&mut self, limit: usize) -> Option<Range<usize>> {
        let &[a, b, c, number] = self.buf[self.start..self.end].first_chunk()?;
        let length = length(a, b, c);
        let (begin, end) = (self.start + HEADER, self.start + HEADER + length);
        let plain = self.is_in_turn(number) && length <= limit && length < PAYLOAD_MAX;
        if self.skipping.is_some() || !plain || end > self.end {
            return None;
        }
        self.sequence = number.wrapping_add(1);
        self.start = end;
        Some(begin..end)
    }

    /// The head of the next packet, once enough of it has been received.
    pub(crate) fn peek(&mut self) -> Result<Option<Head>, Error> {
        if !self.skip_on()? {
            return Ok(None);
        }
        let Some(&[a, b, c, number]) = self.buf[self.start..self.end].first_chunk() else {
            return Ok(None);
        };
        let length = length(a, b, c);
        let first = match (length, self.buf[..self.end].get(self.start + HEADER)) {
            (0, _) => None,
            (_, None) => return Ok(None),
            (_, Some(&first)) => Some(first),
        };
        // An error may be out of sequence: the server did not wait for the rest of the command.
        if !self.is_in_turn(number) && first != Some(0xff) {
            return Err(Error::Malformed {
                what: "packet out of sequence",
            });
        }
        Ok(Some(Head { length, first }))
    }

    /// Discards the peeked packet, including bytes not received yet.
    pub(crate) fn skip(&mut self, head: Head) {
        self.sequence = self.buf[self.start + 3].wrapping_add(1);
        self.start += HEADER;
        self.skipping = Some(Skipping {
            payload_left: head.length,
            goes_on: head.length == PAYLOAD_MAX,
        });
    }

    /// The peeked packet's payload, once it is complete; an error if it is longer than `limit`.
    pub(crate) fn take(&mut self, limit: usize) -> Result<Option<Range<usize>>, Error> {
        let mut at = self.start;
        let mut payload = 0;
        loop {
            let Some(&[a, b, c, number]) =
                self.buf[..self.end].get(at..).and_then(<[u8]>::first_chunk)
            else {
                return Ok(None);
            };
            let length = length(a, b, c);
            payload += length;
            if payload > limit {
                return Err(Error::TooLarge { limit });
            }
            at += HEADER + length;
            if length < PAYLOAD_MAX {
                if at > self.end {
                    return Ok(None);
                }
                self.sequence = number.wrapping_add(1);
                break;
            }
        }
        let begin = self.start + HEADER;
        self.join(begin, payload);
        self.start = at;
        Ok(Some(begin..begin + payload))
    }

    /// The bytes of a range that `take` returned.
    pub(crate) fn payload(&self, range: Range<usize>) -> &[u8] {
        &self.buf[range]
    }

    /// Closes the gaps of the headers between the parts of a long payload.
    fn join(&mut self, begin: usize, payload: usize) {
        let mut joined = PAYLOAD_MAX;
        let mut from = begin + PAYLOAD_MAX + HEADER;
        while joined < payload {
            let part = (payload - joined).min(PAYLOAD_MAX);
            self.buf.copy_within(from..from + part, begin + joined);
            joined += part;
            from += part + HEADER;
        }
    }

    /// Continues discarding; true when nothing is left to skip.
    fn skip_on(&mut self) -> Result<bool, Error> {
        while let Some(skipping) = &mut self.skipping {
            let now = skipping.payload_left.min(self.end - self.start);
            skipping.payload_left -= now;
            self.start += now;
            if skipping.payload_left > 0 {
                return Ok(false);
            }
            if !skipping.goes_on {
                self.skipping = None;
                break;
            }
            let Some(&[a, b, c, number]) = self.buf[self.start..self.end].first_chunk() else {
                return Ok(false);
            };
            if number != self.sequence && !self.numbers_mean_nothing {
                return Err(Error::Malformed {
                    what: "packet out of sequence",
                });
            }
            self.sequence = number.wrapping_add(1);
            self.start += HEADER;
            let length = length(a, b, c);
            *skipping = Skipping {
                payload_left: length,
                goes_on: length == PAYLOAD_MAX,
            };
        }
        Ok(true)
    }
}

/// A length of three bytes, as packets and compressed frames have it.
pub(crate) fn length(a: u8, b: u8, c: u8) -> usize {
    usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16
}

/// Begins a packet in `out`, whose payload is appended by the caller.
pub(crate) fn begin(out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0; HEADER]);
}

/// Completes the packet in `out`, splitting it if it is long; returns the sequence number of the answer.
pub(crate) fn finish(out: &mut Vec<u8>, sequence: u8) -> u8 {
    let payload = out.len() - HEADER;
    if payload < PAYLOAD_MAX {
        let [a, b, c, ..] = payload.to_le_bytes();
        out[..HEADER].copy_from_slice(&[a, b, c, sequence]);
        return sequence.wrapping_add(1);
    }
    // A last part of full length would announce another one, so an empty part follows it.
    let parts = payload / PAYLOAD_MAX + 1;
    frame(out, PAYLOAD_MAX, parts, sequence)
}

/// Splits the payload in `out` into packets of a data stream of at most this payload, each complete in itself.
pub(crate) fn finish_data(out: &mut Vec<u8>, payload_max: usize, sequence: u8) -> u8 {
    let parts = (out.len() - HEADER).div_ceil(payload_max).max(1);
    frame(out, payload_max, parts, sequence)
}

/// Inserts a header before each part of the payload in `out`.
fn frame(out: &mut Vec<u8>, part_max: usize, parts: usize, mut sequence: u8) -> u8 {
    let payload = out.len() - HEADER;
    out.resize(parts * HEADER + payload, 0);
    for part in (0..parts).rev() {
        let length = (payload - part * part_max).min(part_max);
        let from = HEADER + part * part_max;
        out.copy_within(from..from + length, from + part * HEADER);
    }
    for part in 0..parts {
        let length = (payload - part * part_max).min(part_max);
        let [a, b, c, ..] = length.to_le_bytes();
        let at = part * (HEADER + part_max);
        out[at..at + HEADER].copy_from_slice(&[a, b, c, sequence]);
        sequence = sequence.wrapping_add(1);
    }
    sequence
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Length and number of each packet in a buffer, and the joined payloads.
    fn packets_of(mut out: &[u8]) -> (Vec<(usize, u8)>, Vec<u8>) {
        let (mut heads, mut payload) = (Vec::new(), Vec::new());
        while let Some((&[a, b, c, number], rest)) = out.split_first_chunk() {
            let length = length(a, b, c);
            heads.push((length, number));
            payload.extend_from_slice(&rest[..length]);
            out = &rest[length..];
        }
        (heads, payload)
    }

    fn payload(length: usize) -> Vec<u8> {
        (0..length).map(|i| (i % 251) as u8).collect()
    }

    #[test]
    fn a_long_packet_goes_on_until_a_part_is_not_full() {
        let cases: [(usize, &[(usize, u8)]); 5] = [
            (0, &[(0, 254)]),
            (5, &[(5, 254)]),
            (PAYLOAD_MAX - 1, &[(PAYLOAD_MAX - 1, 254)]),
            (PAYLOAD_MAX, &[(PAYLOAD_MAX, 254), (0, 255)]),
            (
                2 * PAYLOAD_MAX + 7,
                &[(PAYLOAD_MAX, 254), (PAYLOAD_MAX, 255), (7, 0)],
            ),
        ];
        for (length, expected) in cases {
            let mut out = Vec::new();
            begin(&mut out);
            out.extend_from_slice(&payload(length));
            let next = finish(&mut out, 254);
            let (heads, joined) = packets_of(&out);
            assert_eq!(heads, expected);
            assert!(joined == payload(length));
            assert_eq!(next, expected[expected.len() - 1].1.wrapping_add(1));
        }
    }

    #[test]
    fn data_is_cut_without_an_empty_packet_that_would_end_it() {
        let cases: [(usize, usize, &[usize]); 6] = [
            (0, DATA_MAX, &[0]),
            (1, DATA_MAX, &[1]),
            (DATA_MAX, DATA_MAX, &[DATA_MAX]),
            (DATA_MAX + 1, DATA_MAX, &[DATA_MAX, 1]),
            (3 * DATA_MAX, DATA_MAX, &[DATA_MAX; 3]),
            (20_000, 8192, &[8192, 8192, 3616]),
        ];
        for (length, payload_max, expected) in cases {
            let mut out = Vec::new();
            begin(&mut out);
            out.extend_from_slice(&payload(length));
            finish_data(&mut out, payload_max, 2);
            let (heads, joined) = packets_of(&out);
            assert_eq!(
                heads.iter().map(|head| head.0).collect::<Vec<_>>(),
                expected
            );
            assert!(joined == payload(length));
        }
    }
}
