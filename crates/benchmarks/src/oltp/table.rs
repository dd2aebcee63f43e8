//! sysbench's tables and their rows.

use std::sync::Arc;

use dataset::{KnownTable, Rows, TableData};
use rand_xoshiro::{
    SplitMix64, Xoshiro256PlusPlus,
    rand_core::{Rng, SeedableRng},
};

use super::{
    distribution::Distribution,
    row_text::{self, C, PAD},
    script::Script,
    settings::Settings,
};

/// The tables of a workload, as its `prepare` creates them.
///
/// bulk_insert has an empty table for each connection; insert with its own ids starts with empty tables.
pub(super) fn tables(script: Script, settings: &Settings) -> Vec<TableData> {
    let count = match script {
        Script::BulkInsert => settings.connections,
        _ => settings.tables,
    };
    (1..=count)
        .map(|table| table_data(script, settings, table))
        .collect()
}

/// A table as `prepare` leaves it.
#[derive(Debug, Clone)]
pub(super) struct ExpectedTable {
    /// Its name and its columns.
    pub known: KnownTable,
    /// Rows, with ids from 1.
    pub rows: u64,
    /// Its id is its primary key.
    pub has_primary_key: bool,
    /// Its column k has an index.
    pub has_index: bool,
}

/// The tables of a workload as its `prepare` leaves them.
pub(super) fn expected_tables(script: Script, settings: &Settings) -> Vec<ExpectedTable> {
    let columns: &[&str] = match script {
        Script::BulkInsert => &["id", "k"],
        _ => &["id", "k", "c", "pad"],
    };
    let expected = tables(script, settings).into_iter();
    expected
        .map(|table| ExpectedTable {
            known: KnownTable::new(&table.name, columns.iter().copied()),
            rows: table.rows.as_ref().map_or(0, |rows| rows.units()),
            has_primary_key: script == Script::BulkInsert || !settings.secondary,
            has_index: !table.finish.is_empty(),
        })
        .collect()
}

fn table_data(script: Script, settings: &Settings, table: u32) -> TableData {
    let is_filled = match script {
        Script::BulkInsert => false,
        Script::Insert => settings.auto_inc,
        _ => true,
    };
    let rows = is_filled.then(|| Arc::new(SbtestRows::new(settings, table)) as Arc<dyn Rows>);
    let index = format!("CREATE INDEX k_{table} ON sbtest{table}(k)");
    let has_index = settings.create_secondary && script != Script::BulkInsert;
    TableData {
        name: format!("sbtest{table}"),
        columns: "id, k, c, pad".to_owned(),
        create: vec![create_statement(script, settings, table)],
        rows,
        finish: has_index.then_some(index).into_iter().collect(),
        is_divisible: !settings.auto_inc,
    }
}

/// The statement that creates the table with this number (from 1).
pub(super) fn create_statement(script: Script, settings: &Settings, table: u32) -> String {
    let engine = match settings.engine.as_str() {
        "" => String::new(),
        engine => format!(" ENGINE = {engine}"),
    };
    let columns = if script == Script::BulkInsert {
        "id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, PRIMARY KEY (id)".to_owned()
    } else {
        let counts = if settings.auto_inc {
            " AUTO_INCREMENT"
        } else {
            ""
        };
        let key = if settings.secondary {
            "KEY xid (id)"
        } else {
            "PRIMARY KEY (id)"
        };
        format!(
            "id INTEGER NOT NULL{counts}, k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
             pad CHAR(60) DEFAULT '' NOT NULL, {key}"
        )
    };
    let sql = format!(
        "CREATE TABLE sbtest{table} ({columns}){engine} {}",
        settings.create_table_options
    );
    sql.trim_end().to_owned()
}

/// The first `count` tables, as found in a database, for any workload and options.
pub(super) fn known_tables(count: u32) -> Vec<KnownTable> {
    let known = |table| KnownTable {
        name: format!("sbtest{table}"),
        // The second is the table of bulk_insert.
        layouts: vec!["id, k, c, pad".to_owned(), "id, k".to_owned()],
    };
    (1..=count).map(known).collect()
}

/// The statement that drops the table with this number (from 1).
pub(super) fn drop_statement(table: u32) -> String {
    format!("DROP TABLE IF EXISTS sbtest{table}")
}

/// The rows of one table, ids from 1.
///
/// ```text
/// 1<tab>5013<tab>68487932199-96439406143-...<tab>67847967377-48000963322-...
/// ```
struct SbtestRows {
    count: u64,
    k: Distribution,
    seed: u64,
}

impl SbtestRows {
    fn new(settings: &Settings, table: u32) -> Self {
        Self {
            count: settings.table_size,
            k: Distribution::new(settings.rand_type, 1, settings.table_size),
            seed: SplitMix64::seed_from_u64(settings.seed ^ (u64::from(table) << 32)).next_u64(),
        }
    }
}

impl Rows for SbtestRows {
    fn units(&self) -> u64 {
        self.count
    }

    fn write(&self, unit: u64, out: &mut Vec<u8>) -> u64 {
        // A separate generator for each row, so that any range can be generated independently.
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_add(unit));
        let mut number = itoa::Buffer::new();
        out.extend_from_slice(number.format(unit + 1).as_bytes());
        out.push(b'\t');
        out.extend_from_slice(number.format(self.k.draw(&mut random)).as_bytes());
        out.push(b'\t');
        for length in [C, PAD] {
            let begin = out.len();
            // Including the byte after the text: a tab, or the line feed after the last text.
            out.resize(begin + length, 0);
            row_text::fill(&mut out[begin..], &mut random);
            out.push(if length == C { b'\t' } else { b'\n' });
        }
        1
    }
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::settings, *};

    fn rows(settings: &Settings, table: u32, units: std::ops::Range<u64>) -> Vec<u8> {
        let data = tables(Script::PointSelect, settings);
        let rows = data[table as usize - 1].rows.clone().unwrap();
        let mut out = Vec::new();
        for unit in units {
            assert_eq!(rows.write(unit, &mut out), 1);
        }
        out
    }

    #[test]
    fn rows_never_change() {
        let all = rows(&settings(), 1, 0..10_000);
        assert_eq!(
            format!("{:x}", md5::compute(&all)),
            "6ee2334401d69014b810d40eee6f1849"
        );
        let first = String::from_utf8(rows(&settings(), 1, 0..1)).unwrap();
        let fields: Vec<&str> = first.trim_end().split('\t').collect();
        assert_eq!((fields[0], fields[2].len(), fields[3].len()), ("1", C, PAD));
    }

    #[test]
    fn any_range_can_be_made_by_itself() {
        let all = rows(&settings(), 2, 0..100);
        let parts = [rows(&settings(), 2, 0..40), rows(&settings(), 2, 40..100)];
        assert_eq!(all, parts.concat());
        assert_ne!(all, rows(&settings(), 1, 0..100));
        let other = Settings {
            seed: 2,
            ..settings()
        };
        assert_ne!(all, rows(&other, 2, 0..100));
    }

    #[test]
    fn create_statements() {
        let create = |script, settings: &Settings| create_statement(script, settings, 3);
        assert_eq!(
            create(Script::ReadWrite, &settings()),
            "CREATE TABLE sbtest3 (id INTEGER NOT NULL AUTO_INCREMENT, k INTEGER DEFAULT '0' NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) ENGINE = innodb"
        );
        let other = Settings {
            auto_inc: false,
            secondary: true,
            engine: String::new(),
            create_table_options: "COMMENT='x'".to_owned(),
            ..settings()
        };
        assert_eq!(
            create(Script::ReadWrite, &other),
            "CREATE TABLE sbtest3 (id INTEGER NOT NULL, k INTEGER DEFAULT '0' NOT NULL, \
             c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, KEY xid (id)) COMMENT='x'"
        );
        assert!(
            create(Script::BulkInsert, &settings()).contains("(id INTEGER NOT NULL, k INTEGER")
        );
    }

    #[test]
    fn each_workload_has_its_tables() {
        let filled = |script, settings: &Settings| {
            let tables = tables(script, settings);
            let filled = tables.iter().filter(|table| table.rows.is_some()).count();
            (tables.len(), filled, tables[0].finish.len())
        };
        assert_eq!(filled(Script::ReadWrite, &settings()), (4, 4, 1));
        assert_eq!(filled(Script::BulkInsert, &settings()), (8, 0, 0));
        let own_ids = Settings {
            auto_inc: false,
            ..settings()
        };
        assert_eq!(filled(Script::Insert, &own_ids), (4, 0, 1));
        assert!(tables(Script::ReadOnly, &own_ids)[0].is_divisible);
    }

    #[test]
    fn known_tables_have_the_columns_of_every_workload() {
        let sbtest = &known_tables(2)[1];
        assert_eq!(sbtest.name, "sbtest2");
        assert!(sbtest.layouts.contains(&"id, k, c, pad".to_owned()));
        // The table of bulk_insert.
        assert!(sbtest.layouts.contains(&"id, k".to_owned()));
        for layout in &sbtest.layouts {
            let columns: Vec<_> = layout.split(", ").map(str::to_owned).collect();
            assert!(sbtest.has_layout(&columns), "{layout}");
        }
    }
}
