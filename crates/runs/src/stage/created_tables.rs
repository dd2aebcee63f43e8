//! The tables that dbdyno made on servers that are not its own, so that a resumed plan knows them again.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::blame::{Blame, Blamed};

/// The file in the results directory: one table a line, as `db1:3306 test.http_auth`.
const FILE: &str = "created-tables";

/// The tables that dbdyno made for one results directory.
#[derive(Debug)]
pub(crate) struct CreatedTables {
    path: PathBuf,
    places: Vec<String>,
}

impl CreatedTables {
    /// What this and earlier processes made for the results in `directory`.
    pub(crate) fn read(directory: &Path) -> Result<Self, Blamed> {
        let path = directory.join(FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(machine(&path, &error)),
        };
        Ok(Self {
            places: text.lines().map(str::to_owned).collect(),
            path,
        })
    }

    /// True for a table that dbdyno made.
    pub(crate) fn holds(&self, place: &str) -> bool {
        self.places.iter().any(|known| known == place)
    }

    /// The tables on the server at `address`, as `test.http_auth`.
    pub(crate) fn on(&self, address: &str) -> Vec<String> {
        let places = self.places.iter();
        let on_it = places.filter_map(|place| place.strip_prefix(address)?.strip_prefix(' '));
        on_it.map(str::to_owned).collect()
    }

    /// Forgets the tables on the server at `address`: they are gone.
    pub(crate) fn forget(&mut self, address: &str) -> Result<(), Blamed> {
        let prefix = format!("{address} ");
        self.places.retain(|place| !place.starts_with(&prefix));
        let result = if self.places.is_empty() {
            fs::remove_file(&self.path)
        } else {
            let text = self.places.join("\n") + "\n";
            files::replace(&self.path, text.as_bytes()).map_err(io::Error::from)
        };
        result.map_err(|error| machine(&self.path, &error))
    }

    /// Remembers a table, before it is made: a crash in between leaves a name too many, never a table too many.
    pub(crate) fn add(&mut self, place: String) -> Result<(), Blamed> {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&self.path)
            .map_err(|error| machine(&self.path, &error))?;
        writeln!(file, "{place}").map_err(|error| machine(&self.path, &error))?;
        self.places.push(place);
        Ok(())
    }
}

fn machine(path: &Path, error: &io::Error) -> Blamed {
    Blamed::new(Blame::Machine, format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_known_to_the_next_process() {
        let directory = tempfile::tempdir().unwrap();
        let mut created = CreatedTables::read(directory.path()).unwrap();
        assert!(!created.holds("db1:3306 test.http_auth"));
        created.add("db1:3306 test.http_auth".to_owned()).unwrap();
        let next = CreatedTables::read(directory.path()).unwrap();
        assert!(next.holds("db1:3306 test.http_auth"));
        assert!(!next.holds("db1:3306 test.http_aut"));
        created.add("db1:33060 test.other".to_owned()).unwrap();
        assert_eq!(created.on("db1:3306"), ["test.http_auth"]);
        created.forget("db1:3306").unwrap();
        let next = CreatedTables::read(directory.path()).unwrap();
        assert_eq!(
            (next.on("db1:3306").len(), next.on("db1:33060").len()),
            (0, 1)
        );
        created.forget("db1:33060").unwrap();
        assert!(!directory.path().join(FILE).exists());
    }
}
