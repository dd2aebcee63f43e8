//! The contents of a directory: the sizes of its files, and a hash of a sample of each.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::Error;
use crate::process::interruption;
use crate::snapshot::digest::hexadecimal;

/// Number of blocks of a file that are hashed: the first, the last, and others at even distances between.
const SAMPLES: u64 = 4;
/// Size of such a block: a page of InnoDB, bytes.
const SAMPLE_BYTES: u64 = 16 << 10;

/// One file, for example `{"bytes":79691776,"sample_sha256":"9f86d081884c7d65..."}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Content {
    pub(crate) bytes: u64,
    /// The hash of a sample of the content; a file up to the size of the sample is hashed whole.
    sample_sha256: String,
}

/// The files of a directory by their paths in it.
pub(crate) type Contents = BTreeMap<String, Content>;

/// Reads all files below a directory.
pub(crate) fn contents(directory: &Path) -> Result<Contents, Error> {
    let mut found = Contents::new();
    collect(directory, "", &mut found)?;
    Ok(found)
}

/// The first difference between the expected and the actual contents of a directory.
pub(crate) fn difference(wanted: &Contents, found: &Contents) -> Option<String> {
    for (path, content) in wanted {
        match found.get(path) {
            None => return Some(format!("{path} is missing")),
            Some(other) if other.bytes != content.bytes => {
                return Some(format!(
                    "{path} has {} bytes, not {}",
                    other.bytes, content.bytes
                ));
            }
            Some(other) if other != content => return Some(format!("{path} has other content")),
            Some(_) => {}
        }
    }
    let added = found.keys().find(|path| !wanted.contains_key(*path))?;
    Some(format!("{added} was added"))
}

fn collect(directory: &Path, prefix: &str, found: &mut Contents) -> Result<(), Error> {
    for entry in fs::read_dir(directory).map_err(Error::io("read the directory", directory))? {
        let entry = entry.map_err(Error::io("read the directory", directory))?;
        let path = entry.path();
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().map_err(Error::io("look at", &path))?;
        if kind.is_dir() {
            collect(&path, &format!("{name}/"), found)?;
        } else if kind.is_file() {
            found.insert(name, content(&path).map_err(Error::io("read", &path))?);
        }
    }
    Ok(())
}

fn content(path: &Path) -> io::Result<Content> {
    interruption::check()?;
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut hash = Sha256::new();
    let mut block = [0; SAMPLE_BYTES as usize];
    let mut sample = |at: u64| {
        let length = (bytes - at).min(SAMPLE_BYTES) as usize;
        file.read_exact_at(&mut block[..length], at)?;
        hash.update(&block[..length]);
        Ok::<_, io::Error>(())
    };
    if bytes <= SAMPLES * SAMPLE_BYTES {
        (0..bytes)
            .step_by(SAMPLE_BYTES as usize)
            .try_for_each(&mut sample)?;
    } else {
        let between = |number: u64| (bytes - SAMPLE_BYTES) / (SAMPLES - 1) * number;
        (0..SAMPLES - 1).map(between).try_for_each(&mut sample)?;
        sample(bytes - SAMPLE_BYTES)?;
    }
    Ok(Content {
        bytes,
        sample_sha256: hexadecimal(&hash.finalize()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_difference_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let large = vec![7; 1_000_000];
        fs::create_dir(dir.path().join("db")).unwrap();
        fs::write(dir.path().join("db/t.ibd"), &large).unwrap();
        fs::write(dir.path().join("small"), "row").unwrap();
        fs::write(dir.path().join("empty"), "").unwrap();
        let whole = contents(dir.path()).unwrap();
        assert_eq!(whole["db/t.ibd"].bytes, 1_000_000);
        assert_eq!(
            difference(&whole, &contents(dir.path()).unwrap()),
            None,
            "it is what it was"
        );
        let changed = |path: &str, content: Option<&[u8]>| {
            let path = dir.path().join(path);
            let before = fs::read(&path).ok();
            match content {
                Some(content) => fs::write(&path, content).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let told = difference(&whole, &contents(dir.path()).unwrap());
            match before {
                Some(before) => fs::write(&path, before).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            told.unwrap()
        };
        let mut end = large.clone();
        end[999_999] = 8;
        assert_eq!(
            changed("db/t.ibd", Some(&end)),
            "db/t.ibd has other content"
        );
        assert_eq!(
            changed("db/t.ibd", Some(&large[1..])),
            "db/t.ibd has 999999 bytes, not 1000000"
        );
        assert_eq!(changed("small", Some(b"now")), "small has other content");
        assert_eq!(changed("empty", None), "empty is missing");
        assert_eq!(changed("new", Some(b"")), "new was added");
    }
}
