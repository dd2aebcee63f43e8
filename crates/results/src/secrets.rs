//! Removal of passwords from the copies of an experiment's files beside its results.
//!
//! No run needs them: clients log in according to `[server]`, and a private server reads its own option file groups.

use std::path::Path;

use workload::smack::{Script, without_passwords};

/// The content of an experiment's file without its passwords; `None` if it contains none. `note` receives a
/// sentence about passwords that were left out.
pub(crate) fn masked(path: &Path, content: &[u8], note: &dyn Fn(&str)) -> Option<Vec<u8>> {
    let name = path.display().to_string();
    let masked = match Script::parse(&name, content) {
        Ok(_) => without_passwords(content),
        Err(_) => {
            mycnf::without_passwords(&String::from_utf8_lossy(content)).map(String::into_bytes)
        }
    };
    if masked.is_some() {
        note(&format!(
            "{name}: its passwords are not copied into the results"
        ));
    }
    masked
}
