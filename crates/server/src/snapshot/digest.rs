//! Hashes of files.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256, Sha512};

use crate::process::interruption;

const BUFFER_BYTES: usize = 1 << 20;

/// The SHA-256 of a file, hexadecimal.
pub(crate) fn sha256(path: &Path) -> io::Result<String> {
    Ok(hexadecimal(&digest::<Sha256>(path)?))
}

pub(crate) fn sha512(path: &Path) -> io::Result<Vec<u8>> {
    digest::<Sha512>(path)
}

pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
    }
    text
}

fn digest<D: Digest>(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut digest = D::new();
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        interruption::check()?;
        match file.read(&mut buffer)? {
            0 => return Ok(digest.finalize().to_vec()),
            read => digest.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_file_is_the_standards() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        // The example of FIPS 180-4.
        assert_eq!(
            sha256(&path).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert!(
            hexadecimal(&sha512(&path).unwrap()).starts_with("ddaf35a193617abacc417349ae204131")
        );
    }
}
