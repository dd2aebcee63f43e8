//! `dbdyno size`: how large a machine must be, for one load or for several systems together.

mod answer_output;
mod prediction;
mod size_records;
mod throughput;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use answer_output::{Format, print_lines};
use blame::{Blame, Blamed};
use files::UserText;
use settings::quantity;
use sizing::{
    Capacity, Changes, Consolidation, LoadCurve, Request, ResponseLimit, Target, consolidate,
    consolidation_csv, consolidation_json, consolidation_lines, parse_capacity, parse_changes,
    parse_cpus, parse_target, read_curve,
};
use throughput::Options;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("question").required(true).multiple(true)
    .args(["target", "tps", "what_if", "consolidate"]))]
#[command(after_help = "\
With --target, the answer is the throughput that a machine allows, and the limit that binds. It is predicted from the
demands of one operation, which the records in RESULTS measured: directories of results, or records, of one experiment
in a closed loop, with two or more executions of each combination. Four or more numbers of connections show the
contention, three or more buffer pools the page reads of other sizes. If a limit was not measured, the answer says what
would have to be measured, and the exit code is 5.

With --tps, the answer is what a machine needs to carry that throughput: CPUs, IOPS, the time of a flush and the speed of
the network, for each measured size of the buffer pool. If --target names limits, too, the answer is whether that machine
carries it; the exit code is 1 if it does not. With --p99, RESULTS must include a search for this limit (`find` in [load]).

With --what-if, the answer is the throughput with changed parts of --target, or with other levels of factors of RESULTS.

With --consolidate, each FILE has the load of one system over time: a run record of dbdyno, the output of `sadf -d`
(sar) or of `iostat -xt`, or the CSV file of a CloudWatch graph. The kind is recognised by the content. A directory is
one system with several files. The name of a system is that of its file without the extension. The answer compares the
peak of the sum with the sum of the peaks for each resource, and says which systems to put together. With --capacity,
the exit code is 1 if a group of systems does not fit.

docs/size.md explains the methods.

Examples:
  dbdyno size results/shop-1 --target cpus=8,memory=32G,read_iops=3000,write_iops=3000,fsync=1.2ms,net=1G
  dbdyno size results/shop-1 --tps 5000
  dbdyno size results/shop-1 results/shop-search-1 --tps 5000 --p99 20ms
  dbdyno size results/shop-1 --target cpus=8,memory=32G,read_iops=3000 --what-if memory=64G
  dbdyno size --consolidate shop.csv office.txt reports.csv
  dbdyno size --consolidate db*.csv --groups 2 --capacity cpus=16,memory=64G,write_iops=3000
  sadf -d /var/log/sysstat/sa20 -- -u -r -b > shop.csv")]
pub(crate) struct SizeArgs {
    /// Directories of results or records of one experiment, which measured the demands
    #[arg(value_name = "RESULTS", conflicts_with = "consolidate")]
    results: Vec<PathBuf>,
    /// Predict the throughput of a machine with these limits: cpus, read_iops, write_iops, fsync (time of a flush, for
    /// example 1.2ms) and net (bits per second, for example 1G); memory or buffer_pool, and data, are sizes [default:
    /// those of the records]
    #[arg(long, value_name = "LIMIT=VALUE,...", value_parser = parse_target, requires = "results",
        conflicts_with = "consolidate")]
    target: Option<Target>,
    /// Say what a machine needs to carry this throughput, in operations per second; if --target names limits, say whether
    /// it carries it
    #[arg(long, value_name = "RATE", value_parser = above_zero, requires = "results",
        conflicts_with = "consolidate")]
    tps: Option<f64>,
    /// Keep the 99th percentile of the response time below this limit, for example 20ms; RESULTS must include a search
    /// for it: find = { p99 = "20ms" }
    #[arg(long, value_name = "TIME", value_parser = response_limit,
        conflicts_with_all = ["consolidate", "what_if"])]
    p99: Option<ResponseLimit>,
    /// Compare the throughput with that of changed parts of --target, for example memory=64G,cpus=16, or of another level
    /// of a factor; without --target, the measured machine is changed
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = parse_changes, requires = "results",
        conflicts_with_all = ["consolidate", "tps"])]
    what_if: Option<Changes>,
    /// Take read_iops, write_iops and fsync from a record of `dbdyno storage` where --target does not name them
    #[arg(
        long,
        value_name = "FILE|DIR",
        conflicts_with = "consolidate",
        requires = "target"
    )]
    storage: Option<PathBuf>,
    /// Exponent of Zipf's law for the requests of pages, for example 0.9, by which page reads are interpolated between
    /// measured buffer pools [default: uniform requests]
    #[arg(long, value_name = "EXPONENT", value_parser = zipf, conflicts_with = "consolidate")]
    zipf: Option<f64>,
    /// Put these systems together on shared machines
    #[arg(long, value_name = "FILE|DIR", num_args = 1..)]
    consolidate: Vec<PathBuf>,
    /// Number of groups, one for each machine [default: pairs of systems]
    #[arg(long, value_name = "N", conflicts_with_all = ["target", "tps", "what_if"])]
    groups: Option<usize>,
    /// Capacity of one machine: cpus, memory, read_iops, write_iops, read_bytes and write_bytes (per second), for example
    /// cpus=8,memory=32G,write_iops=3000 [default: each resource is weighted by the sum of its peaks]
    #[arg(long, value_name = "RESOURCE=AMOUNT,...", value_parser = capacity,
        conflicts_with_all = ["target", "tps", "what_if"])]
    capacity: Option<CapacityOption>,
    /// Number of CPUs of a system whose file lacks it, for example shop=8; may be repeated
    #[arg(long, value_name = "SYSTEM=N", value_parser = parse_cpus,
        conflicts_with_all = ["target", "tps", "what_if"])]
    cpus: Vec<(String, u32)>,
    /// Length of the steps that are compared; it must divide a day [default: the coarsest sampling interval]
    #[arg(long, value_name = "TIME", value_parser = step_s,
        conflicts_with_all = ["target", "tps", "what_if"])]
    step: Option<u32>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A list as one value: clap takes a `Vec` for an option that may be repeated.
#[derive(Debug, Clone)]
struct CapacityOption(Capacity);

fn capacity(text: &str) -> Result<CapacityOption, String> {
    parse_capacity(text).map(CapacityOption)
}

fn step_s(text: &str) -> Result<u32, String> {
    let step = humantime::parse_duration(text)
        .map_err(|error| format!("{error}; for example 10s, 5min or 1h"))?;
    let whole = u32::try_from(step.as_secs()).ok();
    let whole = whole.filter(|whole| Duration::from_secs((*whole).into()) == step);
    whole.ok_or_else(|| "a number of whole seconds".to_owned())
}

/// Far beyond the skew of requests: nearly all of them are for one page.
const ZIPF_AT_MOST: f64 = 5.0;

fn zipf(text: &str) -> Result<f64, String> {
    let exponent = text.parse().ok();
    let exponent = exponent.filter(|it| (0.0..=ZIPF_AT_MOST).contains(it));
    exponent.ok_or_else(|| format!("not a number from 0 to {ZIPF_AT_MOST}"))
}

fn above_zero(text: &str) -> Result<f64, String> {
    let value = text.parse().ok();
    let value = value.filter(|it: &f64| it.is_finite() && *it > 0.0);
    value.ok_or_else(|| "not a number above 0".to_owned())
}

fn response_limit(text: &str) -> Result<ResponseLimit, String> {
    let limit = quantity::duration(text).map(ResponseLimit);
    limit.ok_or_else(|| "not a time with its unit, for example 20ms".to_owned())
}

pub(crate) fn run(args: SizeArgs) -> anyhow::Result<ExitCode> {
    let target = match (args.target, &args.storage) {
        (Some(target), Some(path)) => Some(prediction::with_disk(target, path)?),
        (target, _) => target,
    };
    let options = Options {
        results: &args.results,
        zipf: args.zipf,
        format: args.format,
    };
    match (target, args.what_if, args.tps, args.p99) {
        (target, Some(changes), ..) => return throughput::compare(&options, target, changes),
        (Some(target), None, None, None) => {
            return prediction::print(&args.results, target, args.zipf, args.format);
        }
        (Some(target), None, tps, p99) if tps.is_none() || target.limits().next().is_some() => {
            return throughput::check(&options, target, tps, p99);
        }
        (target, None, Some(tps), p99) => {
            return throughput::require(&options, target.unwrap_or_default(), tps, p99);
        }
        (_, None, None, _) => {}
    }
    let curves: Vec<LoadCurve> = args
        .consolidate
        .iter()
        .map(|path| system(path))
        .collect::<Result<_, _>>()?;
    let request = Request {
        step_s: args.step,
        groups: args.groups,
        capacity: args.capacity.map(|it| it.0).unwrap_or_default(),
        cpus: args.cpus,
    };
    let answer = consolidate(curves, &request).map_err(Blamed::from)?;
    print_answer(&answer, args.format);
    Ok(match answer.fits() {
        Some(false) => ExitCode::from(Blame::Answer as u8),
        _ => ExitCode::SUCCESS,
    })
}

fn print_answer(answer: &Consolidation, format: Format) {
    match format {
        Format::Text => {
            print_lines(&consolidation_lines(answer), &answer.remarks);
        }
        Format::Json => print!("{}", consolidation_json(answer)),
        Format::Csv => print!("{}", consolidation_csv(answer)),
    }
}

/// The load of the system in a file, or in all files of a directory.
fn system(path: &Path) -> Result<LoadCurve, Blamed> {
    if !path.is_dir() {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        return curve(path, &name.to_string_lossy());
    }
    let refused = Blamed::io(Blame::Input, path);
    let entries = fs::read_dir(path).map_err(refused)?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.map(|it| it.path()))
        .collect::<Result<_, _>>()
        .map_err(refused)?;
    files.retain(|it| it.is_file());
    files.sort();
    // `.` and `..` have no name of their own.
    let whole = fs::canonicalize(path).map_err(refused)?;
    let name = whole.file_name().unwrap_or(path.as_os_str());
    let name = name.to_string_lossy();
    let mut all: Option<LoadCurve> = None;
    for file in files {
        let next = curve(&file, &name)?;
        all = Some(match all {
            Some(curve) => curve.with(next),
            None => next,
        });
    }
    let none = || Blamed::new(Blame::Input, format!("{}: no files in it", path.display()));
    all.ok_or_else(none)
}

fn curve(path: &Path, name: &str) -> Result<LoadCurve, Blamed> {
    let text = UserText::open(path).map_err(Blamed::io(Blame::Input, path))?;
    // Errors and notes of a file have its path.
    let mut curve = read_curve(&path.display().to_string(), text)?;
    name.clone_into(&mut curve.name);
    Ok(curve)
}
