//! `tpch` under `[data]` and `[load]`: the tables of TPC-H, and the load of one of them as what is measured.

use crate::{error::Error, section::Section};

/// Bytes that a scale factor of 1 takes on disk, about, without secondary indexes.
const DISK_BYTES: f64 = 1.5e9;
/// The smallest scale factor, and the one that `--scale` stops at.
const AT_LEAST: f64 = 0.001;
/// The largest: keys would outgrow their columns.
const AT_MOST: f64 = 10_000.0;

/// The names of the tables.
const TABLES: &[(&str, &str)] = &[
    ("lineitem", "lineitem"),
    ("orders", "orders"),
    ("partsupp", "partsupp"),
    ("part", "part"),
    ("customer", "customer"),
    ("supplier", "supplier"),
    ("nation", "nation"),
    ("region", "region"),
];

/// The tables of TPC-H.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TpchData {
    /// 1 is about 1 GB of text.
    pub scale_factor: f64,
    /// Which keys they have.
    pub keys: TpchKeys,
    /// Indexes and foreign keys are made once the rows are in.
    pub keys_after_rows: bool,
}

/// Which keys the tables have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TpchKeys {
    /// Primary keys only.
    Primary,
    /// Also an index for each reference.
    Secondary,
    /// Also the foreign keys.
    Foreign,
}

/// The load of one table, which the data leaves empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TpchLoad {
    /// The table.
    pub table: String,
    /// LOAD DATA statements that its rows are divided into; `None` for one per connection.
    pub statements: Option<u32>,
    /// The server checks unique and foreign keys, as it does unless told not to.
    pub checks: bool,
    /// InnoDB's redo log is written meanwhile.
    pub redo_log: bool,
}

impl TpchData {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, Error> {
        section.allow(&["scale_factor", "keys", "key_time"])?;
        let expected = "a number from 0.001 to 10000";
        let scale_factor = section.parsed("scale_factor", expected, |text| {
            let number = text.parse::<f64>().ok();
            number.filter(|number| (AT_LEAST..=AT_MOST).contains(number))
        })?;
        let keys = section.choice(
            "keys",
            &[
                ("primary", TpchKeys::Primary),
                ("secondary", TpchKeys::Secondary),
                ("foreign", TpchKeys::Foreign),
            ],
        )?;
        let key_time = section.choice("key_time", &[("before", false), ("after", true)])?;
        Ok(Self {
            scale_factor: section.required("scale_factor", scale_factor, "scale_factor = 0.1")?,
            keys: keys.unwrap_or(TpchKeys::Foreign),
            keys_after_rows: key_time.unwrap_or(true),
        })
    }

    /// `tpch 0.1 Foreign after`
    pub(crate) fn in_words(self) -> String {
        let time = if self.keys_after_rows {
            "after"
        } else {
            "before"
        };
        format!("tpch {} {:?} {time}", self.scale_factor, self.keys)
    }

    pub(crate) fn shrink(&mut self, scale: f64) {
        self.scale_factor = (self.scale_factor * scale)
            .max(AT_LEAST)
            .min(self.scale_factor);
    }

    /// What it takes on disk, about.
    pub(crate) fn disk_bytes(self) -> f64 {
        self.scale_factor * DISK_BYTES
    }
}

impl TpchLoad {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, Error> {
        section.allow(&["table", "statements", "checks", "redo_log"])?;
        let table = section.choice("table", TABLES)?;
        let table = section.required("table", table, "table = \"lineitem\"")?;
        let states = [("on", true), ("off", false)];
        let statements = section.parsed("statements", "a count from 1 to 10000", |text| {
            let count = text.parse().ok();
            count.filter(|count| (1..=10_000).contains(count))
        })?;
        Ok(Self {
            table: table.to_owned(),
            statements,
            checks: section.choice("checks", &states)?.unwrap_or(false),
            redo_log: section.choice("redo_log", &states)?.unwrap_or(true),
        })
    }
}
