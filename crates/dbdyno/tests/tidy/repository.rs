//! Access to the files of this repository.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::crates::Crate;

/// A text file of the repository.
#[derive(Debug, Clone)]
pub(crate) struct File {
    /// Path from the repository's root, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

/// All files of the repository that are not ignored.
pub(crate) struct Repository {
    root: PathBuf,
    files: Vec<File>,
}

impl Repository {
    /// Reads the repository that this test was built from.
    pub(crate) fn open() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .ancestors()
            .nth(2)
            .expect("the crate stands in crates/dbdyno")
            .to_owned();
        let ignored = fs::read_to_string(root.join(".gitignore")).expect(".gitignore is text");
        let ignored: BTreeSet<&str> = ignored.lines().chain(["/.git"]).collect();
        let mut files = Vec::new();
        collect(&root, "", &ignored, &mut files);
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { root, files }
    }

    pub(crate) fn files(&self) -> &[File] {
        &self.files
    }

    /// The text of a file, which must exist.
    pub(crate) fn text(&self, path: &str) -> &str {
        let file = self.files.iter().find(|file| file.path == path);
        &file.unwrap_or_else(|| panic!("{path} exists")).text
    }

    /// True if a file or directory has this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    /// The problems that `check` finds in the files with this extension (all files for "").
    pub(crate) fn check(
        &self,
        extension: &str,
        check: impl Fn(&File) -> Vec<String>,
    ) -> Vec<String> {
        let suffix = if extension.is_empty() {
            String::new()
        } else {
            format!(".{extension}")
        };
        self.files
            .iter()
            .filter(|file| file.path.ends_with(&suffix))
            .flat_map(check)
            .collect()
    }

    pub(crate) fn crates(&self) -> Vec<Crate> {
        let manifests = self.files.iter().filter_map(|file| {
            let name = file
                .path
                .strip_prefix("crates/")?
                .strip_suffix("/Cargo.toml")?;
            (!name.contains('/')).then_some((name, &file.text))
        });
        manifests
            .map(|(name, manifest)| {
                let sources = format!("crates/{name}/src/");
                let sources = self
                    .files
                    .iter()
                    .filter(|file| file.path.starts_with(&sources));
                Crate::new(name, manifest, sources.cloned().collect())
            })
            .collect()
    }
}

/// Adds the files below `directory`, whose path from the root is `prefix`.
///
/// Of .gitignore it supports what this repository's file uses: names, and paths from the root.
fn collect(directory: &Path, prefix: &str, ignored: &BTreeSet<&str>, files: &mut Vec<File>) {
    for entry in fs::read_dir(directory).expect("the repository can be listed") {
        let entry = entry.expect("the repository can be listed");
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        if ignored.contains(name.as_str()) || ignored.contains(format!("/{path}").as_str()) {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), &format!("{path}/"), ignored, files);
        } else if let Ok(text) = fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
}
