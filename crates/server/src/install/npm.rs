//! Fetches an npm package.

use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::error::InstallError;
use super::registry_client::{Client, written_bytes};
use crate::error::Error;
use crate::snapshot::digest::sha512;

/// The description of a package in the output of `npm pack --json`:
/// `{"filename":"x-1.0.0.tgz","size":31,"integrity":"sha512-3q2+7w==", ...}`.
#[derive(Debug, Deserialize)]
struct PackOutput {
    filename: String,
    /// Bytes.
    size: u64,
    integrity: String,
}

/// Fetches a package into a directory; checks the size and hash given by the registry.
pub(super) fn fetch(
    package: &str,
    into: &Path,
    watch: &mut dyn FnMut(u64),
) -> Result<PathBuf, Error> {
    let client = Client {
        name: "npm",
        what: package,
    };
    let mut command = Command::new("npm");
    command
        .args(["pack", "--json", "--ignore-scripts", "--pack-destination"])
        .arg(into)
        .arg(package);
    let output = client.run(command, &mut |pid| watch(written_bytes(pid)))?;
    let packed: Vec<PackOutput> = serde_json::from_slice(&output.stdout)
        .map_err(|error| client_said(package, &format!("its answer cannot be read: {error}")))?;
    let packed = packed
        .into_iter()
        .next()
        .ok_or_else(|| client_said(package, "it names no file"))?;
    // The name comes from the registry; only its last part is used.
    let name = Path::new(&packed.filename).file_name().unwrap_or_default();
    let path = into.join(name);
    check(&path, &packed)?;
    Ok(path)
}

fn client_said(package: &str, said: &str) -> Error {
    InstallError::Client {
        client: "npm",
        what: package.to_owned(),
        status: "exit status: 0".to_owned(),
        said: said.to_owned(),
    }
    .into()
}

fn check(path: &Path, packed: &PackOutput) -> Result<(), Error> {
    let length = path.metadata().map_err(Error::io("read", path))?.len();
    let hash = sha512(path).map_err(Error::io("read", path))?;
    let integrity = format!("sha512-{}", STANDARD.encode(hash));
    let mismatch = |what, found: String, expected: &str| InstallError::Mismatch {
        file: packed.filename.clone(),
        what,
        found,
        expected: expected.to_owned(),
    };
    if length != packed.size {
        return Err(mismatch(
            "size in bytes",
            length.to_string(),
            &packed.size.to_string(),
        )
        .into());
    }
    if integrity == packed.integrity {
        Ok(())
    } else {
        Err(mismatch("hash", integrity, &packed.integrity).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_or_short_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.tgz");
        std::fs::write(&path, "abc").unwrap();
        let packed = |size, integrity: &str| PackOutput {
            filename: "x.tgz".to_owned(),
            size,
            integrity: integrity.to_owned(),
        };
        let hash = format!("sha512-{}", STANDARD.encode(sha512(&path).unwrap()));
        check(&path, &packed(3, &hash)).unwrap();
        let short = check(&path, &packed(4, &hash)).unwrap_err();
        assert_eq!(
            short.to_string(),
            "x.tgz: size in bytes is 3, the registry lists 4"
        );
        let changed = check(&path, &packed(3, "sha512-AAAA")).unwrap_err();
        assert!(
            changed
                .to_string()
                .ends_with("the registry lists sha512-AAAA"),
            "{changed}"
        );
    }
}
