//! The options of every command that measures one run: its record, and who looks at the machines meanwhile.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use audit::Audit;
use blame::{Blame, Blamed};
use protocol::Endpoint;
use results::{RecordPlace, write_page};
use runs::{Context, PreparedStatements, Stage, sample_every};
use samples::{OfferedLoad, Record};

use crate::{
    connection_options::observe_options::ObserveOptions, front_doors::linked_tools::LINKED_TOOLS,
};

#[derive(Debug, clap::Args)]
pub(crate) struct RecordOptions {
    /// File to which the run record is written [default: record.jsonl in a new subdirectory of results]
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Interval at which the machine and the server are sampled, from 100ms to 60s [default: 1s]
    #[arg(long = "every", alias = "sample-every", value_name = "TIME", value_parser = sample_every)]
    pub(crate) sample_every: Option<Duration>,
    #[command(flatten)]
    observe: ObserveOptions,
}

impl RecordOptions {
    /// The server of the run, and who looks at its machine. An error if it does not allow the prepared statements of the
    /// load; `fewer` is the option with which there are fewer.
    pub(crate) fn stage(
        &self,
        endpoint: Endpoint,
        prepared: PreparedStatements,
        fewer: &str,
        context: &Context,
    ) -> Result<Stage, Blamed> {
        Stage::of_load(endpoint, self.observe.observe()?, prepared, fewer, context)
    }

    /// Where the record goes: a directory of this name and a number where no file is named.
    pub(crate) fn place(&self, name: &str) -> Result<RecordPlace, Blamed> {
        RecordPlace::claim(self.record.as_deref(), name)
    }
}

/// The command line as a record has it: without passwords.
pub(crate) fn recorded_arguments() -> Vec<String> {
    results::arguments(LINKED_TOOLS)
}

/// The exit code by whether a rate was reached, and a warning where it was not.
pub(crate) fn exit_code_of_rate(offered: &OfferedLoad) -> ExitCode {
    let Some(shortfall) = &offered.shortfall else {
        return ExitCode::SUCCESS;
    };
    eprintln!(
        "warning: the rate was not reached from {} on: {}",
        units::moment(shortfall.from_s),
        shortfall.why
    );
    ExitCode::from(Blame::Answer as u8)
}

/// Tells where the record is, writes its page beside it, and tells where that is.
pub(crate) fn write_report(record: Record, audit: Audit, path: &Path) -> Result<(), Blamed> {
    eprintln!("record: {}", path.display());
    let page = write_page(record, audit, path)?;
    eprintln!("report: {}", page.display());
    Ok(())
}
