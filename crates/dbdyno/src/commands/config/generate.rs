//! `dbdyno config generate`: a short file for a version, a machine and a purpose.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    thread::available_parallelism,
};

use blame::{Blame, Blamed};
use mycnf::{
    DurabilityClass, GenerationInput, OptionFile, Purpose, excess_connection_bytes, generate,
};
use results::storage_results;
use units::bytes;

use super::subject::{VersionArgs, size, write_new};
use super::trial::Start;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The file sets only options whose values differ from the version's defaults. A comment at each line states the reason and
the formula. If neither --disk-iops nor --storage is given, the disk's speed is unknown, and the options that depend on
it keep their defaults.

Examples:
  dbdyno config generate --for mysql-8.0.33 --memory 32G --connections 500 --output my.cnf
  dbdyno config generate --for mariadb-10.11 --storage results/storage-commit-1 --workload bulk")]
pub(crate) struct GenerateArgs {
    #[command(flatten)]
    version: VersionArgs,
    /// Memory of the server's machine [default: this machine's memory]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// Number of CPUs in the server's machine [default: this machine's CPUs]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=4096))]
    cpus: Option<u64>,
    /// Number of durable random writes that the disk performs per second [default: unknown]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    disk_iops: Option<u64>,
    /// Results of `dbdyno storage` for the server's disk, from which the disk's speed is taken instead of --disk-iops
    #[arg(long, value_name = "RECORD", conflicts_with = "disk_iops")]
    storage: Option<PathBuf>,
    /// Type of load for which the file is written
    #[arg(long, value_enum, default_value_t = Workload::Oltp)]
    workload: Workload,
    /// Lowest acceptable durability class. D4: a failure loses nothing. D3: a power failure can lose the end of the
    /// binary log. D2: a power failure can lose the last second of commits. D1: a server crash alone can lose the last
    /// second of commits. D0: a failure can lose anything
    #[arg(long, value_name = "CLASS", value_parser = class, default_value = "D4")]
    durability: DurabilityClass,
    /// Maximum number of clients that are connected at the same time
    #[arg(long, short, value_name = "N", default_value_t = 151,
        value_parser = clap::value_parser!(u64).range(1..=100_000))]
    connections: u64,
    /// New file to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not test the file by starting a server with it, even if the server version is installed
    #[arg(long)]
    no_start: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Workload {
    /// Many short transactions
    Oltp,
    /// Bulk loads and long statements
    Bulk,
    /// Both types of load
    Mixed,
}

pub(crate) fn run(args: &GenerateArgs) -> anyhow::Result<ExitCode> {
    let (target, installation) = args.version.resolve()?;
    let missing = Start::of_missing(&target);
    let memory = args
        .memory
        .or_else(telemetry::usable_memory_bytes)
        .ok_or_else(|| {
            let message = "the memory of this machine is unknown";
            Blamed::new(Blame::Machine, message).hint("set it with --memory".to_owned())
        })?;
    let wish = GenerationInput {
        target,
        memory_bytes: memory,
        cpus: args
            .cpus
            .or_else(|| available_parallelism().ok()?.get().try_into().ok()),
        disk_iops: match &args.storage {
            Some(path) => Some(measured_iops(path)?),
            None => args.disk_iops,
        },
        purpose: match args.workload {
            Workload::Oltp => Purpose::Oltp,
            Workload::Bulk => Purpose::Bulk,
            Workload::Mixed => Purpose::Mixed,
        },
        class: args.durability,
        connections: args.connections,
    };
    if let Some(needed) = excess_connection_bytes(&wish) {
        let message = format!(
            "{} connections can use {} of {}, which leaves too little for the buffer pool",
            wish.connections,
            bytes(needed),
            bytes(wish.memory_bytes)
        );
        let hint = "name fewer --connections, or more --memory".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    let text = generate(&wish);
    let start = match installation {
        _ if args.no_start => Start::NotTried("--no-start".to_owned()),
        None => missing,
        Some(installation) => {
            let file = OptionFile::parse(&text, Path::new("my.cnf")).map_err(Blamed::from)?;
            Start::of(&installation, &file)
        }
    };
    let words = start.in_words();
    match &args.output {
        Some(path) => {
            write_new(path, text.as_bytes())?;
            println!("wrote {}: {words}", path.display());
        }
        None => {
            print!("{text}");
            eprintln!("note: {words}");
        }
    }
    Ok(if start.has_failed() {
        ExitCode::from(Blame::Answer as u8)
    } else {
        ExitCode::SUCCESS
    })
}

/// Durable random writes of pages per second in a measurement of storage.
fn measured_iops(path: &Path) -> Result<u64, Blamed> {
    let file = storage_results::record_file(path).ok_or_else(|| {
        let message = format!("{} contains no storage measurement", path.display());
        Blamed::new(Blame::Input, message).hint("create one with dbdyno storage quick".to_owned())
    })?;
    let record = storage_results::read(&file)?;
    let writes = report::page_writes_per_s(&record.over_repeats()).ok_or_else(|| {
        let message = format!(
            "{}: contains no random page writes that were measured on a known device, for at least 3 s, at a \
             steady rate, on an idle machine, without a suspicion that a cache answers the requests (rule H05)",
            path.display()
        );
        Blamed::new(Blame::Input, message)
            .hint("measure with dbdyno storage quick, suite or steady".to_owned())
    })?;
    // Rates of disks are far below the range in which this would lose a request.
    Ok(writes as u64)
}

fn class(text: &str) -> Result<DurabilityClass, String> {
    DurabilityClass::named(text).ok_or_else(|| "one of D0, D1, D2, D3, D4".to_owned())
}
