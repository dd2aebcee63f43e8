//! What would be tested and how long it takes: `--plan`.

use std::{fmt::Write as _, time::Duration};

use benchmarks::VOCABULARY;
use blame::{Blame, Blamed};
use experiment::{Costs, Experiment, Overrides};
use units::{counted, span};
use verdict::Elimination;

use crate::{
    case::{Case, SCREENING_SHARE},
    option_line,
    round_files::NamedRound,
};

/// Blocks of a round below which nothing is decided.
const BLOCKS_AT_LEAST: u32 = 3;

/// The plan as text, a line for each tested and each untested line of the file.
pub fn plan(case: &Case) -> Result<String, Blamed> {
    let candidates = &case.candidates;
    let mut text = format!(
        "{} against {} on {} under {}: {} to test, {} not tested\n",
        case.file.display(),
        case.base_in_words(),
        case.run,
        case.load.in_words,
        counted(candidates.groups.len() - case.pinned.len(), "group"),
        counted(candidates.untested.len(), "line"),
    );
    let mut line = |line: String| {
        writeln!(text, "{line}").expect("writing to a String cannot fail");
    };
    for (at, group) in candidates.groups.iter().enumerate() {
        let lines: Vec<String> = group.lines.iter().map(option_line::shown).collect();
        let lines = if lines.is_empty() {
            format!("no {}", group.options.join(", no "))
        } else {
            lines.join(", ")
        };
        if case.pinned.contains(&at) {
            let class = case.class_without(at)?;
            line(format!(
                "pinned    {lines}: without it durability is {}",
                class.name()
            ));
        } else {
            line(format!("test      {lines}"));
        }
    }
    for untested in &candidates.untested {
        line(format!(
            "untested  {}: {}",
            option_line::shown(&untested.entry),
            untested.why
        ));
    }
    let round = time_of_screening(case)?;
    let files = case.candidates.groups.len() - case.pinned.len() + 2;
    line(format!(
        "screening {} in at most {}, until each line is decided: up to about {}",
        counted(files.min(round.files), "file"),
        counted(case.terms.blocks as usize, "block"),
        span(round.time.min(case.terms.budget.unwrap_or(Duration::MAX)))
    ));
    line("check     the shortest file against the whole file, and without each of its lines: at most as long".to_owned());
    if let Some(budget) = case.terms.budget {
        line(format!("budget    {} for all rounds", span(budget)));
    }
    Ok(text)
}

/// An error where the budget does not hold the blocks without which the first round decides nothing.
pub(crate) fn check_budget(case: &Case) -> Result<(), Blamed> {
    let Some(budget) = case.terms.budget else {
        return Ok(());
    };
    let round = time_of_screening(case)?;
    let share = f64::from(BLOCKS_AT_LEAST) / f64::from(case.terms.blocks.max(BLOCKS_AT_LEAST));
    let least = round.time.mul_f64(share);
    if budget.mul_f64(SCREENING_SHARE) >= least {
        return Ok(());
    }
    let message = format!(
        "--budget of {} cannot decide anything: at least {BLOCKS_AT_LEAST} blocks of {} are needed, which take \
         about {}",
        span(budget),
        counted(round.files, "file"),
        span(least)
    );
    let minutes = (least.as_secs_f64() / SCREENING_SHARE / 60.0).ceil();
    let hint = format!(
        "the first round needs at least --budget {minutes:.0}m; a shorter --duration needs less"
    );
    Err(Blamed::new(Blame::Input, message).hint(hint))
}

/// The size of a round, with all blocks that it may take.
struct Size {
    files: usize,
    time: Duration,
}

/// The first round, planned by the engine itself from files that are removed again.
fn time_of_screening(case: &Case) -> Result<Size, Blamed> {
    let scratch = files::Scratch::make("dbdyno-prove-");
    let scratch = scratch.map_err(|error| Blamed::new(Blame::Machine, error))?;
    let elimination = Elimination::new(
        case.candidates.groups.len(),
        &case.pinned,
        case.terms.margin,
    );
    let round = elimination.round();
    let round =
        round.ok_or_else(|| Blamed::new(Blame::Machine, "a new elimination has no round"))?;
    let named = NamedRound::new(case, 1, round);
    named.write(case, scratch.path())?;
    let path = scratch.path().join(format!("{}.toml", named.name));
    let text = files::read_regular_text(&path, experiment::TEXT_BYTES_MAX)
        .map_err(Blamed::io(Blame::Machine, &path))?;
    let experiment = Experiment::parse(&path, &text, &Overrides::default(), &VOCABULARY);
    let time = experiment?.plan().estimate(&Costs::default());
    Ok(Size {
        files: named.files.len(),
        time,
    })
}
