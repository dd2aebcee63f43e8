//! `dbdyno size`: how large a machine must be, for one load or for several systems together.

mod answer_output;
mod emulating_machine;
mod emulation;
mod experiment_check;
mod experiment_paths;
mod growth;
mod headroom;
mod load_files;
mod measurement;
mod prediction;
mod size_records;
mod throughput;
mod warm_up;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use answer_output::{Format, print_lines};
use blame::{Blame, Blamed};
use load_files::system;
use measurement::{MeasurementOptions, SizingExperiment};
use prediction::{Options, TargetQuestion};
use settings::quantity;
use sizing::{
    Capacity, Changes, Consolidation, Growth, HeadroomRequest, LoadCurve, Request, ResponseLimit,
    Target, consolidate, consolidation_csv, consolidation_json, consolidation_lines,
    parse_capacity, parse_changes, parse_cpus, parse_growth, parse_target,
};

use crate::{
    bundled_experiments::{self, file_of},
    commands::experiment_options::ExperimentOptions,
};

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("question").required(true).multiple(true)
    .args(["target", "tps", "what_if", "consolidate", "headroom"]))]
#[command(group = clap::ArgGroup::new("limits").multiple(true).args(["target", "headroom"]))]
#[command(group = clap::ArgGroup::new("over_time").multiple(true).args(["consolidate", "headroom"]))]
#[command(after_help = "\
Each of these options asks a question:
  --target       How much load does a machine with these CPUs, this memory and this disk carry, and what limits it?
  --tps          What does a machine need to carry this throughput? With limits in --target: does the target carry it?
  --grow         On which date does the throughput of the target fall, if the data grows?
  --what-if      How does the throughput change with another target, or with another level of a factor in RESULTS?
  --headroom     How many times does the present peak load of a running server fit?
  --consolidate  Which systems share a machine best?

--target, --tps, --grow and --what-if compute the answer from the demands of one operation. RESULTS are the records that
measured them: directories of results, or records, of one experiment in a closed loop, with two or more executions of
each combination. Four or more numbers of connections show the contention. Three or more buffer pools show the page
reads with other buffer pools; --grow needs them, or as many sizes of the data. --p99 needs a search for this limit in
RESULTS (`find` in [load]).

An experiment file, or the name of an experiment that `dbdyno experiments` lists, is measured first. In the same blocks,
other combinations emulate the target: the kernel limits CPUs, reads and writes, and the buffer pool is that of the
target. These combinations only test the prediction. Limits need root privileges; --no-validate measures without them.

With --headroom and --consolidate, each file has the load of one system over time: a run record of dbdyno, the output of
`sadf -d` (sar) or of `iostat -xt`, or the CSV file of a CloudWatch graph. The kind is recognised by the content. A
directory is one system with several files. The name of a system is that of its file without the extension. --headroom
keeps a reserve of 20 %. Its limits are those in the files, those of --storage, and those that --target names.

The exit code is 1 if the target does not carry --tps, or if a group of systems does not fit into --capacity. It is 5 if
the answer is undecided or not known; the answer then says what would have to be measured.

docs/size.md explains the methods.

Examples:
  dbdyno size results/shop-1 --target cpus=8,memory=32G,read_iops=3000,write_iops=3000,fsync=1.2ms,net=1G
  dbdyno size size-hp --target cpus=1,buffer_pool=96M,read_iops=1000
  dbdyno size results/shop-1 --tps 5000
  dbdyno size results/shop-1 results/shop-search-1 --tps 5000 --p99 20ms
  dbdyno size results/shop-1 --target cpus=8,memory=32G,read_iops=3000 --what-if memory=64G
  dbdyno size results/shop-1 --target cpus=8,memory=32G,read_iops=3000 --grow 4%/month --html shop.html
  dbdyno size --consolidate shop.csv office.txt reports.csv
  dbdyno size --headroom shop.csv --storage results/storage-1 --target net=1G
  dbdyno size --consolidate db*.csv --groups 2 --capacity cpus=16,memory=64G,write_iops=3000
  sadf -d /var/log/sysstat/sa20 -- -u -r -b > shop.csv")]
pub(crate) struct SizeArgs {
    /// Directories of results, or records, of one experiment; or an experiment, which is measured first; with
    /// --headroom, files with the load of one server over time
    #[arg(value_name = "RESULTS|FILE|NAME", conflicts_with = "consolidate")]
    results: Vec<PathBuf>,
    /// Predict the throughput of a machine with these limits: cpus, read_iops, write_iops, fsync (time of a flush, for
    /// example 1.2ms) and net (bits per second, for example 1G); its memory (or buffer_pool) and its data are sizes
    /// [default: the sizes in the records]
    #[arg(long, value_name = "LIMIT=VALUE,...", value_parser = parse_target, requires = "results",
        conflicts_with = "consolidate")]
    target: Option<Target>,
    /// Show what a machine needs to carry this throughput, in operations per second; if --target names limits, decide
    /// whether the target carries this throughput, and with --grow, until when
    #[arg(long, value_name = "RATE", value_parser = above_zero, requires = "results",
        conflicts_with = "consolidate")]
    tps: Option<f64>,
    /// Keep the 99th percentile of the response time below this limit, for example 20ms; RESULTS must include a search
    /// for this limit: find = { p99 = "20ms" }
    #[arg(long, value_name = "TIME", value_parser = response_limit,
        conflicts_with_all = ["consolidate", "what_if"])]
    p99: Option<ResponseLimit>,
    /// Compare the throughput before and after a change of --target, for example memory=64G,cpus=16, or with another
    /// level of a factor; without --target, the measured machine is changed
    #[arg(long, value_name = "NAME=VALUE,...", value_parser = parse_changes, requires = "results",
        conflicts_with_all = ["consolidate", "tps"])]
    what_if: Option<Changes>,
    /// Take read_iops, write_iops and fsync from a record of `dbdyno storage` where --target does not name them
    #[arg(
        long,
        value_name = "FILE|DIR",
        requires = "limits",
        conflicts_with = "consolidate"
    )]
    storage: Option<PathBuf>,
    /// Exponent of Zipf's law for the requests of pages, for example 0.9; page reads between measured buffer pools are
    /// interpolated with it [default: uniform requests]
    #[arg(long, value_name = "EXPONENT", value_parser = zipf, conflicts_with = "consolidate")]
    zipf: Option<f64>,
    #[command(flatten)]
    measured: MeasurementArgs,
    /// Growth of the data, for example 4%/month or 2G/month (per day, week, month or year): find the date on which the
    /// throughput of the target falls below --tps [default: to half of that at the smallest measured data/memory]
    #[arg(
        long,
        value_name = "AMOUNT/PERIOD",
        value_parser = parse_growth,
        allow_hyphen_values = true,
        conflicts_with_all = ["consolidate", "headroom", "what_if", "p99"],
        requires = "target"
    )]
    grow: Option<Growth>,
    /// Also write the prediction as an HTML page to this file; with --tps, the page lists the machines that carry it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["consolidate", "headroom", "what_if"],
        requires = "target"
    )]
    html: Option<PathBuf>,
    /// Find out which of these systems share a machine best
    #[arg(long, value_name = "FILE|DIR", num_args = 1.., conflicts_with = "target")]
    consolidate: Vec<PathBuf>,
    /// Show how many times the present peak load of a running server fits, and which resource limits it; RESULTS are
    /// files with its load, and --target and --storage add limits
    #[arg(
        long,
        requires = "results",
        conflicts_with_all = ["consolidate", "tps", "p99", "what_if", "zipf", "groups", "capacity", "cpus"]
    )]
    headroom: bool,
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
    #[arg(long, value_name = "TIME", value_parser = step_s, requires = "over_time")]
    step: Option<u32>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// The options of an experiment file in the place of results.
#[derive(Debug, clap::Args)]
struct MeasurementArgs {
    /// For an experiment: do not emulate the target, so that the prediction is not tested
    #[arg(long, requires = "target")]
    no_validate: bool,
    /// For an experiment: print the plan with the combinations that emulate the target, and exit
    #[arg(long, requires = "target", conflicts_with_all = ["html", "format"])]
    plan: bool,
    /// For an experiment: directory for its results [default: results/NAME-N]
    #[arg(long = "results", value_name = "DIR", requires = "target")]
    directory: Option<PathBuf>,
    #[command(flatten)]
    options: ExperimentOptions,
}

impl MeasurementArgs {
    /// The first of them that is given.
    fn given(&self) -> Option<&'static str> {
        let own = [
            ("--no-validate", self.no_validate),
            ("--plan", self.plan),
            ("--results", self.directory.is_some()),
        ];
        let mut given = own.into_iter().filter(|(_, is_given)| *is_given);
        given
            .next()
            .map(|(option, _)| option)
            .or_else(|| self.options.given())
    }
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
    let file = if args.headroom {
        None
    } else {
        experiment_file(&args.results)?
    };
    if let Some(option) = args.measured.given().filter(|_| file.is_none()) {
        let message = format!("{option} is for an experiment file in the place of results");
        let hint = "for example dbdyno size size-hp --target cpus=2,buffer_pool=96M".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    if args.headroom {
        let disk = args.storage.as_deref();
        let disk = disk.map(|path| prediction::with_disk(Target::default(), path));
        let request = HeadroomRequest {
            target: args.target.unwrap_or_default(),
            disk: disk.transpose()?.unwrap_or_default(),
            step_s: args.step,
        };
        return headroom::print(&args.results, &request, args.format);
    }
    if !args.consolidate.is_empty() {
        return print_consolidation(args);
    }
    let target = match (args.target, &args.storage) {
        (Some(target), Some(path)) => Some(prediction::with_disk(target, path)?),
        (target, _) => target,
    };
    // The prediction of a change is not tested.
    let validates = !args.measured.no_validate && args.what_if.is_none();
    let results = match (file, &target) {
        (None, _) => args.results,
        (Some(file), Some(target)) => match measured(&file, target, args.measured, validates)? {
            Some(directory) => vec![directory],
            None => return Ok(ExitCode::SUCCESS),
        },
        (Some(file), None) => {
            let message = format!(
                "{}: an experiment is measured only for a --target",
                file.display()
            );
            let hint = "name a --target, or the results of dbdyno run".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint).into());
        }
    };
    let options = Options {
        results: &results,
        zipf: args.zipf,
        format: args.format,
    };
    if let Some(changes) = args.what_if {
        return throughput::compare(&options, target, changes);
    }
    let target = target.unwrap_or_default();
    let has_limits = target.limits().next().is_some();
    // Without limits, the question is what a throughput needs. A date and a page are of limits.
    let is_of_limits = has_limits || args.grow.is_some() || args.html.is_some();
    if let Some(tps) = args.tps.filter(|_| !is_of_limits) {
        return throughput::require(&options, target, tps, args.p99);
    }
    let question = TargetQuestion {
        target,
        tps: args.tps,
        response_limit: args.p99,
        grow: args.grow,
        html: args.html.as_deref(),
    };
    prediction::print(&options, question)
}

fn print_consolidation(args: SizeArgs) -> anyhow::Result<ExitCode> {
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

/// The experiment file that is named in the place of results.
fn experiment_file(results: &[PathBuf]) -> Result<Option<PathBuf>, Blamed> {
    let [only] = results else { return Ok(None) };
    if only.extension().is_some_and(|it| it == "toml") {
        return file_of(only).map(Some);
    }
    if only.exists() {
        return Ok(None);
    }
    let mut all = bundled_experiments::all()?.into_iter();
    let named = all.find(|it| only.as_os_str() == it.name.as_str());
    Ok(named.map(|it| it.file))
}

/// The results of an experiment file that is measured; `None` if only its plan was printed.
fn measured(
    file: &Path,
    target: &Target,
    args: MeasurementArgs,
    validates: bool,
) -> anyhow::Result<Option<PathBuf>> {
    let experiment = SizingExperiment::read(file, target, validates)?;
    if args.plan {
        println!("{}", experiment.plan_in_words());
        return Ok(None);
    }
    let options = MeasurementOptions {
        validates,
        results: args.directory,
        experiment: args.options,
    };
    experiment.measure(options).map(Some)
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
