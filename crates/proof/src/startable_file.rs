//! An option file that the tested version starts with.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use mycnf::{Level, Machine, OptionFile};
use server::Installation;

/// An option file with which an installed version starts, according to its own validator and the catalogue.
#[derive(Debug)]
pub struct StartableFile {
    pub(crate) path: PathBuf,
    pub(crate) options: OptionFile,
}

impl StartableFile {
    /// A file that was read from `path`; an error with the first refusal if the version does not start with it.
    pub fn new(
        path: &Path,
        options: OptionFile,
        installation: &Installation,
    ) -> Result<Self, Blamed> {
        let target = installation.target();
        let path = path.to_owned();
        let lint = server::review(
            std::slice::from_ref(&path),
            &options,
            &target,
            &Machine::default(),
            Some(installation),
        )?;
        let mut advice = lint.advice.iter();
        let Some(first) = advice.find(|advice| advice.remark.level == Level::Refused) else {
            return Ok(Self { path, options });
        };
        let message = format!(
            "{} does not start on {target}: {}: {}",
            path.display(),
            first.remark.option,
            first.remark.what
        );
        let hint = format!(
            "dbdyno config lint {} --for {target} shows every refusal, and --fix rewrites what is safe",
            path.display()
        );
        Err(Blamed::new(Blame::Input, message).hint(hint))
    }

    /// Its options.
    pub fn options(&self) -> &OptionFile {
        &self.options
    }
}
