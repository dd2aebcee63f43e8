//! `dbdyno experiments`: the experiments that come with dbdyno.

use std::{path::Path, process::ExitCode};

use blame::{Blame, Blamed};
use experiment::{TEXT_BYTES_MAX, question_of};
use report::wrapped_behind;

use crate::{bundled_experiments, commands::run::terminal_width};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The experiments are in share/dbdyno/experiments of the package, in a directory `experiments` beside the program or
beside its directory `bin`, or in the source checkout that contains the program or in which you call it.

Examples:
  dbdyno experiments
  dbdyno run shop --plan
  dbdyno run shop
  cp \"$(dbdyno experiments --file shop)\" my.toml")]
pub(crate) struct ExperimentsArgs {
    /// Print only the path of this experiment's file, so that you can read or copy it
    #[arg(long, value_name = "NAME")]
    file: Option<String>,
}

pub(crate) fn run(args: &ExperimentsArgs) -> anyhow::Result<ExitCode> {
    if let Some(name) = &args.file {
        println!("{}", bundled_experiments::named(name)?.file.display());
        return Ok(ExitCode::SUCCESS);
    }
    let all = bundled_experiments::all()?;
    let directory = all.first().and_then(|it| it.file.parent());
    let Some(directory) = directory else {
        return Err(bundled_experiments::none().into());
    };
    let columns = usize::from(terminal_width());
    let width = all.iter().map(|it| it.name.len()).max().unwrap_or(0);
    for experiment in &all {
        let head = format!("{:width$}  ", experiment.name);
        let question = question(&experiment.file)?;
        println!("{}", wrapped_behind(&head, &question, columns));
    }
    println!("\nplan      dbdyno run {} --plan", all[0].name);
    println!("files     {}", directory.display());
    Ok(ExitCode::SUCCESS)
}

/// The question that an experiment's file asks; empty if it has none.
fn question(file: &Path) -> Result<String, Blamed> {
    let text = files::read_handed_over_text(file, TEXT_BYTES_MAX);
    let text = text.map_err(Blamed::io(Blame::Machine, file))?;
    Ok(question_of(&text).unwrap_or_default())
}
