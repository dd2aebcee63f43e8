//! `[data]`: the rows for a run, and their state at its start.

use settings::{Chosen, DataKind, Rows, Size};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
    keys,
    spec::{
        selected_table,
        server::{Restart, ServerSpec},
    },
};

const SHARED: [(&str, bool); 2] = [("off", false), ("on", true)];

/// The data of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSpec {
    /// The tables, and the source of their rows.
    pub source: Chosen<dyn DataKind>,
    /// The experiment's seed: rows that are drawn are the same in all runs.
    pub seed: u64,
    /// How often the data is restored to its state after loading.
    pub restore: Restore,
    /// The part of the data in memory when the run starts.
    pub cache: Cache,
    /// True if all option files use one copy of the data: none of them influences how the data is made.
    pub shared: bool,
}

/// How often the data is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restore {
    /// Before every run.
    PerRun,
    /// Before the first run of each block.
    PerBlock,
    /// Loaded once; each run uses the data as the previous runs left it.
    Never,
}

/// The part of the data in memory when a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// The present content of the caches.
    Warm,
    /// Nothing: the pages of the data files are dropped from the page cache, and the server is freshly started.
    Cold,
}

impl DataSpec {
    /// Reads `[data]` for one combination; `None` when the file has none.
    pub(crate) fn read(
        section: &Section<'_>,
        server: &ServerSpec,
        seed: u64,
        kinds: &[&'static dyn DataKind],
    ) -> Result<Option<Self>, Error> {
        if !section.is_there() {
            return Ok(None);
        }
        section.allow(&[selected_table::keys(kinds), keys::DATA.to_vec()].concat())?;
        let source = selected_table::read(section, kinds)?;
        if source.kind.needs_private_server(&source.values)
            && matches!(server, ServerSpec::Given { .. })
        {
            let key = selected_table::key_of(section, source.kind).unwrap_or(source.name());
            let problem = Problem::OtherServer {
                key,
                needs: "a private server",
                found: "`address`",
            };
            return Err(section.error_at(key, problem));
        }
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
            source,
            seed,
            restore: restore.unwrap_or(match server.restart() {
                Restart::PerRun => Restore::PerRun,
                Restart::PerBlock => Restore::PerBlock,
                Restart::Never => Restore::Never,
            }),
            cache: cache.unwrap_or(Cache::Warm),
            shared: section.choice("shared", &SHARED)?.unwrap_or(false),
        };
        data.check_restart(section, server)?;
        Ok(Some(data))
    }

    /// True for data whose size is a multiple of the buffer pool.
    pub(crate) fn follows_buffer_pool(&self) -> bool {
        let size = self.source.kind.size(&self.source.values);
        matches!(size, Size::Rows(Rows::TimesBufferPool(_)))
    }

    /// A private server's data is restored, and its caches are emptied, while the server is stopped.
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
