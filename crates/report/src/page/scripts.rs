//! The scripts of a page: the chart library, and our own that draws with it.

pub(super) const SCRIPT: &str = include_str!("series.js");

/// The chart library, if it was there when this program was built (see `build.rs`).
pub(super) struct Uplot {
    script: &'static str,
    pub(super) style: &'static str,
    licence: &'static str,
}

pub(super) const UPLOT: Option<Uplot> = include!(concat!(env!("OUT_DIR"), "/uplot.rs"));

impl Uplot {
    /// Its script behind its licence.
    pub(super) fn licensed(&self) -> String {
        format!("/*\n{}*/\n{}", self.licence, self.script)
    }
}
