//! Packets that a program between client and server makes itself.

use mysql_common::auth::plugins::mysql_native_password::scramble_native;

use crate::{
    lenenc::put_lenenc,
    packets::{HEADER, PAYLOAD_MAX},
    payloads::{
        AUTOCOMMIT, put_column, put_end_of_columns, put_end_of_rows, put_error, put_ok,
        put_text_row,
    },
    replies::OkReply,
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
    ok_packet_with("")
}

/// The payload of an OK packet with a text.
pub fn ok_packet_with(info: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_ok(0, AUTOCOMMIT, info, &mut out);
    out
}

/// The OK packet of a login without MariaDB's proof of the server's certificate, which is not that of this connection.
pub fn without_certificate_proof(payload: Vec<u8>) -> Vec<u8> {
    match OkReply::parse(&payload) {
        Ok(ok) if ok.info.first() == Some(&1) => {
            let mut out = Vec::new();
            put_ok(ok.affected_rows, ok.status, "", &mut out);
            out
        }
        _ => payload,
    }
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

/// The packets of a result with text columns, for a client that expects EOF packets.
pub fn text_result(columns: &[&[u8]], rows: &[&[&[u8]]]) -> Vec<Vec<u8>> {
    let put = |put: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        put(&mut out);
        out
    };
    let mut packets = vec![put(&|out| put_lenenc(columns.len() as u64, out))];
    for name in columns {
        packets.push(put(&|out| put_column(name, 1024, out)));
    }
    packets.push(put(&put_end_of_columns));
    for row in rows {
        packets.push(put(&|out| {
            put_text_row(row.iter().map(|it| Some(*it)), out)
        }));
    }
    packets.push(put(&|out| put_end_of_rows(AUTOCOMMIT, false, out)));
    packets
}

/// A client's proof of a password, by mysql_native_password; empty for the empty password.
pub fn native_proof(password: &[u8], nonce: &[u8]) -> Vec<u8> {
    scramble_native(nonce, password).map_or_else(Vec::new, |proof| proof.to_vec())
}

/// Whether a client's proof is that of this password, by mysql_native_password.
pub fn native_proof_fits(password: &[u8], nonce: &[u8], proof: &[u8]) -> bool {
    let right = scramble_native(nonce, password);
    // Every byte is compared, so that the time says nothing about the place of a difference.
    right.is_some_and(|right| {
        right.len() == proof.len()
            && right.iter().zip(proof).fold(0, |all, (a, b)| all | (a ^ b)) == 0
    })
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
    fn a_result_as_text() {
        let packets = text_result(&[b"a", b"b"], &[&[b"1", b"22"], &[b"", b"x"]]);
        assert_eq!(packets.len(), 7);
        assert_eq!(
            (&packets[0][..], &packets[4][..]),
            (&b"\x02"[..], &b"\x011\x0222"[..])
        );
        assert_eq!(packets[6], b"\xfe\0\0\x02\0");
    }

    #[test]
    fn a_proof_fits_its_password_and_challenge() {
        let nonce = b"0123456789abcdefghij";
        let proof = scramble_native(nonce, b"secret").unwrap();
        assert!(native_proof_fits(b"secret", nonce, &proof));
        assert!(!native_proof_fits(b"other", nonce, &proof));
        assert!(!native_proof_fits(
            b"secret",
            b"0123456789abcdefghiJ",
            &proof
        ));
        assert!(!native_proof_fits(b"secret", nonce, &proof[..19]));
        assert!(!native_proof_fits(b"", nonce, b""));
    }

    #[test]
    fn errors_before_and_after_4_1() {
        assert_eq!(error_packet(1105, "07000", "x"), b"\xff\x51\x04#07000x");
        assert_eq!(old_error_packet(1105, "x"), b"\xff\x51\x04x");
    }
}
