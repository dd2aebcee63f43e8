//! `zip`: factors whose levels belong together, the first with the first, the second with the second.

use std::collections::BTreeMap;

use toml::{Spanned, de::DeValue};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section, source::Source},
    plan::levels::WrittenFactor,
};

const EXPECTED: &str =
    "a list of two or more factors, such as [\"version\", \"cnf\"], or a list of such lists";

/// The factors that follow another one, each with its name.
pub(crate) fn read(
    source: Source<'_>,
    top: &Section<'_>,
    factors: &[WrittenFactor<'_>],
) -> Result<BTreeMap<String, String>, Error> {
    let mut followers = BTreeMap::new();
    let Some(value) = top.value("zip") else {
        return Ok(followers);
    };
    let wrong = || top.wrong_type("zip", value, EXPECTED);
    let items = value.get_ref().as_array().ok_or_else(wrong)?;
    let groups: Vec<&Spanned<DeValue<'_>>> = match items.first().map(Spanned::get_ref) {
        Some(DeValue::Array(_)) => items.iter().collect(),
        _ => vec![value],
    };
    let mut leaders = Vec::new();
    for group in groups {
        let names = group.get_ref().as_array().ok_or_else(wrong)?;
        let Some((first, others)) = names.split_first().filter(|it| !it.1.is_empty()) else {
            let problem = Problem::ShortZip;
            return Err(source.error(group.span(), problem));
        };
        let leader = named(source, top, first, factors)?;
        leaders.push(leader.name);
        for name in others {
            let follower = named(source, top, name, factors)?;
            if follower.levels.len() != leader.levels.len() {
                let problem = Problem::UnevenZip {
                    leader: leader.name.to_owned(),
                    leader_levels: leader.levels.len(),
                    name: follower.name.to_owned(),
                    levels: follower.levels.len(),
                };
                return Err(source.error(name.span(), problem));
            }
            let known = followers.insert(follower.name.to_owned(), leader.name.to_owned());
            if known.is_some() || leaders.contains(&follower.name) {
                let name_of = follower.name.to_owned();
                return Err(source.error(name.span(), Problem::ZipTwice { name: name_of }));
            }
        }
    }
    match leaders
        .iter()
        .find(|leader| followers.contains_key(**leader))
    {
        Some(leader) => {
            let name = (*leader).to_owned();
            Err(source.error(value.span(), Problem::ZipTwice { name }))
        }
        None => Ok(followers),
    }
}

fn named<'f, 'a>(
    source: Source<'_>,
    top: &Section<'_>,
    name: &Spanned<DeValue<'_>>,
    factors: &'f [WrittenFactor<'a>],
) -> Result<&'f WrittenFactor<'a>, Error> {
    let text = name.get_ref().as_str();
    let text = text.ok_or_else(|| top.wrong_type("zip", name, EXPECTED))?;
    factors.iter().find(|it| it.name == text).ok_or_else(|| {
        let problem = Problem::UnknownFactor {
            name: text.to_owned(),
            factors: factors.iter().map(|it| it.name.to_owned()).collect(),
        };
        source.error(name.span(), problem)
    })
}
