//! Files of other tools as a storage record: one importer per tool.

mod fio;
mod importer;

pub use importer::{ImportFile, Imported, Importer};

/// All importers.
pub const IMPORTERS: &[&dyn Importer] = &[&fio::FioFiles];
