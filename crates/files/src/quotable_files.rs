//! Files from which an error may quote.

use std::{os::unix::fs::MetadataExt, path::Path};

use rustix::process::geteuid;

/// What an error says in place of the text of a file that is not [`is_quotable`].
pub const WITHHELD: &str =
    "the text is not shown: the file is not yours, or others may not read it";

/// The right of others to read, in a file's mode.
const OTHERS_READ: u32 = 0o004;

/// Whether an error about a file may quote its text: the user owns it and others may read it anyway. A wrong name on a
/// command line that runs with more rights (`sudo`, a service) then shows nothing of a file such as `/etc/shadow`.
/// What is not a file by this name, such as a pipe or the text of an option, may be quoted.
pub fn is_quotable(path: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(path) else {
        return true;
    };
    let is_public = metadata.mode() & OTHERS_READ != 0;
    !metadata.is_file() || (is_public && metadata.uid() == geteuid().as_raw())
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{PermissionsExt, chown},
    };

    use super::*;

    #[test]
    fn only_a_public_file_of_the_user_is_quoted() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "text").unwrap();
        for (mode, quotable) in [
            (0o644, true),
            (0o604, true),
            (0o640, false),
            (0o600, false),
            (0o400, false),
        ] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_quotable(&file), quotable, "{mode:o}");
        }
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        // Only root gives files away.
        if geteuid().is_root() {
            chown(&file, Some(1), None).unwrap();
            assert!(!is_quotable(&file));
        } else {
            assert!(!is_quotable(Path::new("/etc/passwd")));
        }
        assert!(is_quotable(&directory.path().join("gone")));
        assert!(is_quotable(Path::new("/dev/null")));
    }
}
