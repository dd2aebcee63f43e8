//! One connection of a session, to the client or to a server: received bytes, and sending.

use std::io;

use reactor::Stream;

use crate::buffer::Buffer;

/// Length of a packet's header.
pub(crate) const HEADER: usize = 4;
/// The longest payload of one packet; a payload of this length continues in the next packet.
const PAYLOAD_MAX: usize = 0xff_ffff;

/// A connection with the bytes that were received and not passed on yet.
pub(crate) struct Wire {
    pub(crate) stream: Stream,
    buffer: Option<Buffer>,
    start: usize,
    end: usize,
}

/// A complete packet at the beginning of the unread bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whole {
    /// Bytes with all headers.
    pub(crate) used: usize,
    /// Number of the last part.
    pub(crate) number: u8,
    /// Parts; a packet of one part lies in the bytes as it is.
    pub(crate) parts: usize,
}

impl Wire {
    pub(crate) fn new(stream: Stream) -> Self {
        Self {
            stream,
            buffer: None,
            start: 0,
            end: 0,
        }
    }

    /// Bytes that were received and not consumed.
    pub(crate) fn unread(&self) -> &[u8] {
        match &self.buffer {
            Some(buffer) => &buffer[self.start..self.end],
            None => &[],
        }
    }

    pub(crate) fn unread_mut(&mut self) -> &mut [u8] {
        match &mut self.buffer {
            Some(buffer) => &mut buffer[self.start..self.end],
            None => &mut [],
        }
    }

    pub(crate) fn has_unread(&self) -> bool {
        self.start < self.end
    }

    /// Forgets the first `count` unread bytes.
    pub(crate) fn consume(&mut self, count: usize) {
        self.start += count.min(self.end - self.start);
        self.rest();
    }

    /// Gives the buffer back if nothing is unread.
    fn rest(&mut self) {
        if self.start == self.end {
            self.buffer = None;
            self.start = 0;
            self.end = 0;
        }
    }

    /// Receives what is there, as long as fewer than `limit` bytes are unread; false if there is nothing.
    ///
    /// The end of the stream is an error of the kind `UnexpectedEof`.
    pub(crate) fn try_receive(&mut self, limit: usize) -> io::Result<bool> {
        let buffer = self.buffer.get_or_insert_with(Buffer::take);
        if self.end == buffer.len() {
            if self.start > 0 {
                buffer.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else if buffer.len() >= limit {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("a packet is longer than {limit} bytes"),
                ));
            } else {
                let doubled = (buffer.len() * 2).min(limit.max(buffer.len() + 1));
                buffer.resize(doubled, 0);
            }
        }
        let received = self.stream.try_read(&mut buffer[self.end..]);
        match received {
            Ok(Some(0)) => Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(Some(count)) => {
                self.end += count;
                Ok(true)
            }
            Ok(None) => {
                self.rest();
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// The complete packet at the beginning of the unread bytes; `None` as long as a part is missing.
    pub(crate) fn whole(&self) -> Option<Whole> {
        let unread = self.unread();
        let (mut at, mut parts) = (0, 0);
        loop {
            let &[a, b, c, number] = unread.get(at..)?.first_chunk()?;
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            at += HEADER + length;
            parts += 1;
            if length < PAYLOAD_MAX {
                return (at <= unread.len()).then_some(Whole {
                    used: at,
                    number,
                    parts,
                });
            }
        }
    }

    /// The payload of a packet that [`Wire::whole`] found, joined.
    pub(crate) fn payload(&self, whole: Whole) -> Vec<u8> {
        let mut payload = Vec::with_capacity(whole.used.saturating_sub(whole.parts * HEADER));
        let mut rest = &self.unread()[..whole.used];
        while let Some((_, after)) = rest.split_first_chunk::<HEADER>() {
            let part = after.len().min(PAYLOAD_MAX);
            payload.extend_from_slice(&after[..part]);
            rest = &after[part..];
        }
        payload
    }
}
