//! From rules, columns and keys to tables whose rows can be made.

use std::sync::Arc;

use super::{
    column::{ColumnInfo, ForeignKey, TableInfo},
    error::GenerateError,
    law::Law,
    rows::{Cell, Column, Draw, Foreign, GeneratedTable, Parent, ParentKeys, hash_of},
    rule::{Rule, Values},
    table::{TableSpec, in_order},
    unique::{Need, Unit, needs},
};

/// The foreign keys of a table, those of its rules included.
fn foreign_keys(spec: &TableSpec, info: &TableInfo) -> Result<Vec<ForeignKey>, GenerateError> {
    let mut keys = info.foreign_keys.clone();
    for (at, key) in keys.iter().enumerate() {
        for column in &key.columns {
            let mut others = keys[..at].iter().flat_map(|key| &key.columns);
            if others.any(|other| other.eq_ignore_ascii_case(column)) {
                let problem = "it is in two foreign keys, and no value is drawn from both";
                return Err(GenerateError::column(&spec.name, column, problem));
            }
        }
    }
    for (column, rule) in &spec.columns {
        let Values::References {
            table,
            column: parent,
            ..
        } = &rule.values
        else {
            continue;
        };
        let holds =
            |key: &&ForeignKey| key.columns.iter().any(|it| it.eq_ignore_ascii_case(column));
        match keys.iter().find(holds) {
            None => keys.push(ForeignKey {
                columns: vec![column.clone()],
                table: table.clone(),
                parent_columns: vec![parent.clone()],
            }),
            Some(key) if key.table.eq_ignore_ascii_case(table) => {}
            Some(key) => {
                let problem = format!("its foreign key refers to {}, not to {table}", key.table);
                return Err(GenerateError::column(&spec.name, column, problem));
            }
        }
    }
    Ok(keys)
}

/// The keys of tables that are not generated, but that generated ones refer to: to be read from the server.
///
/// # Errors
/// As [`generate`].
pub fn needed_parents(
    specs: &[TableSpec],
    infos: &[TableInfo],
) -> Result<Vec<ParentKeys>, GenerateError> {
    let mut needed: Vec<ParentKeys> = Vec::new();
    for spec in specs {
        for key in foreign_keys(spec, info_of(infos, &spec.name)?)? {
            let is_generated = |spec: &TableSpec| spec.name.eq_ignore_ascii_case(&key.table);
            let wanted = ParentKeys {
                table: key.table.clone(),
                columns: key.parent_columns.clone(),
                rows: Vec::new(),
            };
            if !specs.iter().any(is_generated) && !needed.contains(&wanted) {
                needed.push(wanted);
            }
        }
    }
    Ok(needed)
}

fn info_of<'i>(infos: &'i [TableInfo], name: &str) -> Result<&'i TableInfo, GenerateError> {
    let found = infos
        .iter()
        .find(|info| info.name.eq_ignore_ascii_case(name));
    found.ok_or_else(|| GenerateError::table(name, "there is no such table"))
}

/// Rows for the tables, those first to which others refer; `notes` gets what is not quite as the rules say.
///
/// # Errors
/// [`GenerateError`]: a column without a rule whose type has no default, keys that cannot hold, a cycle.
pub fn generate(
    specs: &[TableSpec],
    infos: &[TableInfo],
    parents: &[ParentKeys],
    seed: u64,
    notes: &mut Vec<String>,
) -> Result<Vec<Arc<GeneratedTable>>, GenerateError> {
    let mut keys = Vec::new();
    for spec in specs {
        keys.push((spec, foreign_keys(spec, info_of(infos, &spec.name)?)?));
    }
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let refers = |name: &str| -> Vec<String> {
        let own = keys.iter().find(|(spec, _)| spec.name == name);
        let tables = own.into_iter().flat_map(|(_, keys)| keys).map(|key| {
            let mut names = names.iter();
            names.find(|name| name.eq_ignore_ascii_case(&key.table))
        });
        tables.flatten().map(|name| (*name).to_owned()).collect()
    };
    let mut made: Vec<Arc<GeneratedTable>> = Vec::new();
    for name in in_order(&names, &refers)? {
        let (spec, foreign) = keys
            .iter()
            .find(|(spec, _)| spec.name == name)
            .expect("named above");
        let mut maker = Maker {
            spec,
            info: info_of(infos, name)?,
            keys: foreign,
            made: &made,
            parents,
            seed,
            notes,
        };
        let table = maker.table()?;
        made.push(Arc::new(table));
    }
    Ok(made)
}

/// Resolves one table.
struct Maker<'m> {
    spec: &'m TableSpec,
    info: &'m TableInfo,
    keys: &'m [ForeignKey],
    made: &'m [Arc<GeneratedTable>],
    parents: &'m [ParentKeys],
    seed: u64,
    notes: &'m mut Vec<String>,
}

impl Maker<'_> {
    fn table(&mut self) -> Result<GeneratedTable, GenerateError> {
        let (spec, info) = (self.spec, self.info);
        if let Some((column, _)) = spec
            .columns
            .iter()
            .find(|(it, _)| info.position(it).is_none())
        {
            return Err(self.wrong(column, "the table has no such column"));
        }
        let needs = needs(spec, info, self.keys)?;
        // A partner's groups decide what is enumerated in them.
        let spread = needs.iter().find(|(_, need)| **need == Need::Spread);
        let groups = match spread {
            Some((Unit::Foreign(at), _)) => self.parent(&self.keys[*at])?.1.min(spec.rows),
            Some((Unit::Column(_), _)) => ((spec.rows as f64).sqrt().ceil() as u64).max(1),
            None => 1,
        };
        let mut foreign = Vec::new();
        for (at, key) in self.keys.iter().enumerate() {
            foreign.push(self.foreign(key, needs.get(&Unit::Foreign(at)).copied(), groups)?);
        }
        let mut columns = Vec::new();
        for (at, column) in info.columns.iter().enumerate() {
            if column.is_generated {
                if spec.rule(&column.name).is_some() {
                    return Err(
                        self.wrong(&column.name, "the server computes it: leave its rule out")
                    );
                }
                continue;
            }
            let need = needs.get(&Unit::Column(at)).copied();
            columns.push(self.column(column, need, groups)?);
        }
        let is_ascii = |column: &Column| match &column.cell {
            Cell::Drawn(values) | Cell::Distinct { values, .. } => match values {
                Values::Constant(text) => text.is_ascii(),
                Values::OneOf(choices) => choices.iter().all(|(choice, _)| choice.is_ascii()),
                Values::Json => false,
                _ => true,
            },
            Cell::Foreign { foreign: at, .. } => match &foreign[*at].parent {
                Parent::Generated(parent) => !parent.is_utf8,
                Parent::Known(keys) => {
                    let mut values = keys.rows.iter().flatten().flatten();
                    values.all(|value| value.is_ascii())
                }
                Parent::Own => true,
            },
            Cell::Spread { .. } | Cell::Enumerated { .. } => true,
        };
        Ok(GeneratedTable {
            name: info.name.clone(),
            rows: spec.rows,
            is_utf8: !columns.iter().all(is_ascii),
            columns,
            foreign,
            has_auto_increment: info.columns.iter().any(|column| column.is_auto_increment),
        })
    }

    fn wrong(&self, column: &str, problem: impl Into<String>) -> GenerateError {
        GenerateError::column(&self.spec.name, column, problem)
    }

    fn column(
        &self,
        column: &ColumnInfo,
        need: Option<Need>,
        groups: u64,
    ) -> Result<Column, GenerateError> {
        let name = &column.name;
        let rule = self.spec.rule(name);
        let null_share = rule.map_or(0.0, |rule| rule.null_share);
        if null_share > 0.0 && !column.is_nullable {
            return Err(self.wrong(name, "it is NOT NULL, and its rule has `null`"));
        }
        let made = |cell| {
            Ok(Column {
                name: name.clone(),
                cell,
                null_share,
                seed: hash_of(self.seed, &[&self.spec.name, name]),
            })
        };
        for (foreign, key) in self.keys.iter().enumerate() {
            let mut columns = key.columns.iter();
            if let Some(at) = columns.position(|it| it.eq_ignore_ascii_case(name)) {
                let column = self.parent_column(key, &key.parent_columns[at], name)?;
                return made(Cell::Foreign { foreign, column });
            }
        }
        let is_key = need == Some(Need::Distinct);
        let values = match rule {
            Some(rule) => rule.values.clone(),
            None if column.is_auto_increment => Values::Sequence { first: 1 },
            None => match need {
                Some(Need::Spread) => return made(Cell::Spread { groups }),
                Some(Need::Enumerated) => return made(Cell::Enumerated { groups }),
                _ => match column.values() {
                    Some(Values::Numbers { scale: 0, .. }) if is_key => {
                        Values::Sequence { first: 1 }
                    }
                    Some(values) => values,
                    None if column.is_nullable => {
                        return Ok(Column {
                            null_share: 1.0,
                            ..made(Cell::Drawn(Values::Json))?
                        });
                    }
                    None => {
                        let problem = format!("its type {} needs a rule", column.column_type);
                        return Err(self.wrong(name, problem));
                    }
                },
            },
        };
        if !is_key || self.spec.rows <= 1 {
            return made(Cell::Drawn(values));
        }
        let rows = self.spec.rows;
        let count = match &values {
            Values::Sequence { .. } | Values::Uuid => return made(Cell::Drawn(values)),
            Values::Numbers {
                first, last, law, ..
            }
            | Values::Moments {
                first, last, law, ..
            } => {
                if *law != Law::Uniform {
                    return Err(
                        self.wrong(name, "it is unique, and its rule repeats some values often")
                    );
                }
                let is_date = matches!(
                    values,
                    Values::Moments {
                        with_time: false,
                        ..
                    }
                );
                (last - first) as u64 / if is_date { 86_400 } else { 1 } + 1
            }
            Values::OneOf(choices) => choices.len() as u64,
            Values::Text { max, .. } => 36_u64.saturating_pow((*max).min(12) as u32),
            Values::Bits(bits) => 1 << (bits - bits / 8).min(56),
            Values::TimeOfDay => 86_400,
            Values::Json => u64::MAX >> 1,
            Values::Constant(_) | Values::References { .. } => 1,
        };
        if count < rows {
            let problem = format!("it is unique, and has {count} different values for {rows} rows");
            return Err(self.wrong(name, problem));
        }
        // Texts are numbered; other values are drawn from the whole range.
        let count = if matches!(values, Values::Text { .. }) {
            rows
        } else {
            count
        };
        made(Cell::Distinct { values, count })
    }

    /// The table that a key refers to, and its number of rows.
    fn parent(&self, key: &ForeignKey) -> Result<(Parent, u64), GenerateError> {
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
                    "it refers to {}, which has no rows: generate them, too",
                    key.table
                );
                Err(self.wrong(&key.columns[0], problem))
            }
        }
    }

    fn foreign(
        &mut self,
        key: &ForeignKey,
        need: Option<Need>,
        groups: u64,
    ) -> Result<Foreign, GenerateError> {
        let (parent, parent_rows) = self.parent(key)?;
        let (name, rows) = (&key.columns[0], self.spec.rows);
        let ruled = key.columns.iter().find_map(|column| self.spec.rule(column));
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
                if !ruled.is_none_or(is_even) {
                    return Err(
                        self.wrong(name, "it is unique, and its rule repeats some values often")
                    );
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
            (_, Some(rule)) => self.ruled(key, rule, &parent, parent_rows)?,
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

    /// The draw of a foreign key whose column has a rule.
    fn ruled(
        &mut self,
        key: &ForeignKey,
        rule: &Rule,
        parent: &Parent,
        parent_rows: u64,
    ) -> Result<Draw, GenerateError> {
        let name = &key.columns[0];
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
                    Parent::Generated(table) => table.sequence(&key.parent_columns[0]),
                    Parent::Known(_) | Parent::Own => None,
                };
                let advice = format!(
                    "write \"references {}.{} zipf 1.1\"",
                    key.table, key.parent_columns[0]
                );
                let Some(begin) = begins_at else {
                    let problem = format!("the keys of {} are no sequence: {advice}", key.table);
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
                    "it is a foreign key: its rule can be a range of whole numbers with a distribution, or \"references {}.{}\"",
                    key.table, key.parent_columns[0]
                );
                Err(self.wrong(name, problem))
            }
        }
    }

    /// The position of a key's column in its parent.
    fn parent_column(
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
