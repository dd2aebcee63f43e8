//! `dbdyno import`: files of another tool, in the same record and report.

use std::{path::PathBuf, process::ExitCode};

use blame::{Blame, Blamed};
use clap::builder::PossibleValuesParser;
use results::storage_results;
use runs::utc_of;
use storage::{IMPORTERS, ImportFile};

use super::storage::answer;

/// A longer file is none of a measurement of storage.
const FILE_AT_MOST: u64 = 256 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
dbdyno imports two kinds of files that fio writes:
  - JSON or JSON+ output of fio 3 (`fio --output-format=json --output=FILE`), even with other
    text before or after it. Each job becomes a pattern (a row in the result).
  - Logs of requests per second (NAME_iops.N.log, which fio writes with write_iops_log=NAME
    log_avg_msec=1000). Each log becomes a curve over time.

Properties that the files do not contain (the device, its scheduler and write cache, the file system, the memory) remain
unknown.

Examples:
  dbdyno import fio randread.json
  dbdyno import fio burst.json burst_iops.1.log --results results/old-disk")]
pub(crate) struct ImportArgs {
    /// Tool that wrote the files
    #[arg(value_name = "TOOL", value_parser = tools())]
    tool: String,
    /// Files that the tool wrote
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Directory for the results [default: results/storage-import-N]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

pub(crate) fn run(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let mut importers = IMPORTERS.iter();
    let importer = importers.find(|it| it.name() == args.tool);
    let importer = importer.expect("the value was one of their names");
    let files = args.files.iter().map(|path| {
        let text = files::read_handed_over_text(path, FILE_AT_MOST);
        let text = text.map_err(|error| {
            Blamed::new(Blame::Input, format!("{}: {error}", path.display()))
                .hint("name existing files that can be read".to_owned())
        })?;
        let path = path.clone();
        Ok(ImportFile { path, text })
    });
    let files = files.collect::<Result<Vec<_>, Blamed>>()?;
    let imported = importer.read(&files).map_err(Blamed::from)?;
    let at = imported.unix_s.and_then(utc_of).unwrap_or_default();
    let record = imported.into_record(&files, at, env!("CARGO_PKG_VERSION"));
    let written = storage_results::create(&record, args.results.as_deref())?;
    answer::print(&written);
    Ok(ExitCode::SUCCESS)
}

fn tools() -> PossibleValuesParser {
    PossibleValuesParser::new(IMPORTERS.iter().map(|it| it.name()))
}
