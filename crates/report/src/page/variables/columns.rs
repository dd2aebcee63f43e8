//! The columns for servers: which servers' variables share a column.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use samples::{Record, ServerIdentity, is_of_the_instance};

use super::values::{catalogue, is_same, short, size_in_words, values_in_words};
use crate::results::Results;

/// Servers whose variables share one column.
pub(super) struct Column<'a> {
    pub(super) name: String,
    servers: Vec<&'a ServerIdentity>,
}

impl<'a> Column<'a> {
    /// The values of a variable; with the default if that differs and is requested.
    pub(super) fn value(&self, name: &str, with_default: bool) -> Markup {
        let mut values: BTreeMap<&str, usize> = BTreeMap::new();
        for server in &self.servers {
            if let Some(value) = server.variables.get(name) {
                *values.entry(value).or_default() += 1;
            }
        }
        let default = self.servers.first().and_then(|server| {
            let default = catalogue(&server.version).default_value(name)?;
            let is_other = values.keys().any(|value| !is_same(value, default));
            (with_default && is_other).then_some(default)
        });
        html! {
            @if values.is_empty() { "–" } @else { (values_in_words(&values)) (size_in_words(values.keys())) }
            @if let Some(default) = default { br; small { "default " (short(default)) } }
        }
    }

    /// Whether its servers have the same settings, apart from variables that change at every start.
    fn is_alike(&self) -> bool {
        self.servers
            .windows(2)
            .all(|pair| has_same_settings(pair[0], pair[1]))
    }
}

fn has_same_settings(a: &ServerIdentity, b: &ServerIdentity) -> bool {
    let [a, b] = [a, b].map(|server| {
        let variables = server.variables.iter();
        variables.filter(|(name, _)| !is_of_the_instance(name))
    });
    a.eq(b)
}

/// A column for each level of the factor that determines the settings, else for each version, else one for all.
pub(super) fn columns(results: &Results) -> Vec<Column<'_>> {
    let servers: Vec<(&Record, &ServerIdentity)> = results
        .runs
        .iter()
        .filter_map(|run| Some((run, run.servers.first()?)))
        .collect();
    let all = || Column {
        name: "value".to_owned(),
        servers: servers.iter().map(|(_, server)| *server).collect(),
    };
    if all().is_alike() {
        return vec![all()];
    }
    for factor in &results.factors {
        let of_level = |level: &String| {
            let has_level = |run: &Record| run.header.combination.get(&factor.name) == Some(level);
            let own = servers.iter().filter(|(run, _)| has_level(run));
            Column {
                name: format!("{} {level}", factor.name),
                servers: own.map(|(_, server)| *server).collect(),
            }
        };
        let columns = factor.levels.iter().map(of_level);
        let columns: Vec<Column> = columns.filter(|it| !it.servers.is_empty()).collect();
        if columns.len() > 1 && columns.iter().all(Column::is_alike) {
            return columns;
        }
    }
    let versions: BTreeSet<&str> = servers.iter().map(|(_, it)| it.version.as_str()).collect();
    if versions.len() < 2 {
        return vec![all()];
    }
    let of_version = |version: &str| Column {
        name: version.to_owned(),
        servers: (servers.iter().map(|(_, server)| *server))
            .filter(|server| server.version == version)
            .collect(),
    };
    versions.into_iter().map(of_version).collect()
}
