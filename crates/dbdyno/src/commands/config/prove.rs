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

use blame::{Blame, Blamed};
use case::Case;
use course::Course;
use report::{Proof, proof_as_html, proof_as_json, proof_as_text};
use units::{counted, fine_percent};
use verdict::Fate;

use super::subject::{Format, write_new};
use crate::terminal;

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
    let course = Course::run(&case, &place, &choices, &context)?;
    let proof = findings::proof(&case, &course, place.path())?;
    let page = proof_as_html(&proof);
    files::replace(&place.path().join(results::REPORT), page.as_bytes())
        .map_err(Blamed::machine)?;
    if let Some(new) = &args.html {
        write_new(new, page.as_bytes())?;
    }
    match args.format {
        Format::Text => print!("{}", proof_as_text(&proof, args.verbose)),
        Format::Json => print!("{}", proof_as_json(&proof)),
    }
    if !proof.is_finished {
        return Err(undecided(&case, &course, &proof).into());
    }
    place.finish()?;
    if let Some(new) = &args.output {
        let text = file_text::shortest(&case, &course, &proof)?;
        if file_text::has_secret(&case) {
            refuse_existing(new)?;
            files::replace_private(new, text.as_bytes()).map_err(Blamed::machine)?;
        } else {
            write_new(new, text.as_bytes())?;
        }
        eprintln!("note: wrote {}", new.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The error of a proof that ended before it was decided: which loss is possible, and what would decide it.
fn undecided(case: &Case, course: &Course, proof: &Proof) -> Blamed {
    let blocks = proof.rounds.last().map_or(0, |round| round.blocks);
    let margin = fine_percent(case.terms.margin);
    let why = if proof.lines.iter().any(|it| it.fate == Fate::Unresolved) {
        "the shorter file is slower, and the last round does not show which of the dropped lines is needed".to_owned()
    } else if let Some(loss) = proof.possible_loss {
        format!("{}, and the margin is {margin}", loss.in_words())
    } else {
        let blocks = counted(blocks as usize, "block");
        format!("the last round ended after {blocks}, and a decision needs at least 3")
    };
    let message = format!("not decided: {why}; no shorter file is proposed");
    let is_short = course.rounds.last().is_some_and(|it| it.time_is_spent);
    let hint = if is_short {
        "to continue, run the same command with a longer --budget; a longer --duration or a larger --min-effect starts \
         a new proof"
    } else {
        "a longer --duration, a quieter machine or a larger --min-effect can decide more, in a new proof"
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
