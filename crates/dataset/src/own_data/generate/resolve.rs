//! From rules, columns and keys to tables whose rows can be made.

mod foreign;

use std::sync::Arc;

use super::{
    column::{ColumnInfo, ForeignKey, TableInfo},
    error::GenerateError,
    law::Law,
    rows::{Cell, Column, GeneratedTable, Parent, ParentKeys, hash_of},
    rule::Values,
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
                let problem = "it is in two foreign keys, and a value cannot be drawn from both";
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
                is_sample: false,
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
}
