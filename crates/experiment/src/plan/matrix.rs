//! The factors, and the combinations of their levels to run.

use std::collections::{BTreeMap, BTreeSet};

use settings::Factor;

use crate::{
    error::Error,
    file::{
        problem::Problem,
        section::Section,
        source::Source,
        template::{self, Levels},
    },
    plan::{
        levels::{self, RUNS_AT_MOST, WrittenFactor},
        zip,
    },
};

/// Conditions that a combination must meet to be left out: factor (by its index) and levels.
type Exclude = Vec<(usize, Vec<String>)>;

/// The factors of the file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Matrix {
    /// The factors whose levels are combined; factors that `zip` pairs are one, under the name of the first of them.
    pub(crate) factors: Vec<Factor>,
    /// What the levels of each of these factors stand for, in their order: the value of the factor and of those that
    /// are paired with it.
    values: Vec<Vec<Levels>>,
    /// The factors that follow another one, with its name.
    followers: BTreeMap<String, String>,
}

impl Matrix {
    /// Reads `[matrix]` and `zip`.
    pub(crate) fn read(source: Source<'_>, top: &Section<'_>) -> Result<Self, Error> {
        let written = levels::read(source, &top.section("matrix", "[matrix]")?)?;
        for factor in &written {
            check(source, factor)?;
        }
        let mut matrix = Self {
            factors: Vec::new(),
            values: Vec::new(),
            followers: zip::read(source, top, &written)?,
        };
        for factor in &written {
            if matrix.followers.contains_key(factor.name) {
                continue;
            }
            let with = |it: &&WrittenFactor<'_>| {
                let leader = matrix.followers.get(it.name);
                it.name == factor.name || leader.is_some_and(|leader| leader == factor.name)
            };
            let group: Vec<_> = written.iter().filter(with).collect();
            let levels = 0..factor.levels.len();
            let value = |it: &&WrittenFactor<'_>, at: usize| {
                (it.name.to_owned(), it.levels[at].value.clone())
            };
            let values = levels.map(|at| group.iter().map(|it| value(it, at)).collect());
            matrix.values.push(values.collect());
            let labels = factor.levels.iter().map(|level| level.label.clone());
            matrix.factors.push(Factor {
                name: factor.name.to_owned(),
                levels: labels.collect(),
            });
        }
        Ok(matrix)
    }

    /// What the levels of a combination stand for, of every factor of the file.
    pub(crate) fn values(&self, combination: &Levels) -> Levels {
        let mut values = Levels::new();
        for (factor, of_levels) in self.factors.iter().zip(&self.values) {
            let level = combination.get(&factor.name);
            let at = factor.levels.iter().position(|it| Some(it) == level);
            if let Some(at) = at {
                values.extend(of_levels[at].clone());
            }
        }
        values
    }

    /// What each level stands for that says it not itself, by factor and level: `mysql-8.0.33, b.cnf`.
    pub(crate) fn meanings(&self) -> BTreeMap<(String, String), String> {
        let mut meanings = BTreeMap::new();
        for (factor, of_levels) in self.factors.iter().zip(&self.values) {
            for (level, values) in factor.levels.iter().zip(of_levels) {
                let own = values.get(&factor.name).filter(|value| *value != level);
                let paired = values.iter().filter(|(name, _)| **name != factor.name);
                let others = own.into_iter().chain(paired.map(|(_, value)| value));
                let others: Vec<&str> = others.map(String::as_str).collect();
                if !others.is_empty() {
                    let key = (factor.name.clone(), level.clone());
                    meanings.insert(key, others.join(", "));
                }
            }
        }
        meanings
    }

    /// The error about an unknown factor says so where the factor is paired with another one.
    pub(crate) fn explain(&self, error: Error) -> Error {
        let Error::File { place, problem } = error else {
            return error;
        };
        let problem = match *problem {
            Problem::UnknownFactor { name, factors } => match self.followers.get(&name) {
                Some(leader) if factors.contains(leader) => Problem::Follower {
                    leader: leader.clone(),
                    name,
                },
                _ => Problem::UnknownFactor { name, factors },
            },
            other => other,
        };
        Error::File {
            place,
            problem: Box::new(problem),
        }
    }
}

fn check(source: Source<'_>, factor: &WrittenFactor<'_>) -> Result<(), Error> {
    let (name, at) = (factor.name.to_owned(), factor.at.clone());
    if !template::is_factor_name(&name) {
        return Err(source.error(at, Problem::FactorName { name }));
    }
    if factor.levels.is_empty() {
        return Err(source.error(at, Problem::NoLevels { name }));
    }
    let mut seen = BTreeSet::new();
    for level in &factor.levels {
        if !seen.insert(&level.label) {
            let problem = Problem::LevelTwice {
                factor: name,
                level: level.label.clone(),
            };
            return Err(source.error(level.at.clone(), problem));
        }
    }
    Ok(())
}

/// An error when a factor is used in none of `sections`.
pub(crate) fn check_use(
    source: Source<'_>,
    top: &Section<'_>,
    sections: &[&str],
) -> Result<(), Error> {
    let matrix = top.section("matrix", "[matrix]")?;
    let names: Vec<&str> = matrix.entries().map(|(key, _)| &**key.get_ref()).collect();
    let mut used = BTreeSet::new();
    for value in sections.iter().filter_map(|key| top.value(key)) {
        used.extend(source.named_factors(value, &names)?);
    }
    let unused = matrix
        .entries()
        .find(|(key, _)| !used.contains(&**key.get_ref()));
    match unused {
        None => Ok(()),
        Some((key, _)) => {
            let name = key.get_ref().to_string();
            Err(source.error(key.span(), Problem::UnusedFactor { name }))
        }
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
    for list in section.level_lists()? {
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

/// The versions of the private servers in these combinations.
pub(crate) fn versions(
    top: &Section<'_>,
    combinations: &[Levels],
    matrix: &Matrix,
) -> Result<BTreeSet<String>, Error> {
    let server = top.section("server", "[server]")?;
    let mut versions = BTreeSet::new();
    for levels in combinations {
        let values = matrix.values(levels);
        let run = server.clone().with_levels(&values).string("run")?;
        versions.extend(run.map(|run| run.value));
    }
    Ok(versions)
}
