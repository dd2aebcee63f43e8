//! The manifest of a snapshot: the properties that its data depends on, and the list of its files.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::directory::contents::Contents;
use crate::directory::marker::{parse, write_private};
use crate::error::Error;
use crate::version::Flavour;

pub(crate) const FORMAT: u32 = 2;

const MANIFEST: &str = "dbdyno-snapshot.json";

/// The method by which the data of a snapshot was copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The copy shares the blocks of the original.
    SharedBlocks,
    /// Block by block, holes as holes.
    Copy,
    /// By mariadb-backup, from a running server.
    MariadbBackup,
    /// By the clone plugin of a running server.
    Clone,
}

impl fmt::Display for Method {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SharedBlocks => "shared-blocks",
            Self::Copy => "copy",
            Self::MariadbBackup => "mariadb-backup",
            Self::Clone => "clone",
        })
    }
}

/// The content of `dbdyno-snapshot.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    pub(crate) flavour: Flavour,
    pub(crate) version: String,
    /// Options that are fixed in the data directory; `None` is the server's default.
    pub(crate) options: BTreeMap<String, Option<String>>,
    /// Seconds since 1970.
    pub(crate) taken_unix_s: u64,
    pub(crate) method: Method,
    /// Number of tables outside of the server's own schemas; `None` when no server was queried.
    pub(crate) tables: Option<u64>,
    /// The plugin that was installed for the copy and is therefore part of the data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) borrowed_plugin: Option<String>,
    pub(crate) files: Contents,
}

impl Manifest {
    pub(crate) fn read(snapshot: &Path) -> Result<Self, Error> {
        let path = path(snapshot);
        let bytes = fs::read(&path).map_err(Error::io("read the snapshot", &path))?;
        parse(&bytes, FORMAT, &path)
    }

    /// Whether a directory has a manifest, intact or damaged: then dbdyno made it.
    pub(crate) fn is_in(snapshot: &Path) -> bool {
        let is_dir = snapshot.symlink_metadata().is_ok_and(|it| it.is_dir());
        is_dir
            && path(snapshot)
                .symlink_metadata()
                .is_ok_and(|it| it.is_file())
    }

    pub(crate) fn write(&self, snapshot: &Path) -> Result<(), Error> {
        let text =
            serde_json::to_vec_pretty(self).expect("a manifest has only keys that are strings");
        write_private(&path(snapshot), &text)
    }

    /// Flavour and version: `mariadb 10.11.19-MariaDB`.
    pub(crate) fn build(&self) -> String {
        format!("{} {}", self.flavour, self.version)
    }

    /// The first difference that makes this snapshot unusable for a server of another build or with other fixed
    /// options: the property, the snapshot's value, the server's value.
    pub(crate) fn mismatch(
        &self,
        build: &str,
        options: &BTreeMap<String, Option<String>>,
    ) -> Option<(String, String, String)> {
        if self.build() != build {
            return Some(("server".to_owned(), self.build(), build.to_owned()));
        }
        let shown = |options: &BTreeMap<String, Option<String>>, option: &String| match options
            .get(option)
        {
            Some(Some(value)) => value.clone(),
            Some(None) | None => "(default)".to_owned(),
        };
        let mut names = self.options.keys().chain(options.keys());
        names.find_map(|option| {
            let (theirs, ours) = (shown(&self.options, option), shown(options, option));
            (theirs != ours).then(|| (option.clone(), theirs, ours))
        })
    }
}

fn path(snapshot: &Path) -> PathBuf {
    snapshot.join(MANIFEST)
}
