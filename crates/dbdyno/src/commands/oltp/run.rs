//! Drives a workload and prints its report.

use std::{collections::BTreeMap, path::Path, process::ExitCode, sync::Arc, time::Duration};

use audit::Audit;
use benchmarks::oltp::{
    Connections, Plan, Script,
    layout::{self as sysbench, FinalReport, Header, ReportExtras},
    plan, prepared_statements,
};
use blame::{Blame, Blamed};
use experiment::PlannedLoad;
use load::{Drain, Stop};
use protocol::{Endpoint, NO_SUCH_TABLE};
use report::RunReport;
use results::audit_of_run;
use runs::{LoadRules, Recorded, RunOutcome, SingleRun, control, number, shortcoming};

use crate::{
    commands::{
        oltp::{
            options::{DURATION, ForcedShutdown, Format, Options},
            watch::Watcher,
        },
        record_options::{exit_code_of_rate, recorded_arguments, write_report},
        run::terminal_width,
    },
    seed::fresh_seed,
    terminal,
};

/// Runs the workload.
pub(super) fn run(options: &Options, script: Script) -> anyhow::Result<ExitCode> {
    let seed = match options.load.seed {
        None | Some(0) => fresh_seed(),
        Some(seed) => seed,
    };
    let load = PlannedLoad {
        spec: options.spec(script)?,
        seed,
    };
    let plan = Arc::new(plan(options.values()?, &load));
    let is_document = matches!(options.report.format, Format::Json | Format::Csv);
    if options.has_histogram() && is_document {
        let message = "--histogram is for the formats text and sysbench";
        let hint = "the record contains every interval's histogram".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    let stop = stop(options)?;
    let drain = drain(options, stop)?;
    let endpoint = options.endpoint()?;
    let context = terminal::context()?;
    let stage = options.report.record.stage(
        endpoint,
        prepared_statements(&plan),
        "--db-ps-mode=disable",
        &context,
    )?;
    warn_of_missing_rows(&plan, stage.server())?;
    if options.report.format == Format::Sysbench {
        options.print_title();
        print!("{}", sysbench::header(&header(options, stop, drain)));
    }
    let place = (options.report.record).place(&format!("oltp-{}", script.name()))?;
    let path = place.path();
    let single = SingleRun {
        name: format!("oltp {}", script.name()),
        settings: recorded_settings(&plan),
        arguments: recorded_arguments(),
        rules: LoadRules {
            stop,
            drain,
            ..LoadRules::of_command(&load.spec)
        },
        load,
        stage: &stage,
        sample_every: options.report.record.sample_every,
        path,
        context: &context,
    };
    let mut watcher = Watcher {
        plan: Arc::clone(&plan),
        format: options.report.format,
        every_s: options.report.report_interval,
        percentile: options.percentiles().first().copied().unwrap_or(0.0),
        is_open_loop: options.load.rate > 0.0,
        totals: sysbench::LineTotals::default(),
    };
    let recorded = single
        .record(&mut Connections::new(plan), Some(&mut watcher))
        .map_err(|error| hinted(error, script))?;
    if options.report.format == Format::Sysbench {
        print!("{}", report(options, &recorded));
    } else {
        let audit = audit_of_run(&recorded.record);
        let is_answer = options.report.format == Format::Text && !options.report.verbose;
        if is_answer {
            print!("{}", answer(options, &recorded, &audit, path));
        } else {
            print!("{}", report(options, &recorded));
        }
        if options.report.format == Format::Text && options.report.verbose {
            print!("\n{}", report::audit_in_short(&audit, terminal_width()));
        }
        write_report(recorded.record, audit, path)?;
    }
    if let Some(error) = recorded.failed {
        return Err(hinted(error, script).into());
    }
    let unfinished = recorded.outcome.unfinished;
    if is_forced(options) && unfinished > 0 {
        let message = format!(
            "forced shutdown: {unfinished} operations had not finished when the time was over"
        );
        return Err(Blamed::new(Blame::Server, message).into());
    }
    if let Some(error) = shortcoming([RunOutcome::from(&recorded.outcome)]) {
        return Err(error.into());
    }
    Ok(exit_code_of_rate(&recorded.outcome.offered))
}

/// A time, a number of events, or whichever comes first.
fn stop(options: &Options) -> Result<Stop, Blamed> {
    let operations = options.load.operations;
    match (options.load.duration, operations) {
        (Some(Duration::ZERO), 0) => {
            let message = "the run would never end: --duration 0 and --operations 0";
            Err(Blamed::new(Blame::Input, message).hint("set one of them".to_owned()))
        }
        (None, 0) => Ok(Stop::After(DURATION)),
        (Some(duration), 0) => Ok(Stop::After(duration)),
        (None | Some(Duration::ZERO), _) => Ok(Stop::Operations(operations)),
        (Some(duration), _) => Ok(Stop::AfterOrOperations(duration, operations)),
    }
}

/// How long events in flight may take after the time is over.
fn drain(options: &Options, stop: Stop) -> Result<Drain, Blamed> {
    let Some(forced) = options.load.forced_shutdown else {
        return Ok(Drain::USUAL);
    };
    forced.drain(time_of(stop)).ok_or_else(|| {
        let message = "--forced-shutdown has no effect without a time that ends the run";
        Blamed::new(Blame::Input, message).hint("set one with --duration".to_owned())
    })
}

/// The time after which a run ends at the latest.
fn time_of(stop: Stop) -> Option<Duration> {
    match stop {
        Stop::After(time) | Stop::AfterOrOperations(time, _) => Some(time),
        Stop::Operations(_) | Stop::UntilPrecise(_) | Stop::WhenUsersEnd | Stop::WhenTold => None,
    }
}

/// Whether the run is ended by force some time after its planned end.
fn is_forced(options: &Options) -> bool {
    let forced = options.load.forced_shutdown;
    forced.is_some_and(|forced| forced != ForcedShutdown::Off)
}

/// Warns where the table has fewer rows than the workload asks for.
fn warn_of_missing_rows(plan: &Plan, endpoint: &Endpoint) -> Result<(), Blamed> {
    let last_id = control(endpoint, async |connection| {
        match number(connection, "select max(id) from sbtest1").await {
            Err(lost) if lost.is_connection_lost() => Err(lost),
            // Whatever is wrong with the table, the load says so.
            found => Ok(found.ok().flatten()),
        }
    })?;
    let needs_rows = !matches!(plan.script(), Script::Insert | Script::BulkInsert);
    let table_size = plan.settings().table_size;
    if let Some(last_id) = last_id.filter(|last| needs_rows && *last < table_size) {
        eprintln!(
            "warning: the ids of sbtest1 end at {last_id}, and --table-size is {table_size}: some statements will \
             find no row"
        );
    }
    Ok(())
}

fn recorded_settings(plan: &Plan) -> BTreeMap<String, String> {
    let settings = plan.settings();
    let statements = if plan.is_prepared() {
        "prepared"
    } else {
        "text"
    };
    BTreeMap::from([
        ("tables".to_owned(), settings.tables.to_string()),
        ("table-size".to_owned(), settings.table_size.to_string()),
        ("rand-type".to_owned(), settings.rand_type.to_string()),
        ("statements".to_owned(), statements.to_owned()),
    ])
}

fn header(options: &Options, stop: Stop, drain: Drain) -> Header {
    let forced = match (time_of(stop), drain) {
        (Some(time), Drain::AtMost(drain)) => Some(time + drain),
        _ => None,
    };
    Header {
        threads: options.load.connections,
        rate_per_s: Some(options.load.rate).filter(|rate| *rate > 0.0),
        report_interval_s: Some(options.report.report_interval).filter(|every| *every > 0),
        seed: options.load.seed.filter(|seed| *seed > 0),
        forced_shutdown: forced.filter(|_| is_forced(options)),
    }
}

/// The answer in a dozen lines, with the histogram where it was asked for.
fn answer(options: &Options, recorded: &Recorded, audit: &Audit, record: &Path) -> String {
    let report = RunReport::of(&recorded.record, &options.percentiles());
    report.summary(audit, record, terminal_width()) + &histogram(options, recorded)
}

fn histogram(options: &Options, recorded: &Recorded) -> String {
    if options.has_histogram() {
        sysbench::histogram_of(&recorded.record)
    } else {
        String::new()
    }
}

fn report(options: &Options, recorded: &Recorded) -> String {
    let percentiles = options.percentiles();
    let record = &recorded.record;
    let histogram = histogram(options, recorded);
    let report = || RunReport::of(record, &percentiles);
    match options.report.format {
        Format::Text => report().text() + &histogram,
        Format::Json => report().json(),
        Format::Csv => report().csv(),
        Format::Sysbench => {
            let users = &recorded.outcome.users;
            let beside = ReportExtras {
                percentiles: &percentiles,
                total_time: recorded.outcome.elapsed,
                threads: users
                    .iter()
                    .map(|user| (user.count, user.busy.as_secs_f64()))
                    .collect(),
                unfinished: Some(recorded.outcome.unfinished).filter(|left| *left > 0),
            };
            histogram + &sysbench::final_report(&FinalReport::of(record, &beside))
        }
    }
}

/// The error with what to do where tables are missing.
fn hinted(error: Blamed, script: Script) -> Blamed {
    let is_missing = error.server_error == Some(NO_SUCH_TABLE);
    let hint = || format!("dbdyno oltp {} prepare creates the tables", script.name());
    error.hint(is_missing.then(hint))
}
