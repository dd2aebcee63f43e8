//! `dbdyno config prove`: which lines of an option file earn their place on this machine, under this load.

mod case;
mod course;
mod file_text;
mod findings;
mod options;
mod place;
mod plan;
mod round_files;
mod workload;

use std::{path::Path, process::ExitCode};

use report::{Proof, proof_as_html, proof_as_json, proof_as_text};
use runs::{Blame, Blamed};
use units::counted;

use super::subject::{Format, write_new};
use crate::terminal;
use case::Case;
use course::Course;

pub(crate) use options::ProveArgs;

pub(crate) fn run(args: ProveArgs) -> anyhow::Result<ExitCode> {
    for new in args.output.iter().chain(&args.html) {
        refuse_existing(new)?;
    }
    let case = Case::of(&args)?;
    if args.plan {
        print!("{}", plan::describe(&case)?);
        return Ok(ExitCode::SUCCESS);
    }
    let context = terminal::context()?;
    let mut place = place::open(args.results.as_deref(), &case)?;
    let choices = args.options.choices();
    let course = Course::run(&case, place.path(), &choices, &context)?;
    let proof = findings::proof(&case, &course, place.path())?;
    let page = proof_as_html(&proof);
    files::replace(&place.path().join(runs::REPORT), page.as_bytes()).map_err(Blamed::machine)?;
    if let Some(new) = &args.html {
        write_new(new, page.as_bytes())?;
    }
    match args.format {
        Format::Text => print!("{}", proof_as_text(&proof, args.verbose)),
        Format::Json => print!("{}", proof_as_json(&proof)),
    }
    if !proof.is_finished {
        return Err(undecided(&case, &proof).into());
    }
    place.finish()?;
    if let Some(new) = &args.output {
        write_new(new, file_text::shortest(&case, &course, &proof)?.as_bytes())?;
        eprintln!("note: wrote {}", new.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a proof that ended before it was decided.
fn undecided(case: &Case, proof: &Proof) -> Blamed {
    let round = proof.rounds.last();
    let blocks = round.map_or(0, |round| round.blocks);
    let blocks = counted(blocks as usize, "block");
    let message = format!(
        "not decided: the last round ended after {blocks}, and 3 are the least that decides; no shorter file is proposed"
    );
    let hint = match case.terms.budget {
        Some(_) => {
            "a longer --budget, a shorter --duration or fewer lines leave time for more blocks"
        }
        None => "more --blocks, or a longer --duration",
    };
    Blamed::new(Blame::Undecided, message).hint(hint.to_owned())
}

fn refuse_existing(new: &Path) -> Result<(), Blamed> {
    if new.symlink_metadata().is_err() {
        return Ok(());
    }
    let message = format!("{} exists already", new.display());
    Err(Blamed::new(Blame::Input, message).hint("name a new file".to_owned()))
}
