//! The table and the statements that `--auto-generate-sql` makes up, byte for byte those of mysqlslap.
//!
//! The original draws from glibc's `random()` before it seeds it, so that every call makes the same text:
//!
//! ```text
//! CREATE TABLE `t1` (id serial,intcol1 INT(32) ,charcol1 VARCHAR(128))
//! INSERT INTO t1 VALUES (NULL,1804289383,'mxvtvmC9127qJNm06sGB8R92q2j7vTiiITRDGXM9ZLzkdekb...')
//! ```

use std::fmt::Write;

use super::script::Statement;
use crate::glibc_random::Numbers;

/// Letters of the strings; U and V are not among them.
const LETTERS: &[u8; 60] = b"0123456789ABCDEFGHIJKLMNOPQRSTWXYZabcdefghijklmnopqrstuvwxyz";
/// Length of the strings; their column has room for 128.
const LENGTH: usize = 126;

/// What the clients run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadType {
    /// INSERT and SELECT in turn.
    Mixed,
    /// UPDATE, by primary key where there is one.
    Update,
    /// INSERT.
    Write,
    /// SELECT by primary key.
    Key,
    /// SELECT of all rows.
    Read,
}

impl LoadType {
    /// The first letter decides; what it does not know is mixed, as with mysqlslap.
    pub fn of(text: &str) -> Self {
        match text.bytes().next() {
            Some(b'r') => Self::Read,
            Some(b'k') => Self::Key,
            Some(b'w') => Self::Write,
            Some(b'u') => Self::Update,
            _ => Self::Mixed,
        }
    }
}

/// The primary key of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrimaryKey {
    /// `id serial`
    AutoIncrement,
    /// `id varchar(36) primary key`, filled by `uuid()`
    Guid,
}

/// Columns of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// How many.
    pub count: u32,
    /// Each has an index of its own.
    pub indexed: bool,
}

/// What to make up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generator {
    /// What the clients run.
    pub load_type: LoadType,
    /// The primary key, if there is one.
    pub primary_key: Option<PrimaryKey>,
    /// Columns `id0`, `id1` ... with a unique index each, filled by `uuid()`.
    pub secondary_indexes: u32,
    /// Columns `intcol1` ...
    pub int_columns: Columns,
    /// Columns `charcol1` ...
    pub char_columns: Columns,
    /// Different INSERTs that fill the table, in turn.
    pub unique_writes: u64,
    /// One less than the different statements that the clients run, in turn.
    pub unique_queries: u64,
}

/// What was made up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// CREATE TABLE.
    pub create: Statement,
    /// The INSERTs that fill the table, in turn.
    pub rows: Vec<Statement>,
    /// What every client runs, in turn.
    pub queries: Vec<Statement>,
}

impl Generator {
    /// Makes it up.
    pub fn generate(&self) -> Generated {
        let mut random = Random(Numbers::unseeded());
        let rows = (0..self.unique_writes).map(|_| self.insert(&mut random));
        let rows = rows.collect();
        let queries = (0..=self.unique_queries).map(|index| match self.load_type {
            LoadType::Write => self.insert(&mut random),
            LoadType::Update => self.update(&mut random),
            LoadType::Key => self.select(true),
            LoadType::Read => self.select(false),
            LoadType::Mixed if index % 2 == 0 => self.insert(&mut random),
            LoadType::Mixed => self.select(self.primary_key.is_some()),
        });
        Generated {
            queries: queries.collect(),
            create: Statement::whole(self.create()),
            rows,
        }
    }

    fn create(&self) -> String {
        let mut columns = Vec::new();
        match self.primary_key {
            Some(PrimaryKey::AutoIncrement) => columns.push("id serial".to_owned()),
            Some(PrimaryKey::Guid) => columns.push("id varchar(36) primary key".to_owned()),
            None => {}
        }
        let secondary = 0..self.secondary_indexes;
        columns.extend(secondary.map(|index| format!("id{index} varchar(36) unique key")));
        let ints = 1..=self.int_columns.count;
        columns.extend(ints.map(|index| {
            if self.int_columns.indexed {
                format!("intcol{index} INT(32), INDEX(intcol{index})")
            } else {
                format!("intcol{index} INT(32) ")
            }
        }));
        let chars = 1..=self.char_columns.count;
        columns.extend(chars.map(|index| {
            if self.char_columns.indexed {
                format!("charcol{index} VARCHAR(128), INDEX(charcol{index}) ")
            } else {
                format!("charcol{index} VARCHAR(128)")
            }
        }));
        format!("CREATE TABLE `t1` ({})", columns.join(","))
    }

    fn insert(&self, random: &mut Random) -> Statement {
        let mut values = Vec::new();
        match self.primary_key {
            Some(PrimaryKey::AutoIncrement) => values.push("NULL".to_owned()),
            Some(PrimaryKey::Guid) => values.push("uuid()".to_owned()),
            None => {}
        }
        values.extend((0..self.secondary_indexes).map(|_| "uuid()".to_owned()));
        values.extend((0..self.int_columns.count).map(|_| random.number().to_string()));
        values.extend((0..self.char_columns.count).map(|_| random.string()));
        Statement::whole(format!("INSERT INTO t1 VALUES ({})", values.join(",")))
    }

    fn update(&self, random: &mut Random) -> Statement {
        let ints = 1..=self.int_columns.count;
        let mut changes: Vec<String> = ints
            .map(|index| format!("intcol{index} = {}", random.number()))
            .collect();
        let chars = 1..=self.char_columns.count;
        changes.extend(chars.map(|index| format!("charcol{index} = {}", random.string())));
        let sql = format!("UPDATE t1 SET {}", changes.join(","));
        keyed(sql, self.primary_key.is_some())
    }

    fn select(&self, by_key: bool) -> Statement {
        let ints = (1..=self.int_columns.count).map(|index| format!("intcol{index}"));
        let chars = (1..=self.char_columns.count).map(|index| format!("charcol{index}"));
        let columns: Vec<String> = ints.chain(chars).collect();
        keyed(format!("SELECT {} FROM t1", columns.join(",")), by_key)
    }
}

/// The statement for one row, or for all of them.
fn keyed(mut sql: String, by_key: bool) -> Statement {
    if by_key {
        sql.push_str(" WHERE id = ");
        Statement::for_a_key(sql)
    } else {
        Statement::whole(sql)
    }
}

/// What the values are drawn from.
struct Random(Numbers);

impl Random {
    fn number(&mut self) -> u32 {
        self.0.draw()
    }

    /// A string literal.
    fn string(&mut self) -> String {
        let mut text = String::with_capacity(LENGTH + 2);
        text.push('\'');
        for _ in 0..LENGTH {
            let letter = LETTERS[self.0.draw() as usize % LETTERS.len()];
            text.write_char(letter.into())
                .expect("writing to a string does not fail");
        }
        text.push('\'');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(load_type: LoadType) -> Generator {
        let one = Columns {
            count: 1,
            indexed: false,
        };
        Generator {
            load_type,
            primary_key: None,
            secondary_indexes: 0,
            int_columns: one,
            char_columns: one,
            unique_writes: 10,
            unique_queries: 10,
        }
    }

    fn text(statement: &Statement) -> String {
        String::from_utf8(statement.sql().to_vec()).unwrap()
    }

    #[test]
    fn the_first_words_of_every_call() {
        let made = generator(LoadType::Write).generate();
        assert_eq!(
            text(&made.create),
            "CREATE TABLE `t1` (intcol1 INT(32) ,charcol1 VARCHAR(128))"
        );
        assert_eq!(
            text(&made.rows[0]),
            "INSERT INTO t1 VALUES (1804289383,'mxvtvmC9127qJNm06sGB8R92q2j7vTiiITRDGXM9ZLzkdekbWtmXKwZ2qG1llkRw5m9DH\
             OFilEREk3q7oce8O3BEJC0woJsm6uzFAEynLH2xCsw1KQ1lT4zg9rdxBL')"
        );
        // The statement that deadlocked in an article of 2009.
        assert_eq!(
            text(&made.queries[0]),
            "INSERT INTO t1 VALUES (100669,'qnMdipW5KkXdTjGCh2PNzLoeR0527frpQDQ8uw67Ydk1K06uuNHtkxYBxT5w8plb2BbpzhwYBg\
             PNYX9RmICWGkZD6fAESvhMzH3yqzMtXoH4BQNylbK1CmEIPGYlC6')"
        );
        assert_eq!((made.rows.len(), made.queries.len()), (10, 11));
    }

    #[test]
    fn columns_and_indexes_as_mysqlslap_writes_them() {
        let all = Generator {
            primary_key: Some(PrimaryKey::AutoIncrement),
            secondary_indexes: 2,
            int_columns: Columns {
                count: 2,
                indexed: true,
            },
            char_columns: Columns {
                count: 1,
                indexed: true,
            },
            ..generator(LoadType::Mixed)
        };
        let made = all.generate();
        assert_eq!(
            text(&made.create),
            "CREATE TABLE `t1` (id serial,id0 varchar(36) unique key,id1 varchar(36) unique key,intcol1 INT(32), \
             INDEX(intcol1),intcol2 INT(32), INDEX(intcol2),charcol1 VARCHAR(128), INDEX(charcol1) )"
        );
        assert!(
            text(&made.rows[0])
                .starts_with("INSERT INTO t1 VALUES (NULL,uuid(),uuid(),1804289383,846930886,'")
        );
        let select = &made.queries[1];
        assert_eq!(
            text(select),
            "SELECT intcol1,intcol2,charcol1 FROM t1 WHERE id = "
        );
        assert!(select.takes_a_key() && !made.queries[0].takes_a_key());
    }

    #[test]
    fn the_first_letter_decides_on_the_load() {
        for (word, load_type) in [
            ("read", LoadType::Read),
            ("k", LoadType::Key),
            ("wr", LoadType::Write),
            ("update", LoadType::Update),
            ("mixed", LoadType::Mixed),
            ("", LoadType::Mixed),
            ("foo", LoadType::Mixed),
        ] {
            assert_eq!(LoadType::of(word), load_type, "{word}");
        }
    }
}
