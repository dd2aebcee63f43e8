//! The plan of a load: the keys, when they are created, and the order of the tables.

use std::str::FromStr;
use std::sync::Arc;

use super::rows::TableRows;
use super::scale_factor::ScaleFactor;
use super::table::{ForeignKey, Table};
use crate::table_data::TableData;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keys {
    /// Primary keys only.
    Primary,
    /// Primary keys, and an index on the columns of each foreign key.
    Secondary,
    /// Primary keys, indexes and the foreign keys themselves.
    Foreign,
}

/// When the indexes and foreign keys are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyTime {
    /// With the table: each row is inserted into each index.
    Before,
    /// After all rows are loaded.
    After,
}

/// Tables that can be filled at the same time.
pub struct Stage {
    pub tables: Vec<TableData>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadPlan {
    pub scale_factor: ScaleFactor,
    pub keys: Keys,
    pub key_time: KeyTime,
    /// Whether the server checks unique and foreign keys for every row, as it does by default. The rows are known to be
    /// valid.
    pub checks: bool,
}

impl Keys {
    /// Its name, as the user types it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Secondary => "secondary",
            Self::Foreign => "foreign",
        }
    }
}

impl FromStr for Keys {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        [Self::Primary, Self::Secondary, Self::Foreign]
            .into_iter()
            .find(|keys| keys.name() == text)
            .ok_or("primary, secondary or foreign")
    }
}

impl LoadPlan {
    /// Session settings for each loading connection; they have no effect beyond the session.
    pub fn session(&self) -> Vec<String> {
        if self.checks {
            Vec::new()
        } else {
            vec![
                "set unique_checks = 0".to_owned(),
                "set foreign_key_checks = 0".to_owned(),
            ]
        }
    }

    /// The tables in the order in which they must be loaded, one of them without its rows if `left_empty` names it. All
    /// tables are in one stage, unless foreign keys are checked.
    pub fn stages(&self, left_empty: Option<Table>) -> Vec<Stage> {
        let in_order = [
            &[Table::Region][..],
            &[Table::Nation],
            &[Table::Part, Table::Customer, Table::Supplier],
            &[Table::Orders, Table::PartSupp],
            &[Table::LineItem],
        ];
        let stage = |tables: &[Table]| Stage {
            tables: tables
                .iter()
                .map(|table| {
                    if Some(*table) == left_empty {
                        self.empty_table(*table)
                    } else {
                        self.table(*table)
                    }
                })
                .collect(),
        };
        let are_checked = self.checks && self.has(Keys::Foreign, KeyTime::Before);
        if are_checked {
            in_order.into_iter().map(stage).collect()
        } else {
            vec![stage(&Table::ALL)]
        }
    }

    /// One table with its rows.
    pub fn table(&self, table: Table) -> TableData {
        TableData {
            name: table.name().to_owned(),
            columns: table.column_list(),
            create: vec![self.create(table)],
            rows: Some(Arc::new(TableRows::new(table, self.scale_factor))),
            finish: self.indexes(table, KeyTime::After).into_iter().collect(),
            is_divisible: true,
        }
    }

    /// `CREATE TABLE`. The rows are ASCII and are compared bytewise, independent of the server's character set.
    pub fn create(&self, table: Table) -> String {
        let columns = table.columns().iter();
        let mut parts: Vec<String> = columns
            .map(|(name, kind)| format!("{name} {kind} not null"))
            .collect();
        parts.push(format!("primary key ({})", table.primary_key()));
        let foreign_keys = table.foreign_keys().iter();
        if self.has(Keys::Secondary, KeyTime::Before) {
            parts.extend(foreign_keys.clone().map(index));
        }
        if self.has(Keys::Foreign, KeyTime::Before) {
            parts.extend(foreign_keys.map(constraint));
        }
        format!(
            "create table {} ({}) engine = InnoDB character set latin1 collate latin1_bin",
            table.name(),
            parts.join(", ")
        )
    }

    /// Statements that add the foreign keys after all tables have their rows and indexes, except those of the empty
    /// table; to be sent with foreign_key_checks off, because otherwise each would copy its table.
    pub fn foreign_keys(&self, left_empty: Option<Table>) -> Vec<String> {
        if !self.has(Keys::Foreign, KeyTime::After) {
            return Vec::new();
        }
        let filled = Table::ALL
            .into_iter()
            .filter(|table| Some(*table) != left_empty);
        filled.filter_map(add_foreign_keys).collect()
    }

    /// The statements that create the keys of one table after its rows are loaded; empty if it has them from the start.
    pub fn keys_after(&self, table: Table) -> Vec<String> {
        let foreign_keys = if self.has(Keys::Foreign, KeyTime::After) {
            add_foreign_keys(table)
        } else {
            None
        };
        self.indexes(table, KeyTime::After)
            .into_iter()
            .chain(foreign_keys)
            .collect()
    }

    /// One table without rows, with the keys that exist before its rows are loaded.
    fn empty_table(&self, table: Table) -> TableData {
        TableData {
            rows: None,
            finish: Vec::new(),
            ..self.table(table)
        }
    }

    /// The statement that adds all indexes of a table that are due at that time.
    fn indexes(&self, table: Table, time: KeyTime) -> Option<String> {
        let keys = table.foreign_keys();
        if !self.has(Keys::Secondary, time) || keys.is_empty() {
            return None;
        }
        let added: Vec<String> = keys
            .iter()
            .map(|key| format!("add {}", index(key)))
            .collect();
        Some(format!("alter table {} {}", table.name(), added.join(", ")))
    }

    /// Whether these keys are created at that time.
    fn has(&self, keys: Keys, time: KeyTime) -> bool {
        self.keys >= keys && self.key_time == time
    }
}

fn add_foreign_keys(table: Table) -> Option<String> {
    let keys = table.foreign_keys().iter();
    let added: Vec<String> = keys.map(|key| format!("add {}", constraint(key))).collect();
    (!added.is_empty()).then(|| format!("alter table {} {}", table.name(), added.join(", ")))
}

fn index(key: &ForeignKey) -> String {
    format!("index {} ({})", key.name, key.columns)
}

fn constraint(key: &ForeignKey) -> String {
    format!(
        "constraint {} foreign key ({}) references {} ({})",
        key.name,
        key.columns,
        key.to.name(),
        key.to.primary_key()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(keys: Keys, key_time: KeyTime, checks: bool) -> LoadPlan {
        LoadPlan {
            scale_factor: "0.01".parse().unwrap(),
            keys,
            key_time,
            checks,
        }
    }

    #[test]
    fn keys_are_made_when_asked_for() {
        use KeyTime::{After, Before};
        for (keys, time, index_at_create, index_after, key_at_create, keys_after) in [
            (Keys::Primary, Before, false, false, false, 0),
            (Keys::Primary, After, false, false, false, 0),
            (Keys::Secondary, Before, true, false, false, 0),
            (Keys::Secondary, After, false, true, false, 0),
            (Keys::Foreign, Before, true, false, true, 0),
            (Keys::Foreign, After, false, true, false, 6),
        ] {
            let plan = plan(keys, time, false);
            let table = plan.table(Table::LineItem);
            let create = &table.create[0];
            let found = (
                create.contains("index lineitem_order (l_orderkey)"),
                !table.finish.is_empty(),
                create.contains("references orders (o_orderkey)"),
                plan.foreign_keys(None).len(),
            );
            let wanted = (index_at_create, index_after, key_at_create, keys_after);
            assert_eq!(found, wanted, "{keys:?} {time:?}");
        }
    }

    #[test]
    fn checked_foreign_keys_need_their_tables_first() {
        let stages = |keys, time, checks| plan(keys, time, checks).stages(None).len();
        assert_eq!(stages(Keys::Foreign, KeyTime::Before, true), 5);
        assert_eq!(stages(Keys::Foreign, KeyTime::Before, false), 1);
        assert_eq!(stages(Keys::Foreign, KeyTime::After, true), 1);
        let plan = plan(Keys::Foreign, KeyTime::Before, true);
        let mut there: Vec<String> = Vec::new();
        for stage in plan.stages(None) {
            for table in &stage.tables {
                let keys = Table::named(&table.name).unwrap().foreign_keys();
                assert!(
                    keys.iter()
                        .all(|key| there.iter().any(|name| name == key.to.name()))
                );
            }
            there.extend(stage.tables.into_iter().map(|table| table.name));
        }
        assert_eq!(there.len(), Table::ALL.len());
        let left_empty = plan.stages(Some(Table::LineItem)).pop().unwrap();
        assert!(left_empty.tables[0].rows.is_none() && left_empty.tables[0].finish.is_empty());
    }
}
