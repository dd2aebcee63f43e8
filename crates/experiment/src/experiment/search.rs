//! The checks of an experiment that searches for the highest rate that keeps a limit.

use samples::RATE;
use settings::Factor;

use crate::{
    error::Error,
    file::{overrides::Overrides, problem::Problem, section::Section},
    plan::Cell,
    spec::{find::KEY, load, repeats::Repeats},
};

const HINT: &str =
    "write repeats = \"until decided\" and at_most = 40 above the tables; do not set --repeats";

/// True if the combinations search for a rate; an error if the number of their runs is fixed, and for tables that would
/// compare or check runs with different rates.
pub(super) fn check(
    top: &Section<'_>,
    cells: &[Cell],
    repeats: Repeats,
    overrides: &Overrides,
) -> Result<bool, Error> {
    let mut loads = cells.iter().flat_map(|cell| &cell.loads);
    if !loads.any(|load| load.find.is_some()) {
        return Ok(false);
    }
    if matches!(repeats, Repeats::Times(_)) {
        let what = match overrides.repeats {
            Some(_) => "--repeats fixes the number of runs",
            None => "the number of runs is fixed",
        };
        let problem = format!("{what}, but `find` measures until the rate is known");
        let load = load::place(top, KEY)?;
        return Err(load.error_at(
            KEY,
            Problem::Conflict {
                problem,
                hint: HINT,
            },
        ));
    }
    for key in ["verdict", "answer", "expect"] {
        if top.value(key).is_some() {
            let other = "`find` of [load]: its runs have different rates".to_owned();
            return Err(top.error_at(key, Problem::NoMeaning { key, other }));
        }
    }
    Ok(true)
}

/// The rates as a factor that a chart has to show. Their levels are known after the runs: here they only are several.
pub(super) fn factor() -> Factor {
    Factor {
        name: RATE.to_owned(),
        levels: vec![String::new(); 2],
    }
}
