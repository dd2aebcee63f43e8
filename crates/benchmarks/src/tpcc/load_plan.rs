//! The work of a loader, given the current content of the database.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    sync::Arc,
};

use dataset::{KnownTable, Rows, TableData};
use protocol::Connection;

use super::{
    notes::{OWN_TABLES, parts, texts},
    population::Population,
    schema::{FOREIGN_KEYS, ForeignKey, INDEXES, Index},
    tables::Table,
};

/// When secondary indexes are created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// With the tables, so that every row is inserted into them.
    Before,
    /// After a table's rows are loaded: sorted, and in one operation.
    After,
    /// Never.
    None,
}

/// The intended content of the database.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    pub population: Population,
    /// Range of warehouses, from 1; the end is exclusive.
    pub warehouses: Range<u32>,
    pub tables: Vec<Table>,
    pub keys: Keys,
    pub foreign_keys: bool,
}

/// The largest tables first, so that the last connection does not load a large table alone.
const ORDER: [Table; 9] = [
    Table::Stock,
    Table::OrderLine,
    Table::Customer,
    Table::Item,
    Table::History,
    Table::Orders,
    Table::NewOrders,
    Table::District,
    Table::Warehouse,
];

/// Statements of a loading session: foreign keys need no check because the referenced rows are loaded, too, and the
/// rollback of an interrupted load may hold its locks for a while.
pub(super) const LOAD_SESSION: [&str; 2] = [
    "set foreign_key_checks = 0",
    "set innodb_lock_wait_timeout = 600",
];

impl LoadPlan {
    /// The tables to load, limited to the missing parts.
    pub fn tables(&self, found: &ExistingSchema) -> Vec<TableData> {
        let wanted = ORDER
            .into_iter()
            .filter(|table| self.tables.contains(table));
        wanted.map(|table| self.table(table, found)).collect()
    }

    fn table(&self, table: Table, found: &ExistingSchema) -> TableData {
        let is_there = found.tables.contains(table.name());
        let indexes: Vec<Index> = INDEXES
            .into_iter()
            .filter(|index| self.foreign_keys || !index.is_for_foreign_key)
            .filter(|index| !found.has_key(table, index.name))
            .collect();
        let mut create = Vec::new();
        if !is_there {
            create.push(table.create_sql());
            if self.keys == Keys::Before {
                create.extend(table.add_keys_sql(&indexes, &self.wanted_foreign_keys(found)));
            }
        }
        let finish = match self.keys {
            Keys::After => table.add_keys_sql(&indexes, &[]),
            Keys::Before | Keys::None => None,
        };
        let rows = self.population.rows(table, self.warehouses.clone());
        let loaded = found.loaded.get(&table).cloned().unwrap_or_default();
        TableData {
            name: table.name().to_owned(),
            columns: table.columns().collect::<Vec<_>>().join(", "),
            create,
            rows: Some(Arc::new(rows.going_on(loaded))),
            finish: finish.into_iter().collect(),
            is_divisible: true,
        }
    }

    /// Whether all rows of a table are recorded as loaded.
    pub fn is_loaded(&self, table: Table, noted: &[Range<u64>]) -> bool {
        let rows = self.population.rows(table, self.warehouses.clone());
        let rows = rows.going_on(noted.to_vec());
        let in_it: u64 = rows
            .loaded()
            .iter()
            .map(|units| units.end - units.start)
            .sum();
        in_it == rows.units()
    }

    /// Statements that add the missing foreign keys, after all rows and indexes are loaded.
    pub fn foreign_key_statements(&self, found: &ExistingSchema) -> Vec<String> {
        let keys = self.wanted_foreign_keys(found);
        let add = |table: Table| table.add_keys_sql(&[], &keys);
        Table::ALL.into_iter().filter_map(add).collect()
    }

    fn wanted_foreign_keys(&self, found: &ExistingSchema) -> Vec<ForeignKey> {
        let wanted = FOREIGN_KEYS.into_iter().filter(|_| self.foreign_keys);
        wanted
            .filter(|key| !found.has_foreign_key(key.name))
            .collect()
    }
}

/// The current content of the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExistingSchema {
    /// Names of existing tables, of those that TPC-C has.
    pub tables: BTreeSet<String>,
    /// Those of them that have rows.
    pub filled: BTreeSet<Table>,
    /// Names of indexes, each with the name of its table.
    indexes: BTreeSet<(String, String)>,
    foreign_keys: BTreeSet<String>,
    /// Rows recorded as loaded, by table.
    pub loaded: BTreeMap<Table, Vec<Range<u64>>>,
}

impl ExistingSchema {
    /// Reads the content of the current database.
    pub async fn read(connection: &mut Connection) -> Result<Self, protocol::Error> {
        let names = |table: &Table| format!("'{}'", table.name());
        let ours: Vec<String> = Table::ALL.iter().map(names).collect();
        let ours = ours.join(", ");
        let of_schema = format!("table_schema = database() and table_name in ({ours})");
        let tables = texts(
            connection,
            &format!("select table_name from information_schema.tables where {of_schema}"),
        )
        .await?;
        let indexes = texts(
            connection,
            &format!(
                "select distinct table_name, index_name from information_schema.statistics where {of_schema}"
            ),
        )
        .await?;
        let foreign_keys = texts(
            connection,
            &format!(
                "select constraint_name from information_schema.table_constraints \
                 where {of_schema} and constraint_type = 'FOREIGN KEY'"
            ),
        )
        .await?;
        let first = |row: Vec<String>| row.into_iter().next();
        let mut found = Self {
            tables: tables.into_iter().filter_map(first).collect(),
            indexes: indexes
                .into_iter()
                .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
                .collect(),
            foreign_keys: foreign_keys.into_iter().filter_map(first).collect(),
            ..Self::default()
        };
        for table in Table::ALL {
            if found.tables.contains(table.name()) {
                let sql = format!("select 1 from {} limit 1", table.name());
                if !texts(connection, &sql).await?.is_empty() {
                    found.filled.insert(table);
                }
                let loaded = parts(connection, table).await?;
                if !loaded.is_empty() {
                    found.loaded.insert(table, loaded);
                }
            }
        }
        Ok(found)
    }

    /// Tables with rows that are not recorded as loaded.
    pub fn unexplained(&self) -> impl Iterator<Item = Table> {
        let noted = |table: &Table| self.loaded.contains_key(table);
        self.filled
            .iter()
            .copied()
            .filter(move |table| !noted(table))
    }

    fn has_key(&self, table: Table, index: &str) -> bool {
        let key = (table.name().to_owned(), index.to_owned());
        self.indexes.contains(&key)
    }

    fn has_foreign_key(&self, name: &str) -> bool {
        self.foreign_keys.contains(name)
    }
}

/// All tables of TPC-C and dbdyno's own, as found in a database; tables that refer to others come first.
pub(super) fn known_tables() -> Vec<KnownTable> {
    let specified = Table::ALL.into_iter().rev();
    let specified = specified.map(|table| KnownTable::new(table.name(), table.columns()));
    let own = OWN_TABLES.map(|(name, columns)| KnownTable::new(name, columns.iter().copied()));
    specified.chain(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(keys: Keys, foreign_keys: bool) -> LoadPlan {
        LoadPlan {
            population: Population { seed: 1 },
            warehouses: 1..3,
            tables: Table::ALL.to_vec(),
            keys,
            foreign_keys,
        }
    }

    fn data(plan: &LoadPlan, found: &ExistingSchema, table: Table) -> TableData {
        let tables = plan.tables(found);
        tables
            .into_iter()
            .find(|data| data.name == table.name())
            .unwrap()
    }

    #[test]
    fn keys_come_when_they_are_wanted() {
        let nothing = ExistingSchema::default();
        let after = plan(Keys::After, true);
        let stock = data(&after, &nothing, Table::Stock);
        assert_eq!(stock.create.len(), 1);
        assert_eq!(
            stock.finish,
            ["alter table stock add index fkey_stock_2 (s_i_id)"]
        );
        // One for each table except warehouse and item.
        assert_eq!(after.foreign_key_statements(&nothing).len(), 7);

        let without = plan(Keys::After, false);
        assert!(data(&without, &nothing, Table::Stock).finish.is_empty());
        assert!(without.foreign_key_statements(&nothing).is_empty());

        let before = data(&plan(Keys::Before, true), &nothing, Table::Stock);
        assert!(before.create[1].contains("fkey_stock_2 (s_i_id), add constraint"));
        assert!(before.finish.is_empty());

        let none = data(&plan(Keys::None, false), &nothing, Table::Customer);
        assert_eq!((none.create.len(), none.finish.len()), (1, 0));
    }

    #[test]
    fn what_is_there_is_not_made_again() {
        let mut found = ExistingSchema {
            tables: BTreeSet::from(["stock".to_owned()]),
            filled: BTreeSet::from([Table::Stock]),
            indexes: BTreeSet::from([("stock".to_owned(), "fkey_stock_2".to_owned())]),
            foreign_keys: FOREIGN_KEYS.iter().map(|key| key.name.to_owned()).collect(),
            loaded: BTreeMap::new(),
        };
        assert_eq!(found.unexplained().collect::<Vec<_>>(), [Table::Stock]);
        // Warehouse 1 and a part of warehouse 2, of which only 100,050 to 100,100 are needed below.
        found
            .loaded
            .insert(Table::Stock, vec![0..100_050, 100_070..300_000]);
        assert_eq!(found.unexplained().count(), 0);
        let plan = plan(Keys::After, true);
        let stock = data(&plan, &found, Table::Stock);
        assert!(stock.create.is_empty() && stock.finish.is_empty());
        assert!(plan.foreign_key_statements(&found).is_empty());
        let rows = stock.rows.unwrap();
        assert_eq!(rows.loaded(), [0..100_050, 100_070..200_000]);
        assert_eq!(
            rows.mark(&(100_050..100_070)).unwrap(),
            "insert into dbdyno_tpcc_parts (table_name, first_unit, end_unit) values ('stock', 100050, 100070)"
        );
        assert!(!plan.is_loaded(Table::Stock, &found.loaded[&Table::Stock]));
        assert!(plan.is_loaded(Table::Stock, &[0..100_000, 100_000..300_000]));
        let second = LoadPlan {
            warehouses: 2..3,
            ..plan
        };
        let rows = data(&second, &found, Table::Stock).rows.unwrap();
        assert_eq!(rows.loaded(), [0..50, 70..100_000]);
        assert!(rows.mark(&(50..70)).unwrap().ends_with("100050, 100070)"));
    }

    #[test]
    fn known_tables_have_their_columns_and_those_that_refer_come_first() {
        let tables = known_tables();
        assert_eq!(tables.len(), 11);
        for table in &tables {
            for layout in &table.layouts {
                let columns: Vec<_> = layout.split(", ").map(str::to_owned).collect();
                assert!(table.has_layout(&columns), "{}", table.name);
            }
        }
        let names: Vec<_> = tables.into_iter().map(|table| table.name).collect();
        assert_eq!(names[0], "order_line");
        assert!(names.ends_with(&["dbdyno_tpcc".to_owned(), "dbdyno_tpcc_parts".to_owned()]));
    }
}
