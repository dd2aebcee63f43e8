//! `[data]`: the rows that a run meets, and the state in which it meets them.

use std::path::{Path, PathBuf};

use crate::{
    error::Error,
    problem::Problem,
    quantity,
    section::Section,
    server::{Restart, ServerSpec},
    tpcc::TpccData,
    tpch::TpchData,
};

const KEYS: &[&str] = &["smack", "tpcc", "tpch", "rows", "restore", "cache"];

/// The data of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSpec {
    /// The tables, and where their rows come from.
    pub source: DataSource,
    /// How often the data is put back to what it was after loading.
    pub restore: Restore,
    /// What of the data is in memory when the run begins.
    pub cache: Cache,
}

/// The tables, and where their rows come from.
#[derive(Debug, Clone, PartialEq)]
pub enum DataSource {
    /// Those of a .smack file.
    Smack {
        /// The file.
        file: PathBuf,
        /// How many rows.
        rows: Rows,
    },
    /// Those of TPC-C.
    Tpcc(TpccData),
    /// Those of TPC-H.
    Tpch(TpchData),
}

/// How many rows a data set has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rows {
    /// A plain count.
    Count(u64),
    /// So many that the data on disk is a multiple of the InnoDB buffer pool.
    TimesBufferPool(f64),
}

/// How often the data is put back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restore {
    /// Before every run.
    PerRun,
    /// Before the first run of each block.
    PerBlock,
    /// Loaded once; each run meets what the runs before it left.
    Never,
}

/// What of the data is in memory when a run begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// Whatever the system kept.
    Warm,
    /// Nothing: the pages of the data files are dropped from the page cache, and the server is freshly started.
    Cold,
}

impl DataSpec {
    /// Reads `[data]` for one combination; `None` when the file has none.
    pub(crate) fn read(section: &Section<'_>, server: &ServerSpec) -> Result<Option<Self>, Error> {
        if !section.is_there() {
            return Ok(None);
        }
        section.allow(KEYS)?;
        let restore = section.choice(
            "restore",
            &[
                ("per-run", Restore::PerRun),
                ("per-block", Restore::PerBlock),
                ("never", Restore::Never),
            ],
        )?;
        let cache = section.choice("cache", &[("warm", Cache::Warm), ("cold", Cache::Cold)])?;
        let data = Self {
            source: DataSource::read(section, server)?,
            restore: restore.unwrap_or(match server.restart() {
                Restart::PerRun => Restore::PerRun,
                Restart::PerBlock => Restore::PerBlock,
                Restart::Never => Restore::Never,
            }),
            cache: cache.unwrap_or(Cache::Warm),
        };
        data.check_restart(section, server)?;
        Ok(Some(data))
    }

    /// A private server's data is put back, and a cold cache made, while the server is down.
    fn check_restart(&self, section: &Section<'_>, server: &ServerSpec) -> Result<(), Error> {
        let restart = server.restart();
        let is_given = matches!(server, ServerSpec::Given { .. });
        if self.cache == Cache::Cold && is_given {
            return Err(section.error_at(
                "cache",
                Problem::OtherServer {
                    key: "cache = \"cold\"",
                    needs: "a private server",
                    found: "`address`",
                },
            ));
        }
        if self.cache == Cache::Cold && restart != Restart::PerRun {
            let (what, needs) = ("cache = \"cold\"", "restart = \"per-run\"");
            return Err(section.error_at("cache", Problem::NeedsRestart { what, needs }));
        }
        let missing = match (self.restore, restart) {
            _ if is_given => None,
            (Restore::PerRun, Restart::PerBlock | Restart::Never) => {
                Some(("restore = \"per-run\"", "restart = \"per-run\""))
            }
            (Restore::PerBlock, Restart::Never) => {
                Some(("restore = \"per-block\"", "restart = \"per-block\""))
            }
            _ => None,
        };
        match missing {
            Some((what, needs)) => {
                Err(section.error_at("restore", Problem::NeedsRestart { what, needs }))
            }
            None => Ok(()),
        }
    }
}

impl DataSource {
    fn read(section: &Section<'_>, server: &ServerSpec) -> Result<Self, Error> {
        if section.value("tpch").is_some() {
            alone(section, server, "tpch", &["smack", "rows", "tpcc"])?;
            let tpch = section.section("tpch", "[data] tpch")?;
            return Ok(Self::Tpch(TpchData::read(&tpch)?));
        }
        if section.value("tpcc").is_some() {
            alone(section, server, "tpcc", &["smack", "rows"])?;
            let tpcc = section.section("tpcc", "[data] tpcc")?;
            return Ok(Self::Tpcc(TpccData::read(&tpcc)?));
        }
        let smack = section.string("smack")?;
        let smack = section.required("smack", smack, "smack = \"smacks/http_auth.smack\"")?;
        let rows = section.parsed(
            "rows",
            "a count such as \"250k\" or \"1M\", or a multiple of the buffer pool such as \"0.5x\"",
            rows,
        )?;
        Ok(Self::Smack {
            file: smack.own_file("smack file")?,
            rows: section.required("rows", rows, "rows = \"1M\"")?,
        })
    }

    /// The .smack file, where that is what makes the tables.
    pub fn smack(&self) -> Option<&Path> {
        match self {
            Self::Smack { file, .. } => Some(file),
            Self::Tpcc(_) | Self::Tpch(_) => None,
        }
    }
}

/// An error where a benchmark's own tables stand beside other data, or are to go to a server that is there.
fn alone(
    section: &Section<'_>,
    server: &ServerSpec,
    key: &'static str,
    others: &[&'static str],
) -> Result<(), Error> {
    let mut others = others.iter().copied();
    if let Some(beside) = others.find(|other| section.value(other).is_some()) {
        let other = format!("`{key}`");
        return Err(section.error_at(beside, Problem::NoMeaning { key: beside, other }));
    }
    if matches!(server, ServerSpec::Given { .. }) {
        let problem = Problem::OtherServer {
            key,
            needs: "a private server",
            found: "`address`",
        };
        return Err(section.error_at(key, problem));
    }
    Ok(())
}

fn rows(text: &str) -> Option<Rows> {
    match quantity::ratio(text) {
        Some(ratio) => Some(Rows::TimesBufferPool(ratio)),
        None => quantity::count(text).map(Rows::Count),
    }
}
