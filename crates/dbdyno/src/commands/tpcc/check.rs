//! `dbdyno tpcc check`: the consistency conditions of clause 3.3.2, with the names of the rows that violate them.

use std::process::ExitCode;

use benchmarks::tpcc::{
    CONDITIONS, DATABASE,
    consistency::{describe, violations},
};
use runs::database;

use crate::{connection_options::ConnectionOptions, terminal};

/// Exit code of a database that is not consistent.
const NOT_CONSISTENT: u8 = 1;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Conditions 1 to 12 are those in clause 3.3.2. Condition 11 is true only directly after the load, so it is checked only
with --after-load. Condition 13 is dbdyno's own: the stock counters must agree with the order lines. If tpcc-mysql has
run on the database, the database violates condition 13, because tpcc-mysql never updates these counters.

If a condition is violated, the exit code is 1; otherwise it is 0.")]
pub(crate) struct CheckArgs {
    /// Also check condition 11, which is true only if no transaction has run since the load
    #[arg(long)]
    after_load: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
}

pub(super) fn run(args: CheckArgs) -> anyhow::Result<ExitCode> {
    let endpoint = args.connection.endpoint_of_tables(DATABASE)?;
    let begin = reactor::system_now();
    let violations = violations(&endpoint, args.after_load, &terminal::context()?)?;
    for violation in &violations {
        println!("{}", describe(violation));
    }
    let checked = CONDITIONS.len() + usize::from(args.after_load);
    println!(
        "database {}: {} of {checked} conditions hold ({})",
        database::name(&endpoint),
        checked - violations.len(),
        units::elapsed(reactor::system_now() - begin)
    );
    Ok(if violations.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOT_CONSISTENT)
    })
}
