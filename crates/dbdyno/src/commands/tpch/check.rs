//! `dbdyno tpch check`: compares the tables with what dbgen makes, and sees that all references hold.

use std::process::ExitCode;

use benchmarks::tpch::{
    DATABASE,
    check::{Compared, check, require_tables, scale_factor_of},
};
use dataset::tpch::ScaleFactor;

use crate::{connection_options::ConnectionOptions, terminal};

/// The tables are not what they should be.
const EXIT_WRONG: u8 = 1;

#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Scale factor to check against [default: derived from the number of suppliers]
    #[arg(long, value_name = "N", value_parser = super::scale_factor::scale_factor)]
    scale_factor: Option<ScaleFactor>,
    /// Only count the rows; do not compare their contents
    #[arg(long)]
    no_checksums: bool,
    #[command(flatten)]
    connection: ConnectionOptions,
}

pub(super) fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let endpoint = args.connection.endpoint_of_tables(DATABASE)?;
    require_tables(&endpoint)?;
    let scale_factor = match args.scale_factor {
        Some(scale_factor) => scale_factor,
        None => scale_factor_of(&endpoint)?,
    };
    println!("scale factor {scale_factor}");
    let compared = if args.no_checksums {
        Compared::Count
    } else {
        Compared::Content
    };
    let mut is_wrong = false;
    let context = terminal::context()?;
    check(
        &endpoint,
        scale_factor,
        compared,
        &context,
        &mut |what, fault| match fault {
            None => println!("ok     {what}"),
            Some(fault) => {
                is_wrong = true;
                println!("WRONG  {what}: {fault}");
            }
        },
    )?;
    Ok(if is_wrong {
        ExitCode::from(EXIT_WRONG)
    } else {
        ExitCode::SUCCESS
    })
}
