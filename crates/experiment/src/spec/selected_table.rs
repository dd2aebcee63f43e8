//! A benchmark's table under `[data]` or `[load]`: its kind and its values.

use settings::{Absent, Chosen, OptionTable, Values};

use crate::{
    error::Error,
    file::{problem::Problem, section::Section},
};

/// Keys that may be used together with the tables' short forms.
fn beside(table: &(impl OptionTable + ?Sized)) -> impl Iterator<Item = &'static str> {
    let (short, is_flat) = (table.short(), table.is_flat());
    let options = table.options().iter().map(|option| option.name);
    options.filter(move |name| is_flat || short.is_some_and(|short| short != *name))
}

/// Keys of a section that come from the tables that it can contain.
pub(crate) fn keys<K: OptionTable + ?Sized>(kinds: &[&'static K]) -> Vec<&'static str> {
    let named = kinds.iter().filter(|kind| !kind.is_flat());
    let names = named.map(|kind| kind.name());
    let mut keys: Vec<&str> = names.collect();
    for key in kinds.iter().flat_map(|kind| beside(*kind)) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys
}

/// The table in a section, with its values; an error if it contains none, or keys that do not apply to it.
pub(crate) fn read<K: OptionTable + ?Sized>(
    section: &Section<'_>,
    kinds: &[&'static K],
) -> Result<Chosen<K>, Error> {
    let mut present = kinds.iter().rev().copied();
    let Some((kind, present)) =
        present.find_map(|kind| key_of(section, kind).map(|key| (kind, key)))
    else {
        let first = kinds.first().expect("there is a benchmark");
        return section.required(first.name(), None, first.example());
    };
    let is_short = match kind.short() {
        _ if kind.is_flat() => true,
        Some(_) => !section.is_table(kind.name()),
        None => false,
    };
    let own: Vec<&str> = if is_short {
        beside(kind).collect()
    } else {
        Vec::new()
    };
    let mut others = keys(kinds).into_iter();
    if let Some(key) =
        others.find(|key| *key != kind.name() && !own.contains(key) && section.value(key).is_some())
    {
        let other = format!("`{present}`");
        return Err(section.error_at(key, Problem::NoMeaning { key, other }));
    }
    let values = if is_short {
        short_values(section, kind)?
    } else {
        let table = section.section(kind.name(), format!("{} {}", section.title(), kind.name()))?;
        let table = table.with_dashes();
        let known: Vec<&str> = kind.options().iter().map(|option| option.name).collect();
        table.allow(&known)?;
        values(kind, |option| table.option(option), &table)?
    };
    Ok(Chosen { kind, values })
}

/// The first key of a section that is the table's.
pub(crate) fn key_of<K: OptionTable + ?Sized>(
    section: &Section<'_>,
    kind: &'static K,
) -> Option<&'static str> {
    let is_there = |key: &&str| section.value(key).is_some();
    if kind.is_flat() {
        let mut names = kind.options().iter().map(|option| option.name);
        names.find(is_there)
    } else {
        Some(kind.name()).filter(is_there)
    }
}

/// The values of a short form: the table's name has the value of one option, the others are separate keys.
fn short_values<K: OptionTable + ?Sized>(
    section: &Section<'_>,
    kind: &'static K,
) -> Result<Values, Error> {
    let read = |option: &settings::OptionSpec| {
        if kind.short() != Some(option.name) || kind.is_flat() {
            return section.option(option);
        }
        section.option(&settings::OptionSpec {
            name: kind.name(),
            ..*option
        })
    };
    values(kind, read, section)
}

fn values<K: OptionTable + ?Sized>(
    kind: &'static K,
    read: impl Fn(&settings::OptionSpec) -> Result<Option<settings::Value>, Error>,
    section: &Section<'_>,
) -> Result<Values, Error> {
    let mut values = Values::default();
    for option in kind.options() {
        let value = match (read(option)?, option.absent) {
            (None, Absent::Required(example)) => section.required(option.name, None, example)?,
            (None, _) => section.default(option),
            (given, _) => given,
        };
        if let Some(value) = value {
            values.set(option.name, value);
        }
    }
    match kind.fault(&values) {
        None => Ok(values),
        Some(fault) => Err(section.error_at(
            fault.option,
            Problem::Conflict {
                problem: fault.problem,
                hint: fault.hint,
            },
        )),
    }
}

/// The error for a key that does not apply to the chosen table.
pub(crate) fn meaningless<K: OptionTable + ?Sized>(
    section: &Section<'_>,
    key: &'static str,
    kind: &'static K,
) -> Error {
    let other = format!("`{}`", kind.name());
    section.error_at(key, Problem::NoMeaning { key, other })
}
