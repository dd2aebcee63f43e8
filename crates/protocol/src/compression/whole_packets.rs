//! Sent packets, gathered until they are whole, so that the frames of a server end where packets end.
//!
//! Clients are less patient with frames than with bytes: the pure client of mysql-connector-python (9.5) reads a packet out of
//! two frames at most, and fails where its header is cut. A server cuts a packet once, so that it never shows.

use crate::packets::{HEADER, length};

/// The beginning of a packet whose rest is still to be sent.
#[derive(Debug, Default)]
pub(crate) struct WholePackets {
    begun: Vec<u8>,
}

impl WholePackets {
    /// Takes bytes of the stream: the packet that they end, if any, and the whole packets after it. What is left begins the
    /// next packet.
    pub(crate) fn take<'a>(&mut self, mut bytes: &'a [u8]) -> (Vec<u8>, &'a [u8]) {
        while !self.begun.is_empty() && self.missing() > 0 {
            if bytes.is_empty() {
                return (Vec::new(), bytes);
            }
            let (now, later) = bytes.split_at(self.missing().min(bytes.len()));
            self.begun.extend_from_slice(now);
            bytes = later;
        }
        let ended = std::mem::take(&mut self.begun);
        let mut end = 0;
        while let Some(whole) = whole_length(&bytes[end..]).filter(|it| *it <= bytes.len() - end) {
            end += whole;
        }
        self.begun.extend_from_slice(&bytes[end..]);
        (ended, &bytes[..end])
    }

    /// Bytes until the end of the packet, or of its header.
    fn missing(&self) -> usize {
        whole_length(&self.begun).unwrap_or(HEADER) - self.begun.len()
    }
}

/// Length of the packet that begins here, with its header; `None` if that is not complete.
fn whole_length(bytes: &[u8]) -> Option<usize> {
    let &[a, b, c, _] = bytes.first_chunk::<HEADER>()?;
    Some(HEADER + length(a, b, c))
}
