//! The tables of a test: the statements that create and fill them, and their storage engine.

use protocol::Connection;

use super::{generator::Generated, plan::Keys, script::Statement};

/// INSERTs per transaction while a generated table is filled, which is not measured.
const ROWS_AT_ONCE: u64 = 1000;

/// The tables of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// The statements that create them, in order.
    create: Vec<Statement>,
    /// Rows of a generated table; `None` where the tables are the user's own.
    fill: Option<Fill>,
}

/// Rows of a generated table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Fill {
    /// INSERTs, used in rotation.
    rows: Vec<Statement>,
    /// Number of statements in all, CREATE TABLE included.
    statements: u64,
}

/// A statement that makes the tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableStatement {
    /// Creates or fills a table.
    Own(Vec<u8>),
    /// Begins or ends a transaction of many rows, which the original does not have.
    Transaction(&'static str),
}

/// A storage engine, with the option after its colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// `innodb`
    pub name: String,
    /// Appended to the first statement that creates a table: `row_format=compressed`.
    pub option: Option<String>,
}

impl Engine {
    /// Parses `innodb` or `innodb:row_format=compressed`; `None` where the name is empty.
    pub fn of(text: &str) -> Option<Self> {
        let (name, option) = match text.split_once(':') {
            Some((name, option)) => (name, Some(option.to_owned())),
            None => (text, None),
        };
        (!name.is_empty()).then(|| Self {
            name: name.to_owned(),
            option,
        })
    }

    /// The statement that makes it the connection's default engine; it works on every server that has the engine.
    pub fn set(&self) -> String {
        format!("set default_storage_engine=`{}`", self.name)
    }
}

impl Tables {
    /// The user's own tables.
    pub fn own(create: Vec<Statement>) -> Self {
        Self { create, fill: None }
    }

    /// The generated table, created and filled by this number of statements.
    pub fn made_up(generated: &Generated, statements: u64) -> Self {
        Self {
            create: vec![generated.create.clone()],
            fill: Some(Fill {
                rows: generated.rows.clone(),
                statements,
            }),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.create.is_empty()
    }

    /// Whether the table was generated.
    pub fn is_made_up(&self) -> bool {
        self.fill.is_some()
    }

    /// The statements that create and fill the tables, in order.
    pub fn statements(&self) -> Box<dyn Iterator<Item = &Statement> + '_> {
        match &self.fill {
            None => Box::new(self.create.iter()),
            Some(fill) => {
                let all = self.create.iter().chain(fill.rows.iter().cycle());
                Box::new(all.take(usize::try_from(fill.statements).unwrap_or(usize::MAX)))
            }
        }
    }

    /// Statements to send after statement `number` so that rows are inserted in transactions of a thousand. Empty for
    /// the user's own tables, because their statements may contain transactions.
    fn between(&self, number: usize) -> &'static [&'static str] {
        match number as u64 {
            _ if self.fill.is_none() => &[],
            0 => &["START TRANSACTION"],
            number if number % ROWS_AT_ONCE == 0 => &["COMMIT", "START TRANSACTION"],
            _ => &[],
        }
    }

    /// Statements to send after the last statement.
    fn behind(&self) -> &'static [&'static str] {
        match self.fill {
            Some(_) => &["COMMIT"],
            None => &[],
        }
    }

    /// All statements that make the tables, in order; the first one ends with this suffix.
    pub fn table_statements<'t>(
        &'t self,
        suffix: &'t str,
    ) -> impl Iterator<Item = TableStatement> + 't {
        let transactions = |all: &'static [&'static str]| {
            let all = all.iter().copied();
            all.map(TableStatement::Transaction)
        };
        let own = self.statements().enumerate();
        let own = own.flat_map(move |(number, statement)| {
            let suffix = if number == 0 { suffix } else { "" };
            let sql = [statement.sql(), suffix.as_bytes()].concat();
            let first = std::iter::once(TableStatement::Own(sql));
            first.chain(transactions(self.between(number)))
        });
        own.chain(transactions(self.behind()))
    }

    /// Creates and fills the tables over a connection to their database.
    pub async fn make(
        &self,
        connection: &mut Connection,
        engine: Option<&Engine>,
    ) -> Result<(), protocol::Error> {
        let mut suffix = String::new();
        if let Some(engine) = engine {
            connection.query(engine.set().as_bytes()).await?;
            if let Some(option) = &engine.option {
                suffix = format!(" {option}");
            }
        }
        for statement in self.table_statements(&suffix) {
            match statement {
                TableStatement::Own(sql) => connection.query(&sql).await?,
                TableStatement::Transaction(sql) => connection.query(sql.as_bytes()).await?,
            };
        }
        Ok(())
    }
}

impl Keys {
    /// Reads the keys of the generated table.
    pub async fn read(connection: &mut Connection) -> Result<Self, protocol::Error> {
        // Consecutive numbers, such as those of AUTO_INCREMENT, need not be read one by one.
        let span = "SELECT CONCAT(MIN(id), ' ', MAX(id), ' ', COUNT(*)) FROM t1";
        let span = column(connection, span).await?;
        let span: Vec<Option<u64>> = span
            .first()
            .map(|text| text.split(|byte| *byte == b' ').map(number_of).collect())
            .unwrap_or_default();
        if let [Some(first), Some(last), Some(count)] = span[..]
            && last
                .checked_sub(first)
                .is_some_and(|span| span + 1 == count)
        {
            return Ok(Self::Range { first, count });
        }
        column(connection, "SELECT id from t1")
            .await
            .map(Self::List)
    }
}

/// The first column of a result, without NULL values.
async fn column(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<u8>>, protocol::Error> {
    let sets = connection.rows(sql).await?;
    let rows = sets.into_iter().flat_map(|set| set.rows);
    Ok(rows.filter_map(|row| row.into_iter().next()?).collect())
}

fn number_of(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_have_a_name_and_perhaps_an_option() {
        let engine = |name: &str, option: Option<&str>| {
            Some(Engine {
                name: name.to_owned(),
                option: option.map(str::to_owned),
            })
        };
        for (text, expected) in [
            ("innodb", engine("innodb", None)),
            (
                "innodb:row_format=compressed",
                engine("innodb", Some("row_format=compressed")),
            ),
            ("", None),
            (":x", None),
        ] {
            assert_eq!(Engine::of(text), expected, "{text}");
        }
    }

    #[test]
    fn a_made_up_table_is_filled_in_turn_by_so_many_statements() {
        let generated = Generated {
            create: Statement::whole("c"),
            rows: vec![Statement::whole("a"), Statement::whole("b")],
            queries: Vec::new(),
        };
        let tables = Tables::made_up(&generated, 4);
        let sql = |tables: &Tables| -> Vec<Vec<u8>> {
            tables.statements().map(|it| it.sql().to_vec()).collect()
        };
        assert_eq!(sql(&tables), [b"c", b"a", b"b", b"a"]);
        assert_eq!(tables.between(0), ["START TRANSACTION"]);
        assert_eq!(tables.between(1).len() + tables.between(999).len(), 0);
        assert_eq!(tables.between(1000), ["COMMIT", "START TRANSACTION"]);
        assert_eq!(tables.behind(), ["COMMIT"]);
        let own = Tables::own(vec![Statement::whole("c")]);
        assert_eq!(
            (sql(&own).len(), own.between(0).len(), own.behind().len()),
            (1, 0, 0)
        );
    }
}
