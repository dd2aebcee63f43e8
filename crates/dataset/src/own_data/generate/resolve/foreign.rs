//! The foreign keys of a generated table: their parents, and how rows of these are drawn.

use std::sync::Arc;

use super::Maker;
use crate::own_data::generate::{
    column::ForeignKey,
    error::GenerateError,
    law::Law,
    rows::{Draw, Foreign, Parent, hash_of},
    rule::{Rule, Values},
    unique::Need,
};

impl<'m> Maker<'m> {
    /// The table that a key refers to, and its number of rows.
    pub(super) fn parent(&self, key: &ForeignKey) -> Result<(Parent, u64), GenerateError> {
        if key.table.eq_ignore_ascii_case(&self.spec.name) {
            return Ok((Parent::Own, self.spec.rows));
        }
        let mut made = self.made.iter();
        if let Some(table) = made.find(|table| table.name.eq_ignore_ascii_case(&key.table)) {
            return Ok((Parent::Generated(Arc::clone(table)), table.rows));
        }
        let mut known = self.parents.iter();
        let known =
            known.find(|keys| keys.table == key.table && keys.columns == key.parent_columns);
        match known {
            Some(keys) if !keys.rows.is_empty() => {
                Ok((Parent::Known(keys.clone()), keys.rows.len() as u64))
            }
            _ => {
                let problem = format!(
                    "it refers to {}, which has no rows: generate them as well",
                    key.table
                );
                Err(self.wrong(&key.columns[0], problem))
            }
        }
    }

    pub(super) fn foreign(
        &mut self,
        key: &ForeignKey,
        need: Option<Need>,
        groups: u64,
    ) -> Result<Foreign, GenerateError> {
        let (parent, parent_rows) = self.parent(key)?;
        let ruled = self.rule_of_key(key)?;
        let name = &key.columns[ruled.map_or(0, |(at, _)| at)];
        let rows = self.spec.rows;
        let is_own = matches!(parent, Parent::Own);
        let draw = match (need, ruled) {
            (Some(Need::Distinct), _) if is_own => {
                return Err(self.wrong(name, "it is unique and refers to its own table"));
            }
            (Some(need), None) if is_own => {
                let problem =
                    format!("it refers to its own table and is part of a unique key ({need:?})");
                return Err(self.wrong(name, problem));
            }
            (_, None) if is_own => Draw::Earlier {
                first_is_null: key.columns.iter().all(|column| {
                    let at = self.info.position(column);
                    at.is_some_and(|at| self.info.columns[at].is_nullable)
                }),
            },
            (Some(Need::Distinct), ruled) => {
                let is_even = |rule: &Rule| match rule.values {
                    Values::References { law, .. } | Values::Numbers { law, .. } => {
                        law == Law::Uniform
                    }
                    _ => false,
                };
                if !ruled.is_none_or(|(_, rule)| is_even(rule)) {
                    return Err(
                        self.wrong(name, "it is unique, and its rule repeats some values often")
                    );
                }
                if parent_rows < rows && matches!(&parent, Parent::Known(keys) if keys.is_sample) {
                    let problem = format!(
                        "it is unique, and only {parent_rows} keys of {} are read for {rows} rows: generate that \
                         table as well",
                        key.table
                    );
                    return Err(self.wrong(name, problem));
                }
                if parent_rows < rows {
                    let problem = format!(
                        "it is unique, and {} has {parent_rows} rows for {rows}",
                        key.table
                    );
                    return Err(self.wrong(name, problem));
                }
                Draw::Distinct
            }
            (Some(Need::Spread), None) => Draw::Spread { groups },
            (Some(Need::Enumerated), None) => {
                if rows.div_ceil(groups) > parent_rows {
                    let problem = format!(
                        "{rows} rows cannot have a unique key over {groups} values and the {parent_rows} rows of {}",
                        key.table
                    );
                    return Err(self.wrong(name, problem));
                }
                Draw::Enumerated { groups }
            }
            (_, Some((at, rule))) => self.ruled(key, (at, rule), &parent, parent_rows)?,
            (None, None) => Draw::Law {
                law: Law::Uniform,
                first: 0,
                count: parent_rows,
            },
        };
        Ok(Foreign {
            parent,
            parent_rows,
            draw,
            seed: hash_of(self.seed, &[&self.spec.name, "=>", name]),
        })
    }

    /// The rule of a foreign key, with the position of its column; an error where two columns have different rules, as one
    /// row of the parent gives all their values.
    fn rule_of_key(&self, key: &ForeignKey) -> Result<Option<(usize, &'m Rule)>, GenerateError> {
        let spec = self.spec;
        let columns = key.columns.iter().enumerate();
        let mut rules = columns.filter_map(|(at, column)| Some((at, spec.rule(column)?)));
        let Some((first, rule)) = rules.next() else {
            return Ok(None);
        };
        let law = |rule: &Rule| match &rule.values {
            Values::References { law, .. } => Some(*law),
            _ => None,
        };
        let is_same = |other: &Rule| law(rule).is_some() && law(other) == law(rule);
        match rules.find(|(_, other)| !is_same(other)) {
            None => Ok(Some((first, rule))),
            Some((at, _)) => {
                let problem = format!(
                    "its rule differs from that of {}, which is in the same foreign key",
                    key.columns[first]
                );
                Err(self.wrong(&key.columns[at], problem))
            }
        }
    }

    /// The draw of a foreign key whose column at this position has a rule.
    fn ruled(
        &mut self,
        key: &ForeignKey,
        (at, rule): (usize, &Rule),
        parent: &Parent,
        parent_rows: u64,
    ) -> Result<Draw, GenerateError> {
        let (name, parent_column) = (&key.columns[at], &key.parent_columns[at]);
        let of_all = |law| Draw::Law {
            law,
            first: 0,
            count: parent_rows,
        };
        match &rule.values {
            Values::References { law, .. } => Ok(of_all(*law)),
            Values::Numbers {
                first,
                last,
                scale: 0,
                law,
            } => {
                let begins_at = match parent {
                    Parent::Generated(table) => table.sequence(parent_column),
                    Parent::Known(_) | Parent::Own => None,
                };
                let advice = format!(
                    "write \"references {}.{parent_column} zipf 1.1\"",
                    key.table
                );
                let Some(begin) = begins_at else {
                    let problem = format!("the keys of {} are not a sequence: {advice}", key.table);
                    return Err(self.wrong(name, problem));
                };
                let end = begin.saturating_add_unsigned(parent_rows - 1);
                if *first < begin || *first > end {
                    let problem = format!(
                        "{first} is not among the keys of {}, {begin}..{end}",
                        key.table
                    );
                    return Err(self.wrong(name, problem));
                }
                if *last > end {
                    self.notes.push(format!(
                        "generate: {}.{name}: {first}..{last} ends at {end}, the last key of {}",
                        self.spec.name, key.table
                    ));
                }
                Ok(Draw::Law {
                    law: *law,
                    first: first.abs_diff(begin),
                    count: last.min(&end).abs_diff(*first) + 1,
                })
            }
            _ => {
                let problem = format!(
                    "it is a foreign key: its rule can be a range of whole numbers with a distribution, or \"references {}.{parent_column}\"",
                    key.table
                );
                Err(self.wrong(name, problem))
            }
        }
    }

    /// The position of a key's column in its parent.
    pub(super) fn parent_column(
        &self,
        key: &ForeignKey,
        parent_column: &str,
        name: &str,
    ) -> Result<usize, GenerateError> {
        let position = match self.parent(key)?.0 {
            Parent::Generated(table) => table.position(parent_column),
            Parent::Known(keys) => keys.columns.iter().position(|it| it == parent_column),
            Parent::Own => {
                if parent_column.eq_ignore_ascii_case(name) {
                    return Err(self.wrong(name, "it refers to itself"));
                }
                let written = self
                    .info
                    .columns
                    .iter()
                    .filter(|column| !column.is_generated);
                let mut written = written.map(|column| &column.name);
                written.position(|column| column.eq_ignore_ascii_case(parent_column))
            }
        };
        let problem = || format!("{} has no column {parent_column} with a value", key.table);
        position.ok_or_else(|| self.wrong(name, problem()))
    }
}
