//! Random names and passwords, from the kernel.

use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::Error;

/// Without letters and digits that are easily confused or need escaping in a shell or option file.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A password of 120 random bits.
pub(crate) fn random_password() -> Result<String, Error> {
    random_text::<24>()
}

/// An unpredictable file name.
pub(crate) fn random_name() -> Result<String, Error> {
    random_text::<8>()
}

/// A random number below `limit`, almost evenly distributed; for ports.
pub(crate) fn random_below(limit: u16) -> Result<u16, Error> {
    let bytes = random_bytes::<4>()?;
    let wide = u32::from_ne_bytes(bytes) % u32::from(limit);
    Ok(u16::try_from(wide).expect("a remainder is below its divisor"))
}

fn random_text<const N: usize>() -> Result<String, Error> {
    let letters = random_bytes::<N>()?.map(|byte| char::from(ALPHABET[usize::from(byte) % 32]));
    Ok(letters.iter().collect())
}

fn random_bytes<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())
            .map_err(|error| Error::io("read random bytes", "getrandom".as_ref())(error.into()))?;
    }
    Ok(bytes)
}
