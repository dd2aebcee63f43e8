//! The compressed protocol: the packet stream in frames, each deflated if that makes it shorter.
//!
//! A frame is a header of 7 bytes and a piece of the stream. The header holds the length of the following data (3
//! bytes, little-endian), the frame's number in its exchange, and the inflated length of the piece (3 bytes; 0 if it is
//! not deflated). A packet may begin in one frame and end in a later one. `SELECT 1` as one frame, too short to be
//! deflated:
//!
//! ```text
//! 0d 00 00  00  00 00 00  |  09 00 00 00  03 53 45 4c 45 43 54 20 31
//! ```
//!
//! The sequence numbers of the packets inside are ignored: servers continue them from those of the frames.
//!
//! Source: MySQL's manual of the source code, "Compressed Packet".

use std::{cell::RefCell, io};

mod numbering;
mod whole_packets;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use self::whole_packets::WholePackets;
use crate::packets::{HEADER as PACKET_HEADER, PAYLOAD_MAX, length};
pub(crate) use numbering::Numbering;

/// Length of a frame's header.
const HEADER: usize = 7;
/// The longest piece in one frame that we send to a server: far below the smallest default of the servers' `max_allowed_packet`
/// (1 MiB), which a longer frame would exceed.
const PIECE_MAX: usize = 256 << 10;
/// Shorter pieces are sent uncompressed, as by servers and their own clients.
const DEFLATE_MIN: usize = 50;
/// Initial size of a connection's frame buffer, to which it is reduced after a large frame.
const ROOM: usize = 16 << 10;

thread_local! {
    // Their memory (300 kB and 40 kB) is too much for each of ten thousand connections, and every frame is a
    // separate stream.
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(Compression::default(), true));
    static INFLATE: RefCell<Decompress> = RefCell::new(Decompress::new(true));
}

/// The frames of one connection, in both directions.
pub(crate) struct Frames {
    /// Received bytes; those before `start` are consumed.
    received: Vec<u8>,
    start: usize,
    end: usize,
    /// Content of the last frame; bytes before `read` are consumed.
    content: Vec<u8>,
    read: usize,
    /// The number of the next frame of the exchange, for either side.
    number: u8,
    /// As a server: the other side begins the exchanges, and takes packets that are whole.
    is_server: bool,
    whole: WholePackets,
    /// The content is the beginning of an exchange, which was not noticed yet.
    begins: bool,
    /// The last frame was the other side's.
    was_received: bool,
}

impl Frames {
    pub(crate) fn new() -> Self {
        Self {
            received: Vec::new(),
            start: 0,
            end: 0,
            content: Vec::new(),
            read: 0,
            number: 0,
            is_server: false,
            whole: WholePackets::default(),
            begins: false,
            was_received: false,
        }
    }

    /// The frames of a server, whose client begins the exchanges.
    pub(crate) fn of_server() -> Self {
        Self {
            is_server: true,
            ..Self::new()
        }
    }

    /// Whether the content is the beginning of an exchange; true once.
    pub(crate) fn take_beginning(&mut self) -> bool {
        std::mem::take(&mut self.begins)
    }

    pub(crate) fn begin_exchange(&mut self) {
        self.number = 0;
    }

    /// Appends the frames that contain these bytes; as a server, those of the packets that are whole by now, of which only one
    /// of the greatest length takes two frames.
    pub(crate) fn pack(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        self.was_received = false;
        if self.is_server {
            let (ended, whole) = self.whole.take(bytes);
            self.add(ended.chunks(PAYLOAD_MAX), out);
            self.add(whole.chunks(PAYLOAD_MAX), out);
        } else {
            self.add(bytes.chunks(PIECE_MAX), out);
        }
    }

    /// Appends a frame for each piece.
    fn add<'a>(&mut self, pieces: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
        for piece in pieces {
            let header = out.len();
            let begin = header + HEADER;
            out.resize(begin, 0);
            let mut inflated = piece.len();
            if piece.len() < DEFLATE_MIN || !deflate(piece, out) || out.len() - begin >= inflated {
                out.truncate(begin);
                out.extend_from_slice(piece);
                inflated = 0;
            }
            let [a, b, c, ..] = (out.len() - begin).to_le_bytes();
            let [d, e, f, ..] = inflated.to_le_bytes();
            out[header..begin].copy_from_slice(&[a, b, c, self.number, d, e, f]);
            self.number = self.number.wrapping_add(1);
        }
    }

    /// Buffer space to receive into; never empty.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.received.len() != ROOM {
                self.received = vec![0; ROOM];
            }
        } else if self.end == self.received.len() {
            if self.start > 0 {
                self.received.copy_within(self.start..self.end, 0);
                self.end -= self.start;
                self.start = 0;
            } else {
                // The buffer grows with the received data, not with the length in a header.
                self.received.resize(self.received.len() * 2, 0);
            }
        }
        &mut self.received[self.end..]
    }

    /// Marks `count` bytes of the buffer space as received.
    pub(crate) fn received(&mut self, count: usize) {
        self.end += count;
    }

    /// Whether there is content to read; decodes the next received frames if necessary.
    pub(crate) fn has_content(&mut self) -> io::Result<bool> {
        while self.read == self.content.len() {
            if !self.next_frame()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether received bytes are unread.
    pub(crate) fn has_unread(&self) -> bool {
        self.read < self.content.len() || self.start < self.end
    }

    /// Whether there is content, or a frame that makes some.
    pub(crate) fn has_frame(&self) -> bool {
        let received = &self.received[self.start..self.end];
        self.read < self.content.len()
            || received
                .first_chunk()
                .is_some_and(|&[a, b, c]| received.len() >= HEADER + length(a, b, c))
    }

    /// Reads available content; 0 if there is none.
    pub(crate) fn read(&mut self, buf: &mut [u8]) -> usize {
        let content = &self.content[self.read..];
        let count = content.len().min(buf.len());
        buf[..count].copy_from_slice(&content[..count]);
        self.read += count;
        count
    }

    /// Replaces the content by that of the next frame; false if the frame is not complete yet.
    fn next_frame(&mut self) -> io::Result<bool> {
        let received = &self.received[self.start..self.end];
        let Some(&[a, b, c, number, d, e, f]) = received.first_chunk() else {
            return Ok(false);
        };
        let (length, inflated) = (length(a, b, c), length(d, e, f));
        let Some(piece) = received.get(HEADER..HEADER + length) else {
            return Ok(false);
        };
        self.content.clear();
        self.content.shrink_to(ROOM);
        self.read = 0;
        if inflated == 0 {
            self.content.extend_from_slice(piece);
        } else {
            inflate(piece, inflated, &mut self.content)?;
        }
        // While the client sends, the frame after its 256th has the number 0, too.
        let continues = self.number == 0 && self.was_received;
        self.was_received = true;
        if self.is_server && number == 0 && !continues {
            self.number = 0;
            self.begins = true;
        }
        // An error may be out of sequence: the server did not wait for the rest of the command.
        if number != self.number && self.content.get(PACKET_HEADER) != Some(&0xff) {
            return Err(malformed("compressed packet out of sequence"));
        }
        self.number = number.wrapping_add(1);
        self.start += HEADER + length;
        Ok(true)
    }
}

/// Appends the deflated piece; false if it is not shorter than the piece, and the appended bytes are then useless.
fn deflate(piece: &[u8], out: &mut Vec<u8>) -> bool {
    DEFLATE.with_borrow_mut(|stream| {
        stream.reset();
        out.reserve(piece.len());
        let deflated = stream.compress_vec(piece, out, FlushCompress::Finish);
        matches!(deflated, Ok(Status::StreamEnd))
    })
}

/// Replaces `out`, which is empty, by the inflated piece, which must have the length given in the header.
fn inflate(piece: &[u8], promised: usize, out: &mut Vec<u8>) -> io::Result<()> {
    INFLATE.with_borrow_mut(|stream| {
        stream.reset(true);
        // Deflate compresses by at most a factor of 1,032: an impossible length is refused before memory is allocated.
        if promised / 1032 > piece.len() {
            return Err(malformed("compressed packet of an impossible length"));
        }
        out.reserve_exact(promised);
        let ended = stream.decompress_vec(piece, out, FlushDecompress::Finish);
        match ended {
            Ok(Status::StreamEnd) if out.len() == promised => Ok(()),
            Ok(_) => Err(malformed(
                "compressed packet with a length other than stated",
            )),
            Err(_) => Err(malformed("compressed packet that cannot be inflated")),
        }
    })
}

fn malformed(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        Frames::new().pack(bytes, &mut out);
        out
    }

    /// The content decoded from received bytes, or the error.
    fn unpacked(mut bytes: &[u8]) -> Result<Vec<u8>, String> {
        let (mut frames, mut content) = (Frames::new(), Vec::new());
        loop {
            while frames.has_content().map_err(|error| error.to_string())? {
                let mut buf = [0; 1000];
                let count = frames.read(&mut buf);
                content.extend_from_slice(&buf[..count]);
            }
            if bytes.is_empty() {
                return Ok(content);
            }
            let count = bytes.read(frames.room()).expect("a slice can be read");
            frames.received(count);
        }
    }

    #[test]
    fn short_pieces_are_sent_as_they_are() {
        let select = b"\x09\x00\x00\x00\x03SELECT 1";
        assert_eq!(
            packed(select),
            b"\x0d\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x03SELECT 1"
        );
    }

    #[test]
    fn a_zlib_stream_of_another_program_is_inflated() {
        // 60 times "a", by Python's zlib.compress.
        let stream = [120, 156, 75, 76, 36, 31, 0, 0, 181, 192, 22, 189];
        let frame = [&[12, 0, 0, 0, 60, 0, 0][..], &stream].concat();
        assert_eq!(unpacked(&frame).unwrap(), b"a".repeat(60));
    }

    #[test]
    fn long_streams_are_cut_and_numbered() {
        let repeated = b"abcdefgh".repeat(100_000);
        let random: Vec<u8> = (0..600_000_u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
            .collect();
        for bytes in [repeated, random, vec![7; 50], vec![7; 49]] {
            let out = packed(&bytes);
            assert_eq!(unpacked(&out).unwrap(), bytes);
            assert!(out.len() <= bytes.len() + 7 * bytes.len().div_ceil(PIECE_MAX));
        }
    }

    /// The content of each frame.
    fn contents(mut bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut all = Vec::new();
        while let Some(&[a, b, c, number, ..]) = bytes.first_chunk::<HEADER>() {
            let (frame, rest) = bytes.split_at(HEADER + length(a, b, c));
            // Each is read by itself, as the first of an exchange.
            assert_eq!(usize::from(number), all.len() % 256);
            let mut frame = frame.to_vec();
            frame[3] = 0;
            all.push(unpacked(&frame).unwrap());
            bytes = rest;
        }
        all
    }

    fn packet(payload: usize) -> Vec<u8> {
        let mut packet = payload.to_le_bytes()[..PACKET_HEADER].to_vec();
        packet.resize(PACKET_HEADER + payload, b'x');
        packet
    }

    #[test]
    fn frames_to_a_client_hold_whole_packets_however_they_are_relayed() {
        let short = [5, 0, 1, 7, 60, 0, 900].map(packet).to_vec();
        let long = [5, 300_000, 7, 0, 2_000_000, 60].map(packet).to_vec();
        for (packets, piece) in [
            (&short, 1),
            (&short, 3),
            (&short, 4),
            (&short, 10),
            (&long, 1000),
            (&long, 65_536),
            (&long, usize::MAX),
        ] {
            let (mut frames, mut out) = (Frames::of_server(), Vec::new());
            for bytes in packets.concat().chunks(piece) {
                frames.pack(bytes, &mut out);
            }
            let mut left = packets.iter();
            for content in contents(&out) {
                let mut rest = &content[..];
                while !rest.is_empty() {
                    let packet = left.next().unwrap();
                    rest = rest.strip_prefix(&packet[..]).expect("a whole packet");
                }
            }
            assert_eq!(left.next(), None, "{piece}");
        }
    }

    #[test]
    fn a_packet_of_the_greatest_length_is_cut_once() {
        let (mut frames, mut out) = (Frames::of_server(), Vec::new());
        let packets = [packet(PAYLOAD_MAX), packet(3)].concat();
        for bytes in packets.chunks(1 << 20) {
            frames.pack(bytes, &mut out);
        }
        let lengths: Vec<_> = contents(&out).iter().map(Vec::len).collect();
        assert_eq!(lengths, [PAYLOAD_MAX, PACKET_HEADER, PACKET_HEADER + 3]);
    }

    #[test]
    fn an_exchange_of_more_than_256_frames_begins_once() {
        let (mut client, mut server) = (Frames::new(), Frames::of_server());
        let mut beginnings = 0;
        let mut take = |frames: &mut Frames, mut bytes: &[u8]| {
            while !bytes.is_empty() {
                let count = bytes.read(frames.room()).unwrap();
                frames.received(count);
                while frames.has_content().unwrap() {
                    beginnings += usize::from(frames.take_beginning());
                    frames.read(&mut [0; 100]);
                }
            }
            beginnings
        };
        for _ in 0..2 {
            client.begin_exchange();
            let mut out = Vec::new();
            for _ in 0..600 {
                client.pack(b"x", &mut out);
            }
            take(&mut server, &out);
            // The answer comes in as many frames as make the next number 0 again.
            server.pack(b"y", &mut Vec::new());
            server.number = 0;
        }
        assert_eq!(take(&mut server, b""), 2);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let good = packed(&[7; 1000]);
        let changed = |at: usize, to: u8| {
            let mut bytes = good.clone();
            bytes[at] = to;
            unpacked(&bytes).unwrap_err()
        };
        assert_eq!(changed(3, 1), "compressed packet out of sequence");
        let other = "compressed packet with a length other than stated";
        assert_eq!(changed(4, 0xe7), other);
        assert_eq!(changed(4, 0xe9), other);
        let impossible = "compressed packet of an impossible length";
        assert_eq!(changed(6, 0xff), impossible);
        let broken = "compressed packet that cannot be inflated";
        assert_eq!(changed(7, 0), broken);
        // The checksum at the end.
        assert_eq!(changed(good.len() - 1, !good[good.len() - 1]), broken);
        // An error out of sequence is accepted.
        let mut error = packed(b"\x05\x00\x00\x00\xff\x15\x04no");
        error[3] = 9;
        assert_eq!(unpacked(&error).unwrap().len(), 9);
    }
}
