//! Packets that a program between client and server makes itself.

use crate::{
    packets::{HEADER, PAYLOAD_MAX},
    payloads::{AUTOCOMMIT, put_error, put_ok},
};

/// Appends a payload as a packet, in several parts if it is long; returns the number of the next packet.
pub fn put_packet(payload: &[u8], mut number: u8, out: &mut Vec<u8>) -> u8 {
    let mut rest = payload;
    loop {
        let (part, after) = rest.split_at(rest.len().min(PAYLOAD_MAX));
        out.reserve(HEADER + part.len());
        let [a, b, c, ..] = part.len().to_le_bytes();
        out.extend_from_slice(&[a, b, c, number]);
        out.extend_from_slice(part);
        number = number.wrapping_add(1);
        if part.len() < PAYLOAD_MAX {
            return number;
        }
        rest = after;
    }
}

/// The payload of an OK packet with nothing to tell.
pub fn ok_packet() -> Vec<u8> {
    let mut out = Vec::new();
    put_ok(0, AUTOCOMMIT, "", &mut out);
    out
}

/// The payload of an error packet.
pub fn error_packet(number: u16, sqlstate: &str, message: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_error(number, sqlstate, message, &mut out);
    out
}

/// The payload of an error packet from before 4.1, without a SQLSTATE: what a client expects instead of a greeting.
pub fn old_error_packet(number: u16, message: &str) -> Vec<u8> {
    let mut out = vec![0xff];
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(message.as_bytes());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_payload_is_cut_into_full_parts_and_a_shorter_one() {
        for (length, parts) in [(0, 1), (5, 1), (PAYLOAD_MAX, 2), (PAYLOAD_MAX + 1, 2)] {
            let mut out = Vec::new();
            let next = put_packet(&vec![7; length], 255, &mut out);
            assert_eq!(out.len(), length + parts * HEADER);
            assert_eq!(next, 255u8.wrapping_add(u8::try_from(parts).unwrap()));
        }
    }

    #[test]
    fn errors_before_and_after_4_1() {
        assert_eq!(error_packet(1105, "07000", "x"), b"\xff\x51\x04#07000x");
        assert_eq!(old_error_packet(1105, "x"), b"\xff\x51\x04x");
    }
}
