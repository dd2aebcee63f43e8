//! The skimmer without a socket: bytes in, outcome out.

use crate::{
    error::Error,
    greeting::Greeting,
    packets::{self, PacketReader},
    rows::{ResultSet, TextRows},
    skim::{Dialect, Outcome, Skim, Step},
};

/// Reads answers from bytes that arrive in pieces.
#[derive(Debug, Clone, Copy, Default)]
pub struct Feed {
    /// Whether EOF packets are omitted, as negotiated.
    pub deprecate_eof: bool,
    /// Whether columns are described only once (MariaDB), as negotiated.
    pub cache_metadata: bool,
    /// Whether rows are kept instead of skimmed.
    pub keep: bool,
}

impl Feed {
    /// Reads one answer from `bytes`, received in pieces of these lengths (repeated as often as needed; 0 counts
    /// as 1); `None` if the answer is not complete.
    pub fn read(
        self,
        mut bytes: &[u8],
        pieces: &[usize],
    ) -> Result<Option<(Outcome, Vec<ResultSet>)>, Error> {
        let mut packets = PacketReader::new();
        // The statement had the number 0.
        packets.set_sequence(1);
        let mut skim = Skim::new(Dialect {
            deprecate_eof: self.deprecate_eof,
            cache_metadata: self.cache_metadata,
        });
        let mut info = Vec::new();
        let mut kept = self.keep.then(TextRows::new);
        let mut pieces = pieces.iter().copied().cycle();
        loop {
            match skim.step(&mut packets, &mut info, kept.as_mut().map(|kept| kept as _))? {
                Step::More if bytes.is_empty() => return Ok(None),
                Step::More => {
                    packets.rest();
                    let room = packets.room();
                    let piece = pieces.next().unwrap_or(usize::MAX).max(1);
                    let (now, later) = bytes.split_at(piece.min(room.len()).min(bytes.len()));
                    room[..now.len()].copy_from_slice(now);
                    packets.received(now.len());
                    bytes = later;
                }
                Step::FileRequest => packets.set_sequence(packets.sequence().wrapping_add(1)),
                Step::Done(outcome) => {
                    return Ok(Some((
                        outcome,
                        kept.map(TextRows::into_sets).unwrap_or_default(),
                    )));
                }
            }
        }
    }

    /// Frames payloads like a server that answers a statement.
    pub fn frame(payloads: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut sequence = 1;
        for payload in payloads {
            let mut packet = Vec::new();
            packets::begin(&mut packet);
            packet.extend_from_slice(payload);
            sequence = packets::finish(&mut packet, sequence);
            bytes.extend_from_slice(&packet);
        }
        bytes
    }
}

/// Parses a greeting; returns only whether it is valid.
pub fn parse_greeting(payload: &[u8]) -> Result<(), Error> {
    Greeting::parse(payload).map(drop)
}
