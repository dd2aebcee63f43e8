//! How the rows of a table get different values in its unique keys.

use std::collections::BTreeMap;

use super::{
    column::{ForeignKey, TableInfo},
    error::GenerateError,
    rule::Values,
    table::TableSpec,
};

/// What is drawn together: the columns of a foreign key, or one other column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Unit {
    /// By its position among the foreign keys.
    Foreign(usize),
    /// By its position among the columns.
    Column(usize),
}

/// What a unique key needs of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// No value twice.
    Distinct,
    /// The rows are divided into groups of neighbours, each with a value of its own.
    Spread,
    /// No value twice within a group.
    Enumerated,
}

/// The needs of all units of a table; those that are not in it are free.
///
/// # Errors
/// Two keys that need different things of one unit.
pub(super) fn needs(
    spec: &TableSpec,
    info: &TableInfo,
    foreign: &[ForeignKey],
) -> Result<BTreeMap<Unit, Need>, GenerateError> {
    let unit_of = |column: &str| {
        let holds = |key: &ForeignKey| has(&key.columns, column);
        match foreign.iter().position(holds) {
            Some(at) => Some(Unit::Foreign(at)),
            None => info.position(column).map(Unit::Column),
        }
    };
    let has_rule = |unit: &Unit| match unit {
        Unit::Foreign(at) => {
            let mut columns = foreign[*at].columns.iter();
            columns.any(|column| spec.rule(column).is_some())
        }
        Unit::Column(at) => spec.rule(&info.columns[*at].name).is_some(),
    };
    let is_distinct_by_rule = |column: &String| {
        let rule = spec.rule(column).map(|rule| &rule.values);
        matches!(rule, Some(Values::Sequence { .. } | Values::Uuid))
    };
    let can_count = |unit: &Unit| match unit {
        Unit::Foreign(_) => true,
        Unit::Column(at) => is_whole_number(&info.columns[*at].data_type),
    };
    let mut needs: BTreeMap<Unit, Need> = BTreeMap::new();
    for key in &info.unique_keys {
        let is_generated = |column: &String| {
            let at = info.position(column);
            at.is_none_or(|at| info.columns[at].is_generated)
        };
        if key.columns.iter().any(is_generated) || key.columns.iter().any(is_distinct_by_rule) {
            continue;
        }
        let mut units: Vec<Unit> = key.columns.iter().filter_map(|it| unit_of(it)).collect();
        units.dedup();
        if units
            .iter()
            .any(|unit| needs.get(unit) == Some(&Need::Distinct))
        {
            continue;
        }
        let free: Vec<Unit> = units.iter().copied().filter(|it| !has_rule(it)).collect();
        let wanted = match (&units[..], &free[..]) {
            ([only], _) => vec![(*only, Need::Distinct)],
            // Rules for all its columns: their combinations are the user's.
            (_, []) => continue,
            (_, [only]) => vec![(*only, Need::Distinct)],
            (_, [first, second, ..]) if can_count(first) && can_count(second) => {
                vec![(*first, Need::Spread), (*second, Need::Enumerated)]
            }
            (_, [first, ..]) => {
                let mut columns = free.iter().copied();
                let plain = columns.find(|unit| matches!(unit, Unit::Column(_)));
                vec![(plain.unwrap_or(*first), Need::Distinct)]
            }
        };
        for (unit, need) in wanted {
            if needs
                .insert(unit, need)
                .is_some_and(|before| before != need)
            {
                let problem = format!(
                    "the columns of its unique key {} are in other unique keys, too: give one of them the rule `sequence`",
                    key.name
                );
                return Err(GenerateError::table(&spec.name, problem));
            }
        }
    }
    Ok(needs)
}

fn has(columns: &[String], name: &str) -> bool {
    columns
        .iter()
        .any(|column| column.eq_ignore_ascii_case(name))
}

fn is_whole_number(data_type: &str) -> bool {
    ["tinyint", "smallint", "mediumint", "int", "bigint"].contains(&data_type)
}
