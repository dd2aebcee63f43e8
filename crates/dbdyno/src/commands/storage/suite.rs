//! `dbdyno storage suite`: every pattern of a set, one fio process each, resumable pattern by pattern.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use benchmarks::storage::Suite;
use blame::{Blame, Blamed};
use samples::Pattern;
use storage::{ENGINES, Fio, mysql_30, parse_patterns, sh2_137};

use super::{answer, common_options::CommonArgs, destroy::DestroyArgs, values};

/// A longer file of patterns is a mistake.
const FILE_AT_MOST: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Sets of patterns (--patterns):
  sh2-137    sequential reads and writes of 1 MiB, then random requests of 4, 8 and 16 KiB with
             100, 90, 50, 10 and 0 % reads at depths 1 to 256; with 60 seconds for each pattern,
             the set takes 2 h 17 min
  mysql-30   random requests of 4 and 16 KiB with 100, 50 and 0 % reads at depths 1, 4, 16, 64
             and 256
  FILE       a TOML file with a [[pattern]] table for each pattern; the keys of the table are
             name, block, reads (in per cent) and depth; for requests that are not random,
             add access = \"sequential\"

Examples:
  dbdyno storage suite /data
  dbdyno storage suite /data --patterns mysql-30 --size 1G --duration 2s --repeats 3
  dbdyno storage suite /data --resume")]
pub(super) struct SuiteArgs {
    /// Directory on the disk to measure; with --destroy, a raw device
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Set of patterns to measure: sh2-137, mysql-30 or a TOML file (see below)
    #[arg(long, value_name = "SET|FILE", default_value = "sh2-137")]
    patterns: String,
    /// Size of the test file; with --destroy, size of the part of the device that is overwritten and measured
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = values::file_bytes)]
    size: u64,
    /// Length of the measurement for each pattern, in whole seconds, such as 10s or 1m
    #[arg(long = "duration", alias = "seconds", value_name = "TIME", default_value = "60s",
        value_parser = values::duration_s)]
    each_s: u64,
    /// Number of times to measure all patterns; with more than one, each time in a new random order
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::repeats())]
    repeats: u32,
    /// I/O engine that fio uses
    #[arg(long, value_name = "ENGINE", default_value = "libaio", value_parser = ENGINES)]
    engine: String,
    /// Continue the latest interrupted measurement; with --results, the one in that directory
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    destroy: DestroyArgs,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) fn run(args: &SuiteArgs) -> anyhow::Result<ExitCode> {
    let patterns = patterns(&args.patterns)?;
    if let Some(large) = patterns.iter().find(|it| it.block_bytes > args.size) {
        let message = format!("pattern {}: its block is larger than the file", large.name);
        return Err(Blamed::new(Blame::Input, message).into());
    }
    let fio = Fio::find().map_err(Blamed::from)?;
    let disk = args.common.disk_or_device(&args.directory, &args.destroy)?;
    let suite = Suite {
        patterns,
        file_bytes: args.size,
        each_s: args.each_s,
        repeats: args.repeats,
        engine: args.engine.clone(),
    };
    let written = suite.measure(fio, disk, args.common.results_place(args.resume))?;
    answer::print(&written);
    Ok(ExitCode::SUCCESS)
}

fn patterns(named: &str) -> Result<Vec<Pattern>, Blamed> {
    match named {
        "sh2-137" => return Ok(sh2_137()),
        "mysql-30" => return Ok(mysql_30()),
        _ => {}
    }
    let text = files::read_handed_over_text(Path::new(named), FILE_AT_MOST);
    let text = text.map_err(|error| {
        let hint = "--patterns must be sh2-137, mysql-30 or a TOML file".to_owned();
        Blamed::new(Blame::Input, format!("{named}: {error}")).hint(hint)
    })?;
    parse_patterns(&text).map_err(|error| Blamed::new(Blame::Input, format!("{named}: {error}")))
}
