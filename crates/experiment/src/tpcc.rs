//! `tpcc` under `[data]` and `[load]`: the tables of TPC-C, and its terminals as the load.

use crate::{error::Error, section::Section};

/// Bytes of a warehouse on disk, about.
const DISK_BYTES: f64 = 100e6;
/// `w_id` is a smallint in tpcc-mysql's tables, which dbdyno's resemble.
const WAREHOUSES_AT_MOST: u32 = 32_767;

/// The tables of TPC-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TpccData {
    /// About 100 MB each.
    pub warehouses: u32,
    /// With the foreign keys, and the indexes that only they need.
    pub foreign_keys: bool,
}

/// The terminals of TPC-C, one for each connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TpccLoad {
    /// Terminals pause for the specification's key and think times.
    pub paced: bool,
    /// The consistency conditions are checked: of data that was found before the run, of any after it.
    pub check: bool,
}

impl TpccData {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, Error> {
        section.allow(&["warehouses", "foreign_keys"])?;
        let warehouses = section.parsed("warehouses", "a count from 1 to 32767", |text| {
            let count = text.parse().ok();
            count.filter(|count| (1..=WAREHOUSES_AT_MOST).contains(count))
        })?;
        let foreign_keys = section.choice("foreign_keys", &[("on", true), ("off", false)])?;
        Ok(Self {
            warehouses: section.required("warehouses", warehouses, "warehouses = 10")?,
            foreign_keys: foreign_keys.unwrap_or(true),
        })
    }

    /// `tpcc 4 with foreign keys`
    pub(crate) fn in_words(self) -> String {
        let with = if self.foreign_keys { "with" } else { "without" };
        format!("tpcc {} {with} foreign keys", self.warehouses)
    }

    pub(crate) fn shrink(&mut self, scale: f64) {
        let warehouses = (f64::from(self.warehouses) * scale).round();
        self.warehouses = (warehouses as u32).max(1);
    }

    /// What it takes on disk, about.
    pub(crate) fn disk_bytes(self) -> f64 {
        f64::from(self.warehouses) * DISK_BYTES
    }
}

impl TpccLoad {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, Error> {
        section.allow(&["pacing", "check"])?;
        let paced = section.choice("pacing", &[("none", false), ("spec", true)])?;
        let check = section.choice("check", &[("on", true), ("off", false)])?;
        Ok(Self {
            paced: paced.unwrap_or(false),
            check: check.unwrap_or(true),
        })
    }
}
