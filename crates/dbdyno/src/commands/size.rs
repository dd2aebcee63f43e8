//! `dbdyno size`: how large a machine must be, for one load or for several systems together.

mod answer_output;
mod growth;
mod prediction;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use answer_output::{Format, print_lines};
use blame::{Blame, Blamed};
use files::UserText;
use growth::Question;
use sizing::{
    Capacity, Consolidation, Growth, LoadCurve, Request, Target, consolidate, consolidation_csv,
    consolidation_json, consolidation_lines, parse_capacity, parse_cpus, parse_growth,
    parse_target, read_curve,
};

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("question").required(true).args(["target", "consolidate"]))]
#[command(after_help = "\
With --target, the answer is the throughput that a machine allows, and the limit that binds. It is predicted from the
demands of one operation, which the records in RESULTS measured: directories of results, or records, of one experiment
in a closed loop, with two or more executions of each combination. Four or more numbers of connections show the
contention, three or more buffer pools the page reads of other sizes. If a limit was not measured, the answer says what
would have to be measured, and the exit code is 5.

With --grow, the answer is the date on which the throughput of the target falls below --tps, or to half of that at the
smallest measured data/memory. It takes three or more buffer pools or sizes of the data. If the throughput is below --tps
today, the exit code is 1.

With --consolidate, each FILE has the load of one system over time: a run record of dbdyno, the output of `sadf -d`
(sar) or of `iostat -xt`, or the CSV file of a CloudWatch graph. The kind is recognised by the content. A directory is
one system with several files. The name of a system is that of its file without the extension. The answer compares the
peak of the sum with the sum of the peaks for each resource, and says which systems to put together. With --capacity,
the exit code is 1 if a group of systems does not fit.

docs/size.md explains the methods.

Examples:
  dbdyno size results/shop-1 --target cpus=8,memory=32G,read_iops=3000,write_iops=3000,fsync=1.2ms,net=1G
  dbdyno size results/shop-1 --target cpus=8,memory=32G,read_iops=3000 --grow 4%/month --html shop.html
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
    #[arg(long, value_name = "LIMIT=VALUE,...", value_parser = parse_target, requires = "results")]
    target: Option<Target>,
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
    /// Growth of the data, for example 4%/month or 2G/month (per day, week, month or year): find the date on which the
    /// throughput of the target falls below --tps [default: to half of that at the smallest measured data/memory]
    #[arg(
        long,
        value_name = "AMOUNT/PERIOD",
        value_parser = parse_growth,
        allow_hyphen_values = true,
        conflicts_with = "consolidate",
        requires = "target"
    )]
    grow: Option<Growth>,
    /// Throughput, operations per second, below which the target must not fall
    #[arg(
        long,
        value_name = "N",
        value_parser = tps,
        conflicts_with = "consolidate",
        requires = "grow"
    )]
    tps: Option<f64>,
    /// Also write the prediction as an HTML page to this file
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "consolidate",
        requires = "target"
    )]
    html: Option<PathBuf>,
    /// Put these systems together on shared machines
    #[arg(long, value_name = "FILE|DIR", num_args = 1..)]
    consolidate: Vec<PathBuf>,
    /// Number of groups, one for each machine [default: pairs of systems]
    #[arg(long, value_name = "N", conflicts_with = "target")]
    groups: Option<usize>,
    /// Capacity of one machine: cpus, memory, read_iops, write_iops, read_bytes and write_bytes (per second), for example
    /// cpus=8,memory=32G,write_iops=3000 [default: each resource is weighted by the sum of its peaks]
    #[arg(long, value_name = "RESOURCE=AMOUNT,...", value_parser = capacity, conflicts_with = "target")]
    capacity: Option<CapacityOption>,
    /// Number of CPUs of a system whose file lacks it, for example shop=8; may be repeated
    #[arg(long, value_name = "SYSTEM=N", value_parser = parse_cpus, conflicts_with = "target")]
    cpus: Vec<(String, u32)>,
    /// Length of the steps that are compared; it must divide a day [default: the coarsest sampling interval]
    #[arg(long, value_name = "TIME", value_parser = step_s, conflicts_with = "target")]
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

/// Operations per second.
fn tps(text: &str) -> Result<f64, String> {
    let rate: Option<f64> = text.parse().ok();
    let rate = rate.filter(|it| it.is_finite() && *it > 0.0);
    rate.ok_or_else(|| "not a number above 0".to_owned())
}

pub(crate) fn run(args: SizeArgs) -> anyhow::Result<ExitCode> {
    if let Some(target) = args.target {
        let target = match &args.storage {
            Some(path) => prediction::with_disk(target, path)?,
            None => target,
        };
        if args.grow.is_some() || args.html.is_some() {
            let question = Question {
                target,
                zipf: args.zipf,
                grow: args.grow,
                tps: args.tps,
                html: args.html.as_deref(),
            };
            return growth::print(&args.results, question, args.format);
        }
        return prediction::print(&args.results, target, args.zipf, args.format);
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
