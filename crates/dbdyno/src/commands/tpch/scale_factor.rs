//! A scale factor on the command line.

use dataset::tpch::{NoScaleFactor, ScaleFactor};

/// For clap: a scale factor as it is typed.
pub(super) fn scale_factor(text: &str) -> Result<ScaleFactor, String> {
    text.parse()
        .map_err(|error: NoScaleFactor| error.to_string())
}
