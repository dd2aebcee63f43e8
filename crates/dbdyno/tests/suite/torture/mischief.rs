//! Damage to bytes by a hostile server or a broken network: each a pure function of the bytes and of chance.

use crate::torture::chance::Chance;

/// Damage to one packet of a server, whose other packets are unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mischief {
    /// The payload is truncated, with a matching header.
    Truncated,
    /// The connection is closed within the packet.
    CutOff,
    /// The payload is extended by a megabyte.
    Oversized,
    /// The header announces 16 MB, and little follows.
    Promised,
    /// The next packet is sent before it.
    OutOfOrder,
    Twice,
    /// It is repeated without end, as fast as the client reads.
    Endless,
    /// Neither it nor anything after it is sent.
    Never,
    /// It is omitted.
    Lost,
    WrongSequence,
    Garbage,
    /// Some bits are flipped.
    Flipped,
    /// A length within it is enormous.
    Lengths,
    /// An error is sent instead, with control characters for a terminal.
    EvilError,
    /// A file of the client is requested instead.
    EvilFileRequest,
    /// Another login method is requested instead: the password in clear text.
    EvilAuthSwitch,
    /// Its bytes are sent one by one.
    Dripping,
    /// The connection is closed instead.
    Closed,
    /// Values of a row are replaced by extreme ones.
    Extreme,
}

pub(crate) const ALL: [Mischief; 19] = [
    Mischief::Truncated,
    Mischief::CutOff,
    Mischief::Oversized,
    Mischief::Promised,
    Mischief::OutOfOrder,
    Mischief::Twice,
    Mischief::Endless,
    Mischief::Never,
    Mischief::Lost,
    Mischief::WrongSequence,
    Mischief::Garbage,
    Mischief::Flipped,
    Mischief::Lengths,
    Mischief::EvilError,
    Mischief::EvilFileRequest,
    Mischief::EvilAuthSwitch,
    Mischief::Dripping,
    Mischief::Closed,
    Mischief::Extreme,
];

impl Mischief {
    /// True if no client can accept the reply as valid: everything that depends on it must have failed.
    pub(crate) fn is_fatal(self) -> bool {
        matches!(
            self,
            Self::CutOff
                | Self::Promised
                | Self::Endless
                | Self::Never
                | Self::WrongSequence
                | Self::Closed
                | Self::EvilError
        )
    }

    /// The damaged payload; unchanged if the damage does not concern the payload.
    pub(crate) fn damage(self, payload: &[u8], chance: &mut Chance) -> Vec<u8> {
        let mut bytes = payload.to_vec();
        match self {
            Self::Truncated => bytes.truncate(chance.below(payload.len())),
            Self::Oversized => bytes.resize(payload.len() + (1 << 20), chance.any() as u8),
            Self::Garbage => bytes = chance.bytes(1 + payload.len().min(4096)),
            Self::Flipped => flip(&mut bytes, chance),
            Self::Lengths => {
                let at = chance.below(bytes.len());
                let enormous: &[u8] = match chance.below(3) {
                    0 => b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff",
                    1 => b"\xfd\xff\xff\xff",
                    _ => b"\xfe\0\0\0\0\0\0\0\x80",
                };
                bytes.splice(at..(at + 1).min(bytes.len()), enormous.iter().copied());
            }
            Self::EvilError => bytes = evil_error(chance),
            Self::EvilFileRequest => bytes = b"\xfbcanary".to_vec(),
            Self::EvilAuthSwitch => bytes = b"\xfemysql_clear_password\0".to_vec(),
            Self::Extreme => bytes = extreme_row(payload, chance),
            _ => {}
        }
        bytes
    }
}

/// Flips some bits.
pub(crate) fn flip(bytes: &mut [u8], chance: &mut Chance) {
    for _ in 0..1 + chance.below(4) {
        let at = chance.below(bytes.len());
        if let Some(byte) = bytes.get_mut(at) {
            *byte ^= 1 << chance.below(8);
        }
    }
}

fn evil_error(chance: &mut Chance) -> Vec<u8> {
    let number: u16 = *chance.one_of(&[1064, 1213, 1205, 2013, 1040, 1045, 1927, 0, 65535]);
    let mut payload = vec![0xff];
    payload.extend_from_slice(&number.to_le_bytes());
    payload.extend_from_slice(b"#HY000");
    payload
        .extend_from_slice(b"evil \x1b[2J\x1b]0;owned\x07\r\nerror: \xff\xfe\x9b31m</svg><script>");
    payload.resize(payload.len() + chance.below(2) * 60_000, b'A');
    payload
}

/// A text row with changed values.
fn extreme_row(payload: &[u8], chance: &mut Chance) -> Vec<u8> {
    const EXTREMES: [&[u8]; 14] = [
        b"",
        b"-1",
        b"0",
        b"18446744073709551615",
        b"-9223372036854775808",
        b"99999999999999999999999999",
        b"1e309",
        b"nan",
        b"/dev/zero",
        b"\x1b[31m\r\n",
        b"\xff\xfe\xfd",
        b"</script><script>alert(1)</script>",
        b"ON",
        b"../../../../etc/passwd",
    ];
    let mut out = Vec::new();
    let mut rest = payload;
    while let Some((first, after)) = rest.split_first() {
        // Longer values have other first bytes; they are kept, with the rest of the row.
        let length = match first {
            0xfb => 0,
            0..=0xfa => usize::from(*first),
            _ => break,
        };
        if after.len() < length {
            break;
        }
        rest = &after[length..];
        match chance.below(3) {
            0 => out
                .extend_from_slice(&payload[payload.len() - rest.len() - length - 1..][..=length]),
            1 if chance.one_in(4) => out.push(0xfb),
            _ => {
                let value = chance.one_of(&EXTREMES);
                out.push(value.len() as u8);
                out.extend_from_slice(value);
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

#[test]
fn damage_is_done_and_is_the_same_again() {
    let row = b"\x03abc\x05hello\xfb\x011";
    let chance = || Chance::new(1, "mischief", 1);
    for mischief in ALL {
        let damaged = mischief.damage(row, &mut chance());
        assert_eq!(damaged, mischief.damage(row, &mut chance()), "{mischief:?}");
        let is_of_the_payload = !matches!(
            mischief,
            Mischief::CutOff
                | Mischief::Promised
                | Mischief::OutOfOrder
                | Mischief::Twice
                | Mischief::Endless
                | Mischief::Never
                | Mischief::Lost
                | Mischief::WrongSequence
                | Mischief::Dripping
                | Mischief::Closed
        );
        assert_eq!(damaged != row, is_of_the_payload, "{mischief:?}");
        // An empty payload must not cause a panic.
        mischief.damage(b"", &mut chance());
    }
}
