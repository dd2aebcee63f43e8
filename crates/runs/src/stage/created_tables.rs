//! The tables that dbdyno created on servers not its own, stored so that a resumed plan recognises them.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use blame::{Blame, Blamed};
use dataset::KnownTable;

/// File in the results directory: server, database, table and columns, one table per line.
///
/// ```text
/// db1:3306<TAB>test<TAB>http_auth<TAB>username, pass, uid, gid
/// ```
const FILE: &str = "created-tables";
/// Separator of the column lists that a table can have.
const OR: &str = " | ";

/// A table that dbdyno created, or was about to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CreatedTable {
    /// The server, as `db1:3306`.
    pub(crate) address: String,
    pub(crate) database: String,
    /// Its columns distinguish it from an unrelated table created later.
    pub(crate) table: KnownTable,
}

/// The tables that dbdyno created for one results directory.
#[derive(Debug)]
pub(crate) struct CreatedTables {
    path: PathBuf,
    tables: Vec<CreatedTable>,
}

impl CreatedTable {
    fn line(&self) -> String {
        let (name, layouts) = (&self.table.name, self.table.layouts.join(OR));
        format!("{}\t{}\t{name}\t{layouts}\n", self.address, self.database)
    }

    fn read(line: &str) -> Option<Self> {
        let mut words = line.split('\t');
        let (address, database) = (words.next()?, words.next());
        let (address, database, name) = match database {
            Some(database) => (address, database, words.next()?),
            // The format of earlier versions, without the columns: `db1:3306 test.http_auth`.
            None => {
                let (address, table) = address.split_once(' ')?;
                let (database, name) = table.split_once('.')?;
                (address, database, name)
            }
        };
        let layouts = words.next().unwrap_or_default().split(OR);
        let layouts = layouts.filter(|layout| !layout.is_empty());
        Some(Self {
            address: address.to_owned(),
            database: database.to_owned(),
            table: KnownTable {
                name: name.to_owned(),
                layouts: layouts.map(str::to_owned).collect(),
            },
        })
    }

    /// True for a table of the same name on the same server and database.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.address == other.address
            && self.database == other.database
            && self.table.name == other.table.name
    }
}

impl CreatedTables {
    /// Reads the tables that this and earlier processes created for the results in `directory`.
    pub(crate) fn read(directory: &Path) -> Result<Self, Blamed> {
        let path = directory.join(FILE);
        let tables = tables_in(&path)?;
        Ok(Self { path, tables })
    }

    pub(crate) fn on(&self, address: &str) -> Vec<CreatedTable> {
        let tables = self.tables.iter();
        let on_it = tables.filter(|table| table.address == address);
        on_it.cloned().collect()
    }

    /// Removes the tables on the server at `address` from the file, after they were dropped. Tables that were added to the
    /// file for other servers since it was read remain in it.
    pub(crate) fn forget(&mut self, address: &str) -> Result<(), Blamed> {
        self.tables = tables_in(&self.path)?;
        self.tables.retain(|table| table.address != address);
        let result = if self.tables.is_empty() {
            fs::remove_file(&self.path)
        } else {
            let text: String = self.tables.iter().map(CreatedTable::line).collect();
            files::replace(&self.path, text.as_bytes()).map_err(io::Error::from)
        };
        result.map_err(Blamed::io(Blame::Machine, &self.path))
    }

    /// Records a table before it is created: a crash in between leaves a surplus entry, never an unrecorded table. A
    /// second call for the same table sets its columns.
    pub(crate) fn add(&mut self, table: CreatedTable) -> Result<(), Blamed> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(Blamed::io(Blame::Machine, &self.path))?;
        file.write_all(table.line().as_bytes())
            .map_err(Blamed::io(Blame::Machine, &self.path))?;
        self.tables.retain(|known| !known.is_same(&table));
        self.tables.push(table);
        Ok(())
    }
}

/// The tables of a file; none if it does not exist.
fn tables_in(path: &Path) -> Result<Vec<CreatedTable>, Blamed> {
    let text = match files::read_regular_text(path, experiment::TEXT_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Blamed::io(Blame::Machine, path)(error)),
    };
    let mut tables: Vec<CreatedTable> = Vec::new();
    // The last line of a table has its actual columns.
    for table in text.lines().filter_map(CreatedTable::read) {
        tables.retain(|known| !known.is_same(&table));
        tables.push(table);
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(address: &str, name: &str, layouts: &[&str]) -> CreatedTable {
        CreatedTable {
            address: address.to_owned(),
            database: "test".to_owned(),
            table: KnownTable {
                name: name.to_owned(),
                layouts: layouts.iter().map(|layout| (*layout).to_owned()).collect(),
            },
        }
    }

    #[test]
    fn a_table_is_known_to_the_next_process() {
        let directory = tempfile::tempdir().unwrap();
        let mut created = CreatedTables::read(directory.path()).unwrap();
        let http_auth = table("db1:3306", "http_auth", &["id, pass", "id"]);
        assert_eq!(created.on("db1:3306"), []);
        created.add(http_auth.clone()).unwrap();
        let next = CreatedTables::read(directory.path()).unwrap();
        assert!(next.on("db1:3306")[0].is_same(&http_auth));
        assert!(!next.on("db1:3306")[0].is_same(&table("db1:3306", "http_aut", &[])));
        created.add(table("db1:33060", "other", &[])).unwrap();
        assert_eq!(created.on("db1:3306"), [http_auth]);
        let changed = table("db1:3306", "http_auth", &["id, pass, more"]);
        created.add(changed.clone()).unwrap();
        let next = CreatedTables::read(directory.path()).unwrap();
        assert_eq!(next.on("db1:3306"), [changed]);
        created.forget("db1:3306").unwrap();
        let next = CreatedTables::read(directory.path()).unwrap();
        assert_eq!(
            (next.on("db1:3306").len(), next.on("db1:33060").len()),
            (0, 1)
        );
        created.forget("db1:33060").unwrap();
        assert!(!directory.path().join(FILE).exists());
    }

    #[test]
    fn servers_that_run_at_the_same_time_forget_only_their_own_tables() {
        let directory = tempfile::tempdir().unwrap();
        let read = || CreatedTables::read(directory.path()).unwrap();
        let mut servers = ["db1:3306", "db2:3306"].map(|address| (address, read()));
        for (address, created) in &mut servers {
            created.add(table(address, "sbtest1", &["id"])).unwrap();
        }
        let [(one, mut of_one), (two, mut of_two)] = servers;
        of_one.forget(one).unwrap();
        assert_eq!((read().on(one).len(), read().on(two).len()), (0, 1));
        of_two.forget(two).unwrap();
        assert!(!directory.path().join(FILE).exists());
    }

    #[test]
    fn the_list_of_an_earlier_version_has_no_columns() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(FILE), "db1:3306 test.http_auth\n").unwrap();
        let created = CreatedTables::read(directory.path()).unwrap();
        assert_eq!(
            created.on("db1:3306"),
            [table("db1:3306", "http_auth", &[])]
        );
    }
}
