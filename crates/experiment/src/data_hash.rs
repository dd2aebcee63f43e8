//! The hash of files of data: of all bytes, or of samples where a file is so large that every command would wait for it.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    path::Path,
};

use sha2::{Digest, Sha256};

/// Files up to this length are hashed whole.
const WHOLE_BYTES: u64 = 64 << 20;
/// Pieces of a longer file, spread evenly from its first to its last byte.
const SAMPLES: u64 = 64;
/// Bytes of each piece.
const SAMPLE_BYTES: u64 = 256 << 10;
/// Files of a directory at most.
const FILES_AT_MOST: usize = 1_000_000;

/// SHA-256 of a file of data, hexadecimal; of a directory, that of the names and hashes of its files.
///
/// A file of up to 64 MiB is hashed whole. Of a longer one, its length and 64 pieces of 256 KiB are.
///
/// # Errors
/// That of the operating system; a directory with a million files or more.
pub fn hash_of_data(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_dir() {
        return hash_of_file(path);
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if fs::metadata(entry.path())?.is_file() {
            names.push(entry.file_name());
        }
        if names.len() >= FILES_AT_MOST {
            return Err(io::Error::other("a directory with too many files"));
        }
    }
    names.sort_unstable();
    let mut hash = Sha256::new();
    for name in names {
        let of_file = hash_of_file(&path.join(&name))?;
        hash.update(format!("{} {of_file}\n", name.to_string_lossy()));
    }
    Ok(hex(hash))
}

fn hash_of_file(path: &Path) -> io::Result<String> {
    let mut file = files::open_regular(path)?;
    let length = file.metadata()?.len();
    let mut hash = Sha256::new();
    let mut piece = Vec::new();
    if length <= WHOLE_BYTES {
        loop {
            piece.clear();
            read_into(&mut file, SAMPLE_BYTES, &mut piece)?;
            if piece.is_empty() {
                return Ok(hex(hash));
            }
            hash.update(&piece);
        }
    }
    hash.update(length.to_le_bytes());
    for sample in 0..SAMPLES {
        let share =
            u128::from(length - SAMPLE_BYTES) * u128::from(sample) / u128::from(SAMPLES - 1);
        let at = u64::try_from(share).expect("it is below the length");
        file.seek(SeekFrom::Start(at))?;
        piece.clear();
        read_into(&mut file, SAMPLE_BYTES, &mut piece)?;
        hash.update(&piece);
    }
    Ok(hex(hash))
}

fn read_into(file: &mut File, bytes: u64, piece: &mut Vec<u8>) -> io::Result<()> {
    file.take(bytes).read_to_end(piece).map(drop)
}

fn hex(hash: Sha256) -> String {
    let bytes = hash.finalize();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_length_or_of_a_file_in_a_directory_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.csv");
        fs::write(&path, "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hash_of_data(&path).unwrap(), abc);
        let of_one = hash_of_data(directory.path()).unwrap();
        fs::write(directory.path().join("b.csv"), "").unwrap();
        assert_ne!(hash_of_data(directory.path()).unwrap(), of_one);
        // Sparse: no disk is filled.
        let large = directory.path().join("large");
        let file = File::create(&large).unwrap();
        file.set_len(WHOLE_BYTES + 1).unwrap();
        let before = hash_of_data(&large).unwrap();
        file.set_len(WHOLE_BYTES + 2).unwrap();
        assert_ne!(hash_of_data(&large).unwrap(), before);
    }
}
