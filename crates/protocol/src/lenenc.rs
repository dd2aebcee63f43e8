//! Length-encoded integers, and bounds-checked parsing of a packet's fields.

/// The unread rest of a packet's payload; its methods take fields from it, and give `None` where it is too short.
#[derive(Debug, Clone, Copy)]
pub struct Fields<'a>(pub &'a [u8]);

impl<'a> Fields<'a> {
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*head)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The bytes before a zero byte, which is consumed.
    pub fn until_nul(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|&byte| byte == 0)?;
        let head = &self.0[..end];
        self.0 = &self.0[end + 1..];
        Some(head)
    }

    /// A length-encoded integer; `None` also for the bytes 0xfb (NULL) and 0xff, with which none begins.
    pub fn lenenc(&mut self) -> Option<u64> {
        match self.u8()? {
            byte @ 0..=0xfa => Some(u64::from(byte)),
            0xfc => self.u16().map(u64::from),
            0xfd => self
                .array()
                .map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xfe => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }

    pub fn lenenc_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.lenenc()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// A value of a row in text format; `Some(None)` is NULL.
    pub fn text_value(&mut self) -> Option<Option<&'a [u8]>> {
        if let [0xfb, rest @ ..] = self.0 {
            self.0 = rest;
            return Some(None);
        }
        self.lenenc_bytes().map(Some)
    }
}

pub fn put_lenenc(value: u64, out: &mut Vec<u8>) {
    let bytes = value.to_le_bytes();
    match value {
        0..=0xfa => out.push(bytes[0]),
        0xfb..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xfe);
            out.extend_from_slice(&bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn integers_take_the_shortest_form() {
        let cases: [(u64, &[u8]); 8] = [
            (0, &[0]),
            (250, &[250]),
            (251, &[0xfc, 251, 0]),
            (0xffff, &[0xfc, 0xff, 0xff]),
            (0x1_0000, &[0xfd, 0, 0, 1]),
            (0xff_ffff, &[0xfd, 0xff, 0xff, 0xff]),
            (0x100_0000, &[0xfe, 0, 0, 0, 1, 0, 0, 0, 0]),
            (u64::MAX, &[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]),
        ];
        for (value, bytes) in cases {
            let mut out = Vec::new();
            put_lenenc(value, &mut out);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn null_and_error_begin_no_integer() {
        assert_eq!(Fields(&[0xfb, 0, 0]).lenenc(), None);
        assert_eq!(Fields(&[0xff, 0, 0]).lenenc(), None);
    }

    #[test]
    fn a_length_beyond_the_packet_is_none() {
        assert_eq!(Fields(&[5, 1, 2]).lenenc_bytes(), None);
        assert_eq!(
            Fields(&[0xfe, 255, 255, 255, 255, 255, 255, 255, 255]).lenenc_bytes(),
            None
        );
    }

    proptest! {
        #[test]
        fn integers_come_back(value: u64, shift in 0..64_u32, rest: Vec<u8>) {
            let value = value >> shift;
            let mut out = Vec::new();
            put_lenenc(value, &mut out);
            let length = out.len();
            out.extend_from_slice(&rest);
            let mut fields = Fields(&out);
            prop_assert_eq!(fields.lenenc(), Some(value));
            prop_assert_eq!(fields.0, &rest[..]);
            for cut in 0..length {
                prop_assert_eq!(Fields(&out[..cut]).lenenc(), None);
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let mut fields = Fields(&bytes);
            while fields.lenenc_bytes().is_some() || fields.lenenc().is_some() {}
            let _ = fields.until_nul();
        }
    }
}
