//! The factors, and the combinations of their levels to run.

use std::collections::BTreeSet;

use settings::Factor;

use crate::{
    error::Error,
    file::{
        problem::Problem,
        section::{LevelList, Section},
        source::Source,
        template::{self, Levels},
    },
};

/// Maximum number of combinations, and of runs in a plan.
pub(crate) const RUNS_AT_MOST: u32 = 100_000;

/// Conditions that a combination must meet to be left out: factor (by its index) and levels.
type Exclude = Vec<(usize, Vec<String>)>;

pub(crate) fn factors(source: Source<'_>, top: &Section<'_>) -> Result<Vec<Factor>, Error> {
    let lists = top.section("matrix", "[matrix]")?.level_lists(false)?;
    lists.into_iter().map(|list| factor(source, list)).collect()
}

fn factor(source: Source<'_>, list: LevelList<'_>) -> Result<Factor, Error> {
    let name = list.name.to_owned();
    if !template::is_factor_name(&name) {
        return Err(source.error(list.at, Problem::FactorName { name }));
    }
    if list.levels.is_empty() {
        return Err(source.error(list.at, Problem::NoLevels { name }));
    }
    let mut seen = BTreeSet::new();
    for (level, at) in &list.levels {
        if !seen.insert(level) {
            let problem = Problem::LevelTwice {
                factor: name,
                level: level.clone(),
            };
            return Err(source.error(at.clone(), problem));
        }
    }
    let levels = list.levels.into_iter().map(|(level, _)| level).collect();
    Ok(Factor { name, levels })
}

/// An error when a factor is used in none of `sections`.
pub(crate) fn check_use(
    source: Source<'_>,
    top: &Section<'_>,
    factors: &[Factor],
    sections: &[&str],
) -> Result<(), Error> {
    let names: Vec<&str> = factors.iter().map(|factor| factor.name.as_str()).collect();
    let mut used = BTreeSet::new();
    for value in sections.iter().filter_map(|key| top.value(key)) {
        used.extend(source.named_factors(value, &names)?);
    }
    let matrix = top.section("matrix", "[matrix]")?.level_lists(false)?;
    match matrix.iter().find(|list| !used.contains(list.name)) {
        None => Ok(()),
        Some(list) => Err(source.error(
            list.at.clone(),
            Problem::UnusedFactor {
                name: list.name.to_owned(),
            },
        )),
    }
}

/// The product of the factors without the excluded combinations; the last factor changes fastest.
pub(crate) fn combinations(
    source: Source<'_>,
    top: &Section<'_>,
    factors: &[Factor],
) -> Result<Vec<Levels>, Error> {
    let product = factors
        .iter()
        .try_fold(1_u32, |product, factor| {
            product.checked_mul(u32::try_from(factor.levels.len()).ok()?)
        })
        .filter(|product| *product <= RUNS_AT_MOST);
    let Some(product) = product else {
        let runs = format!("more than {RUNS_AT_MOST}");
        let at_most = RUNS_AT_MOST;
        return Err(top.error_at("matrix", Problem::TooManyRuns { runs, at_most }));
    };
    let mut left: Vec<Levels> = (0..product).map(|index| nth(factors, index)).collect();
    for section in top.sections("exclude", "[[exclude]]")? {
        let exclude = exclude(source, &section, factors)?;
        let before = left.len();
        left.retain(|combination| !matches(&exclude, factors, combination));
        if left.len() == before {
            return Err(section.error(Problem::ExcludesNothing));
        }
        if left.is_empty() {
            return Err(section.error(Problem::EmptyPlan));
        }
    }
    Ok(left)
}

/// The combination at `index` of the product.
fn nth(factors: &[Factor], index: u32) -> Levels {
    let mut rest = index as usize;
    let mut combination = Levels::new();
    for factor in factors.iter().rev() {
        let level = factor.levels[rest % factor.levels.len()].clone();
        combination.insert(factor.name.clone(), level);
        rest /= factor.levels.len();
    }
    combination
}

fn exclude(
    source: Source<'_>,
    section: &Section<'_>,
    factors: &[Factor],
) -> Result<Exclude, Error> {
    let exclude = conditions(source, section, factors)?;
    if exclude.is_empty() {
        return Err(section.error(Problem::EmptyExclude));
    }
    Ok(exclude)
}

/// The factors in a table, by index, each with the named levels.
pub(crate) fn conditions(
    source: Source<'_>,
    section: &Section<'_>,
    factors: &[Factor],
) -> Result<Vec<(usize, Vec<String>)>, Error> {
    let mut conditions = Vec::new();
    for list in section.level_lists(true)? {
        let index = factors.iter().position(|factor| factor.name == list.name);
        let index = index.ok_or_else(|| {
            let problem = Problem::UnknownFactor {
                name: list.name.to_owned(),
                factors: factors.iter().map(|factor| factor.name.clone()).collect(),
            };
            source.error(list.at.clone(), problem)
        })?;
        let factor = &factors[index];
        if let Some((level, at)) = list
            .levels
            .iter()
            .find(|(level, _)| !factor.levels.contains(level))
        {
            let problem = Problem::UnknownLevel {
                factor: factor.name.clone(),
                level: level.clone(),
                levels: factor.levels.clone(),
            };
            return Err(source.error(at.clone(), problem));
        }
        let levels = list.levels.into_iter().map(|(level, _)| level).collect();
        conditions.push((index, levels));
    }
    Ok(conditions)
}

fn matches(exclude: &Exclude, factors: &[Factor], combination: &Levels) -> bool {
    exclude.iter().all(|(factor, levels)| {
        combination
            .get(&factors[*factor].name)
            .is_some_and(|level| levels.contains(level))
    })
}
