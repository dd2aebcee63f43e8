//! Fetches Debian packages by apt, in separate directories: nothing is installed, and root is not needed.
//!
//! apt resolves dependencies as if nothing were installed and checks Debian's signature. The suites are other suites of
//! the archive that the system's apt uses.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::archive::unpack_tar;
use super::error::InstallError;
use super::registry_client::Client;
use crate::error::Error;
use crate::process::interruption::{self, InterruptiblePipe, ProcessScope, wait_for};

/// Debian's keys for all of its suites, from its keyring package.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// apt settings that are not copied: directories of the system, and commands that apt runs there.
const NOT_TAKEN: [&str; 4] = ["Dir", "DPkg::", "APT::Update::", "APT::Periodic"];

/// apt with directories of our own and one Debian suite.
pub(super) struct Apt<'a> {
    /// The item to fetch, for errors.
    what: &'a str,
    dir: PathBuf,
}

impl<'a> Apt<'a> {
    /// Prepares the directories and reads the suite's index.
    pub(super) fn prepare(dir: &Path, suite: &str, what: &'a str) -> Result<Self, Error> {
        let apt = Self {
            what,
            dir: dir.to_owned(),
        };
        for name in ["lists/partial", "cache/archives/partial", "etc"] {
            let path = dir.join(name);
            fs::create_dir_all(&path).map_err(Error::io("create the directory", &path))?;
        }
        let signed = if Path::new(KEYRING).exists() {
            format!(" [signed-by={KEYRING}]")
        } else {
            String::new()
        };
        let source = format!("deb{signed} {} {suite} main\n", apt.archive()?);
        apt.write("status", "")?;
        apt.write("etc/sources.list", &source)?;
        apt.write("etc/apt.conf", &apt.configuration()?)?;
        apt.run(&["update"], &mut |_| {})?;
        Ok(apt)
    }

    /// Fetches packages and all of their dependencies.
    pub(super) fn fetch_closure(
        &self,
        packages: &[&str],
        watch: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let mut words = vec!["-y", "--download-only", "install"];
        words.extend(packages);
        self.run(&words, watch)
    }

    /// Fetches packages without their dependencies.
    pub(super) fn fetch_alone(&self, packages: &[&str]) -> Result<(), Error> {
        if packages.is_empty() {
            return Ok(());
        }
        let mut words = vec!["download"];
        words.extend(packages);
        self.run(&words, &mut |_| {})
    }

    /// The files of the packages that were fetched.
    pub(super) fn fetched(&self) -> Result<Vec<PathBuf>, Error> {
        debs(&self.archives())
    }

    fn run(&self, words: &[&str], watch: &mut dyn FnMut(u64)) -> Result<(), Error> {
        let mut command = Command::new("apt-get");
        command
            .env("APT_CONFIG", self.dir.join("etc/apt.conf"))
            .args(words)
            .current_dir(self.archives());
        let partial = self.archives().join("partial");
        let mut look = |_| watch(bytes_in(&self.archives()) + bytes_in(&partial));
        self.client("apt-get").run(command, &mut look).map(drop)
    }

    /// The settings of the system's apt, for its proxies, with our directories.
    fn configuration(&self) -> Result<String, Error> {
        let mut dump = Command::new("apt-config");
        dump.arg("dump");
        let output = self.client("apt-config").run(dump, &mut |_| {})?;
        let settings = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut text = String::new();
        let taken = |line: &&str| !NOT_TAKEN.iter().any(|name| line.starts_with(name));
        for line in settings.lines().filter(taken) {
            text.push_str(line);
            text.push('\n');
        }
        let dir = self.dir.display();
        for (name, value) in [
            ("Dir::State", format!("{dir}")),
            ("Dir::State::status", format!("{dir}/status")),
            ("Dir::Cache", format!("{dir}/cache")),
            ("Dir::Etc::sourcelist", format!("{dir}/etc/sources.list")),
            ("Dir::Etc::sourceparts", "-".to_owned()),
            // The file has been read above.
            ("Dir::Etc::main", "-".to_owned()),
            ("Dir::Etc::parts", "-".to_owned()),
            ("Dir::Etc::preferences", "-".to_owned()),
            ("Dir::Etc::preferencesparts", "-".to_owned()),
            ("Debug::NoLocking", "1".to_owned()),
            ("APT::Install-Recommends", "0".to_owned()),
            ("APT::Sandbox::User", "root".to_owned()),
            ("Acquire::Languages", "none".to_owned()),
            ("Acquire::Retries", "3".to_owned()),
            // Without an index the error would be that no package is found.
            ("APT::Update::Error-Mode", "any".to_owned()),
        ] {
            text.push_str(&format!("{name} \"{value}\";\n"));
        }
        Ok(text)
    }

    /// The address of the Debian archive that the system's apt uses.
    fn archive(&self) -> Result<String, Error> {
        let mut list = Command::new("apt-get");
        list.args([
            "indextargets",
            "--format",
            "$(LABEL)|$(REPO_URI)",
            "Created-By: Packages",
        ]);
        let output = self.client("apt-get").run(list, &mut |_| {})?;
        let targets = String::from_utf8_lossy(&output.stdout).into_owned();
        archive_of(&targets).ok_or_else(|| {
            let what = self.what.to_owned();
            InstallError::NoDebian { what }.into()
        })
    }

    fn archives(&self) -> PathBuf {
        self.dir.join("cache/archives")
    }

    fn client(&self, name: &'static str) -> Client<'_> {
        Client {
            name,
            what: self.what,
        }
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Error> {
        let path = self.dir.join(name);
        fs::write(&path, text).map_err(Error::io("write", &path))
    }
}

/// Picks the archive from lines `Debian|http://mirror.example/debian/`. Before the first update of its lists apt has no
/// label; then the path decides.
fn archive_of(targets: &str) -> Option<String> {
    let targets = || targets.lines().filter_map(|line| line.split_once('|'));
    let labelled = targets().find(|(label, _)| *label == "Debian");
    let by_path = || targets().find(|(_, uri)| uri.trim_end_matches('/').ends_with("/debian"));
    labelled.or_else(by_path).map(|(_, uri)| uri.to_owned())
}

pub(super) fn unpack_package(deb: &Path, into: &Path) -> Result<(), Error> {
    let unpacked = || {
        let mut child = Command::new("dpkg-deb")
            .arg("--fsys-tarfile")
            .arg(deb)
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let unpacked = child
            .stdout
            .take()
            .map_or(Ok(()), |tar| unpack_tar(InterruptiblePipe(tar), into));
        if interruption::check().is_err() {
            interruption::kill(&child, ProcessScope::Group);
        }
        let status = wait_for(&mut child, ProcessScope::Group, &mut |_| {})?;
        interruption::check()?;
        match unpacked {
            // It ended because the rest of its output was not read.
            Err(full) if full.kind() == std::io::ErrorKind::StorageFull => Err(full),
            unpacked if status.success() => unpacked,
            _ => Err(std::io::Error::other(format!(
                "dpkg-deb ended with {status}"
            ))),
        }
    };
    unpacked().map_err(|error| match error.kind() {
        std::io::ErrorKind::Interrupted | std::io::ErrorKind::StorageFull => {
            Error::io("unpack", deb)(error)
        }
        _ => InstallError::Archive {
            path: deb.to_owned(),
            why: error.to_string(),
        }
        .into(),
    })
}

fn debs(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = fs::read_dir(dir).map_err(Error::io("read the directory", dir))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "deb"));
    files.sort();
    Ok(files)
}

fn bytes_in(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let lengths = entries.filter_map(|entry| entry.metadata().ok());
    lengths
        .filter(fs::Metadata::is_file)
        .map(|file| file.len())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_archive_is_taken() {
        let security = "Debian-Security|http://m.example/debian-security/\n";
        for (targets, found) in [
            (
                "Debian|http://m.example/debian/\n",
                Some("http://m.example/debian/"),
            ),
            (
                "|http://m.example/debian-security/\n|http://m.example/debian\n",
                Some("http://m.example/debian"),
            ),
            ("Ubuntu|http://m.example/ubuntu/\n", None),
            ("", None),
        ] {
            let targets = format!("{security}{targets}");
            assert_eq!(archive_of(&targets).as_deref(), found, "{targets}");
        }
    }
}
