//! The compressed protocol without a socket: bytes in, frames out, and back.

use std::io;

use crate::compression::Frames;

/// The frames of these pieces, each sent separately.
pub fn pack<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let (mut frames, mut out) = (Frames::new(), Vec::new());
    for piece in pieces {
        frames.pack(piece, &mut out);
    }
    out
}

/// The content of frames received in pieces of these lengths (repeated as often as needed; 0 counts as 1); an
/// incomplete frame at the end is ignored.
pub fn unpack(mut bytes: &[u8], pieces: &[usize]) -> io::Result<Vec<u8>> {
    let (mut frames, mut content) = (Frames::new(), Vec::new());
    let mut pieces = pieces.iter().copied().cycle();
    loop {
        while frames.has_content()? {
            let mut buf = [0; 4096];
            let count = frames.read(&mut buf);
            content.extend_from_slice(&buf[..count]);
        }
        if bytes.is_empty() {
            return Ok(content);
        }
        let room = frames.room();
        let piece = pieces.next().unwrap_or(usize::MAX).max(1);
        let (now, later) = bytes.split_at(piece.min(room.len()).min(bytes.len()));
        room[..now.len()].copy_from_slice(now);
        frames.received(now.len());
        bytes = later;
    }
}
