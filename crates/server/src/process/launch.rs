//! Starts a server binary that does not fit the libraries of this machine.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The loader and libraries that an installation needs; empty if its programs run without them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Launch {
    /// The program loader of the installation's own C library.
    pub(crate) loader: Option<PathBuf>,
    /// Directories that are searched for shared libraries before the usual ones.
    pub(crate) library_dirs: Vec<PathBuf>,
}

impl Launch {
    /// The loader of a directory tree with its own C library, and the directories of its libraries.
    pub(crate) fn of_tree(tree: &Path) -> Self {
        let mut launch = Self::default();
        for library_dir in ["usr/lib", "lib", "usr/lib64", "lib64"].map(|name| tree.join(name)) {
            for dir in subdirectories(&library_dir) {
                let loader = loader_in(&dir);
                let is_triplet = dir.file_name().is_some_and(is_triplet);
                if is_triplet || loader.is_some() {
                    launch.library_dirs.push(dir);
                }
                launch.loader = launch.loader.or(loader);
            }
        }
        match launch.loader {
            Some(_) => launch,
            // Libraries for this machine's loader are used only where they are missing.
            None => Self::default(),
        }
    }

    /// The command for a program of the installation. Its process may have the loader's name, so it is identified by
    /// its number only.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let Some(loader) = &self.loader else {
            let mut command = Command::new(program);
            if !self.library_dirs.is_empty() {
                command.env("LD_LIBRARY_PATH", self.library_path());
            }
            return command;
        };
        let mut command = Command::new(loader);
        command
            .arg0(program)
            .arg("--library-path")
            .arg(self.library_path())
            .arg(program);
        command
    }

    /// The same with relative paths resolved against a directory.
    pub(crate) fn below(&self, dir: &Path) -> Self {
        self.each_path(|path| dir.join(path))
    }

    /// The same with paths below a directory made relative to it.
    pub(crate) fn relative_to(&self, dir: &Path) -> Self {
        self.each_path(|path| path.strip_prefix(dir).unwrap_or(path).to_owned())
    }

    fn each_path(&self, change: impl Fn(&Path) -> PathBuf) -> Self {
        Self {
            loader: self.loader.as_deref().map(&change),
            library_dirs: self.library_dirs.iter().map(|dir| change(dir)).collect(),
        }
    }

    fn library_path(&self) -> OsString {
        let dirs: Vec<_> = self
            .library_dirs
            .iter()
            .map(|dir| dir.as_os_str())
            .collect();
        dirs.join(OsString::from(":").as_os_str())
    }
}

/// Whether a name is like `x86_64-linux-gnu`: the directory of an architecture's libraries in Debian.
fn is_triplet(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().ends_with("-linux-gnu")
}

/// The loader in a directory: `ld-linux-x86-64.so.2`.
fn loader_in(dir: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dir).ok()?.flatten();
    let mut loaders = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("ld-linux"))
        .map(|entry| entry.path());
    loaders.next()
}

/// The directory itself and those below it, each once and without following links.
fn subdirectories(dir: &Path) -> Vec<PathBuf> {
    let is_dir = |path: &PathBuf| {
        path.symlink_metadata()
            .is_ok_and(|metadata| metadata.is_dir())
    };
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    dirs.push(dir.to_owned());
    dirs.retain(is_dir);
    dirs.sort();
    dirs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &Command) -> Vec<String> {
        let args = command.get_args();
        let words = std::iter::once(command.get_program()).chain(args);
        words
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn a_tree_with_its_own_loader_is_started_by_it() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path();
        for name in [
            "usr/lib/x86_64-linux-gnu",
            "lib/x86_64-linux-gnu",
            "usr/lib/mysql",
        ] {
            std::fs::create_dir_all(tree.join(name)).unwrap();
        }
        assert_eq!(Launch::of_tree(tree), Launch::default());
        let loader = "lib/x86_64-linux-gnu/ld-linux-x86-64.so.2";
        std::fs::write(tree.join(loader), "").unwrap();
        let launch = Launch::of_tree(tree).relative_to(tree);
        let command = launch.command(Path::new("mysqld"));
        let libraries = "usr/lib/x86_64-linux-gnu:lib/x86_64-linux-gnu";
        assert_eq!(
            words(&command),
            [loader, "--library-path", libraries, "mysqld"]
        );
        assert_eq!(launch.below(tree), Launch::of_tree(tree));
    }

    #[test]
    fn libraries_alone_go_into_the_environment() {
        let launch = Launch {
            loader: None,
            library_dirs: vec!["/a".into(), "/b".into()],
        };
        let command = launch.command(Path::new("mysqld"));
        let (_, path) = command.get_envs().next().unwrap();
        assert_eq!(
            (words(&command), path.unwrap()),
            (vec!["mysqld".to_owned()], "/a:/b".as_ref())
        );
        assert_eq!(
            Launch::default().command(Path::new("x")).get_envs().count(),
            0
        );
    }
}
