//! `dbdyno tpcc check`: the consistency conditions of clause 3.3.2, with the names of the rows that violate them.

use std::process::ExitCode;

use runs::{
    benchmarks::tpcc::{
        DATABASE,
        consistency::{describe, violations},
    },
    database,
};
use workload::tpcc::CONDITIONS;

use crate::{connection_options::ConnectionOptions, terminal};

/// Exit code of a database that is not consistent.
const NOT_CONSISTENT: u8 = 1;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Conditions 1 to 12 are those of clause 3.3.2; condition 11 holds only right after the load, and is checked with
--after-load. Condition 13 is dbdyno's own: the stock counters agree with the order lines. A database on which
tpcc-mysql ran violates it, because tpcc-mysql never updates these counters.

Exit codes: 0 all hold; 1 a condition is violated.")]
pub(crate) struct CheckArgs {
    /// Also check condition 11, which holds only if no transaction has run since the load
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
