//! `--destroy`: a raw device is measured where its name is typed once more.

use std::{
    io::{IsTerminal, stdin},
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use storage::RawDevice;

#[derive(Debug, clap::Args)]
pub(super) struct DestroyArgs {
    /// Measure a raw device, and destroy its contents. On a terminal, dbdyno asks you to type the device's name to
    /// confirm. Without a terminal, give the name as --destroy=/dev/X
    #[arg(long, value_name = "DEVICE", num_args = 0..=1, require_equals = true)]
    destroy: Option<Option<PathBuf>>,
}

impl DestroyArgs {
    /// The device at `path`, claimed; `None` without the option. Nothing is written before.
    pub(super) fn claim(&self, path: &Path) -> anyhow::Result<Option<RawDevice>> {
        let Some(named) = &self.destroy else {
            return Ok(None);
        };
        // What is in use is refused before anything is asked.
        let device = RawDevice::claim(path).map_err(Blamed::from)?;
        match named {
            Some(named) => refuse_other(named, path)?,
            None if stdin().is_terminal() => refuse_other(&typed(&device, path)?, path)?,
            None => {
                let message =
                    "--destroy asks for the device's name on a terminal, but there is none";
                let hint = format!("without a terminal: --destroy={}", path.display());
                return Err(Blamed::new(Blame::Input, message).hint(hint).into());
            }
        }
        Ok(Some(device))
    }
}

fn typed(device: &RawDevice, path: &Path) -> anyhow::Result<PathBuf> {
    let size = units::bytes(device.size_bytes());
    eprintln!(
        "Everything on {} ({size}) will be destroyed. Type its name to continue:",
        path.display()
    );
    let mut name = String::new();
    stdin().read_line(&mut name)?;
    Ok(PathBuf::from(name.trim()))
}

fn refuse_other(named: &Path, path: &Path) -> Result<(), Blamed> {
    if named == path {
        return Ok(());
    }
    let message = format!(
        "the device is {}, and {:?} was named: nothing was written",
        path.display(),
        named.display().to_string()
    );
    let hint = "name the same device in both places, with the same spelling".to_owned();
    Err(Blamed::new(Blame::Input, message).hint(hint))
}
