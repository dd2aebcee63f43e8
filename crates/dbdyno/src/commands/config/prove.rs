//! `dbdyno config prove`: which lines of an option file earn their place on this machine, under this load.

mod options;
mod workload;

use std::{path::Path, process::ExitCode};

use blame::{Blame, Blamed};
use mycnf::{OptionSelection, Target};
use proof::{Case, ProofDirectory, ProofParameters, Request, Rounds, ShortestFile, StartableFile};
use report::{proof_as_html, proof_as_json, proof_as_text};
use server::Installation;

use super::subject::{Format, note_catalogue, read_file, this_machine, write_new};
use crate::terminal;

pub(crate) use options::ProveArgs;

pub(crate) fn run(args: ProveArgs) -> anyhow::Result<ExitCode> {
    for new in args.output.iter().chain(&args.html) {
        refuse_existing(new)?;
    }
    let case = case(&args)?;
    if args.plan {
        print!("{}", proof::plan(&case)?);
        return Ok(ExitCode::SUCCESS);
    }
    let context = terminal::context()?;
    let mut directory = ProofDirectory::open(args.results.as_deref(), &case, &context)?;
    let choices = args.options.choices();
    let rounds = Rounds::measure(&case, &directory, &choices, &context, &|round| {
        eprintln!("round {}: {} files", round.number, round.files);
    })?;
    let findings = proof::findings(&case, &rounds, directory.path())?;
    let page = proof_as_html(&findings);
    files::replace(&directory.path().join(results::REPORT), page.as_bytes())
        .map_err(Blamed::machine)?;
    if let Some(new) = &args.html {
        write_new(new, page.as_bytes())?;
    }
    match args.format {
        Format::Text => print!("{}", proof_as_text(&findings, args.verbose)),
        Format::Json => print!("{}", proof_as_json(&findings)),
    }
    if !findings.is_finished {
        return Err(proof::undecided(&case, &rounds, &findings).into());
    }
    directory.finish()?;
    if let Some(new) = &args.output {
        let shortest = ShortestFile::new(&case, &rounds, &findings)?;
        if shortest.has_secret {
            refuse_existing(new)?;
            files::replace_private(new, shortest.text.as_bytes()).map_err(Blamed::machine)?;
        } else {
            write_new(new, shortest.text.as_bytes())?;
        }
        eprintln!("note: wrote {}", new.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// What the command line asks, with the files that it names.
fn case(args: &ProveArgs) -> Result<Case, Blamed> {
    let wanted = args.version.as_ref().map(Target::to_string);
    let installation = Installation::find(wanted.as_deref(), args.options.mysqld.as_deref())?;
    note_catalogue(&installation.target());
    let file = startable(&args.file, &installation)?;
    let against = args.against.as_deref();
    let against = against.map(|path| startable(path, &installation));
    Case::new(Request {
        machine: this_machine(file.options()),
        file,
        against: against.transpose()?,
        installation: &installation,
        wanted: OptionSelection {
            groups: &args.groups,
            tested: &args.tested,
        },
        load: args.workload.options(),
        allow_class: args.allow_class,
        terms: ProofParameters {
            margin: args.margin,
            blocks: args.blocks,
            budget: args.budget,
            seed: args.seed,
            datadir: args.datadir.clone(),
        },
    })
}

fn startable(path: &Path, installation: &Installation) -> Result<StartableFile, Blamed> {
    StartableFile::new(path, read_file(path)?, installation)
}

fn refuse_existing(new: &Path) -> Result<(), Blamed> {
    if new.symlink_metadata().is_err() {
        return Ok(());
    }
    let message = format!("{} exists already", new.display());
    Err(Blamed::new(Blame::Input, message).hint("name a new file".to_owned()))
}
