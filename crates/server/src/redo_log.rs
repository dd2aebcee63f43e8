//! The redo log: whether it is disabled, and its size in servers that cannot change it by themselves.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use mycnf::Options;

use crate::error::Error;
use crate::installation::Installation;

/// Offset of the flags in the header of a redo log file. Source: files written by MySQL 8.0.33 and 9.7 with the log
/// enabled and disabled.
const FLAGS_AT: u64 = 48;

/// The flag of a disabled log.
const NO_LOGGING: u32 = 1;

/// Whether the data directory of a stopped MySQL says that its redo log is disabled, a state that survives a clean
/// stop. Only MySQL from 8.0.30 on keeps its log in this directory; for other servers the result is false.
pub(crate) fn is_off(data: &Path) -> bool {
    let Ok(entries) = fs::read_dir(data.join("#innodb_redo")) else {
        return false;
    };
    entries.flatten().any(|entry| {
        // Spare files for later use are called #ib_redo7_tmp.
        let spare = entry.file_name().to_string_lossy().ends_with("_tmp");
        let mut flags = [0; 4];
        let read =
            File::open(entry.path()).and_then(|file| file.read_exact_at(&mut flags, FLAGS_AT));
        !spare && read.is_ok() && u32::from_be_bytes(flags) & NO_LOGGING != 0
    })
}

/// Removes the redo log of a cleanly stopped data directory if its size is to change and the server would refuse to
/// start with it: MySQL before 5.6 makes a new log only where there is none.
pub(crate) fn make_room(
    installation: &Installation,
    options: &Options,
    data: &Path,
) -> Result<(), Error> {
    let resizes_itself = installation.numbers().at_least([5, 6]);
    let first = data.join("ib_logfile0");
    let Ok(present) = first.metadata() else {
        return Ok(());
    };
    let wanted = options.value("innodb_log_file_size");
    let wanted_bytes = match wanted.map(mycnf::parse_size_bytes) {
        Some(Some(bytes)) => bytes,
        // The server refuses an invalid value itself.
        Some(None) => return Ok(()),
        None => DEFAULT_BYTES,
    };
    if resizes_itself || present.len() == wanted_bytes {
        return Ok(());
    }
    for entry in fs::read_dir(data).map_err(Error::io("read the directory", data))? {
        let path = entry.map_err(Error::io("read the directory", data))?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        if name.starts_with(b"ib_logfile") {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
    }
    Ok(())
}

/// The default of innodb_log_file_size before MySQL 5.6, bytes.
const DEFAULT_BYTES: u64 = 5 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::launch::Launch;
    use crate::version::Flavour;
    use mycnf::OptionFile;

    #[test]
    fn a_log_that_is_off_says_so_in_its_header() {
        // The beginning of #ib_redo5 of MySQL 9.7.4, with the log disabled and enabled again.
        let header = |flags: u8| {
            let mut header = vec![0; 512];
            header[..4].copy_from_slice(&[0, 0, 0, 6]);
            header[16..27].copy_from_slice(b"MySQL 9.7.4");
            header[51] = flags;
            header
        };
        for (name, flags, off) in [
            ("#ib_redo5", 1, true),
            // The state of a running server: a crash now would lose the data.
            ("#ib_redo5", 3, true),
            ("#ib_redo5", 0, false),
            ("#ib_redo6_tmp", 1, false),
        ] {
            let dir = tempfile::tempdir().unwrap();
            assert!(!is_off(dir.path()), "there is no log");
            fs::create_dir(dir.path().join("#innodb_redo")).unwrap();
            fs::write(dir.path().join("#innodb_redo").join(name), header(flags)).unwrap();
            assert_eq!(is_off(dir.path()), off, "{name} {flags}");
        }
    }

    #[test]
    fn only_an_old_server_loses_a_log_of_another_size() {
        for (flavour, version, size, stays) in [
            (Flavour::MySql, "5.5.34", "innodb_log_file_size=64M", false),
            (Flavour::MySql, "5.5.34", "innodb_log_file_size=5M", true),
            (Flavour::MySql, "5.5.34", "", true),
            (Flavour::MySql, "5.5.34", "innodb_log_file_size=much", true),
            (Flavour::MySql, "5.6.24", "innodb_log_file_size=64M", true),
            (
                Flavour::MariaDb,
                "5.5.68-MariaDB",
                "innodb_log_file_size=64M",
                false,
            ),
            (
                Flavour::MariaDb,
                "10.2.11-MariaDB",
                "innodb_log_file_size=64M",
                true,
            ),
        ] {
            let dir = tempfile::tempdir().unwrap();
            for name in ["ib_logfile0", "ib_logfile1", "ibdata1"] {
                let file = fs::File::create(dir.path().join(name)).unwrap();
                file.set_len(DEFAULT_BYTES).unwrap();
            }
            let root = Path::new("/");
            let installation =
                Installation::remembered(root, root, flavour, version, &Launch::default());
            let text = format!("[mysqld]\n{size}\n");
            let file = OptionFile::parse(&text, Path::new("my.cnf")).unwrap();
            let options = Options::from_groups(&file, &["mysqld"]);
            make_room(&installation.unwrap(), &options, dir.path()).unwrap();
            for (name, stays) in [
                ("ib_logfile0", stays),
                ("ib_logfile1", stays),
                ("ibdata1", true),
            ] {
                assert_eq!(
                    dir.path().join(name).exists(),
                    stays,
                    "{version} {size} {name}"
                );
            }
        }
    }
}
