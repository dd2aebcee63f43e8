//! The objects of a server that a statement can reach, as far as they are shown to the account.

use super::{
    session::{Failure, Session},
    visibility::Visibility,
};

/// ER_UNKNOWN_TABLE of information_schema, and ER_NO_SUCH_TABLE: a server without such objects.
const NO_SUCH_TABLE: [u16; 2] = [1109, protocol::NO_SUCH_TABLE];
/// ER_PARSE_ERROR: MySQL 5.5 has no transactions that only read.
const UNKNOWN_FORM: u16 = protocol::PARSE_ERROR;

/// All objects.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    pub(super) programs: Vec<Program>,
    pub(super) tables: Vec<Table>,
    /// Names of functions that were loaded from a library.
    pub(super) loadable: Vec<String>,
    pub(super) visibility: Visibility,
    /// The server has transactions that only read, and refuses each write of a table in them.
    pub(super) has_read_only: bool,
}

/// A text of SQL that the server keeps and executes.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) kind: ProgramKind,
    pub(super) schema: String,
    pub(super) name: String,
    /// Its text; `None` if it is not shown, or in another language than SQL.
    pub(super) text: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProgramKind {
    /// A function, a procedure or a package.
    Routine,
    View,
    Trigger {
        table: String,
    },
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) kind: TableKind,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TableKind {
    /// With its engine, if that is known.
    Base {
        engine: Option<String>,
        /// A default value is taken from a sequence.
        draws: bool,
    },
    Sequence,
}

impl Catalogue {
    pub(super) async fn read(session: &mut Session) -> Result<Self, Failure> {
        let mut catalogue = Self {
            visibility: Visibility::of_grants(&grants(session).await?),
            has_read_only: has_read_only(session).await?,
            ..Self::default()
        };
        let servers_own = "IN ('mysql', 'sys', 'information_schema', 'performance_schema')";
        // Those of the schema sys that came with the server only read.
        let own = "NOT (s = 'sys' AND d LIKE '%.sys@localhost')";
        let routines = format!(
            "SELECT s, n, IF(b = 'SQL', t, NULL) FROM (SELECT routine_schema s, routine_name n, \
             routine_body b, routine_definition t, definer d FROM information_schema.routines) r WHERE {own}"
        );
        for [schema, name, text] in rows(session, &routines).await? {
            catalogue.program(ProgramKind::Routine, [schema, name, text]);
        }
        let views = format!(
            "SELECT s, n, t FROM (SELECT table_schema s, table_name n, view_definition t, \
             definer d FROM information_schema.views) v WHERE {own}"
        );
        for [schema, name, text] in rows(session, &views).await? {
            catalogue.program(ProgramKind::View, [schema, name, text]);
        }
        let triggers = "SELECT trigger_schema, trigger_name, action_statement, event_object_table \
                        FROM information_schema.triggers";
        for [schema, name, text, table] in rows(session, triggers).await? {
            let table = table.unwrap_or_default();
            catalogue.program(ProgramKind::Trigger { table }, [schema, name, text]);
        }
        let tables = format!(
            "SELECT table_schema, table_name, engine, table_type FROM information_schema.tables \
             WHERE table_type NOT LIKE '%VIEW' AND NOT table_schema {servers_own}"
        );
        for [schema, name, engine, kind] in rows(session, &tables).await? {
            let kind = match kind.as_deref() {
                Some("SEQUENCE") => TableKind::Sequence,
                _ => TableKind::Base {
                    engine,
                    draws: false,
                },
            };
            catalogue.tables.push(Table {
                schema: schema.unwrap_or_default(),
                name: name.unwrap_or_default(),
                kind,
            });
        }
        catalogue.mark_those_that_draw(session).await?;
        catalogue.loadable = loadable(session).await?;
        Ok(catalogue)
    }

    fn program(&mut self, kind: ProgramKind, [schema, name, text]: [Option<String>; 3]) {
        self.programs.push(Program {
            kind,
            schema: schema.unwrap_or_default(),
            name: name.unwrap_or_default(),
            // A view that is not shown has an empty definition.
            text: text.filter(|it| !it.is_empty()),
        });
    }

    /// Marks the tables that take default values from a sequence.
    async fn mark_those_that_draw(&mut self, session: &mut Session) -> Result<(), Failure> {
        // Reading the columns of all tables takes long, and few servers have sequences.
        if !self.tables.iter().any(|it| it.kind == TableKind::Sequence) {
            return Ok(());
        }
        let defaults = "SELECT DISTINCT table_schema, table_name FROM information_schema.columns \
                        WHERE column_default LIKE '%next%val%'";
        let drawing = rows(session, defaults).await?;
        for [schema, name] in &drawing {
            for table in &mut self.tables {
                if let TableKind::Base { draws, .. } = &mut table.kind
                    && schema.as_deref() == Some(&table.schema)
                    && name.as_deref() == Some(&table.name)
                {
                    *draws = true;
                }
            }
        }
        Ok(())
    }
}

/// The rows of a question with `N` columns; none on a server without these objects.
async fn rows<const N: usize>(
    session: &mut Session,
    sql: &str,
) -> Result<Vec<[Option<String>; N]>, Failure> {
    let sets = match session.rows(sql).await {
        Err(failure)
            if failure
                .number()
                .is_some_and(|it| NO_SUCH_TABLE.contains(&it)) =>
        {
            return Ok(Vec::new());
        }
        sets => sets?,
    };
    let text = |value: Vec<u8>| String::from_utf8_lossy(&value).into_owned();
    let rows = sets.into_iter().flat_map(|set| set.rows);
    let rows = rows.filter_map(|row| {
        let row: Vec<Option<String>> = row.into_iter().map(|it| it.map(text)).collect();
        row.try_into().ok()
    });
    Ok(rows.collect())
}

async fn grants(session: &mut Session) -> Result<Vec<String>, Failure> {
    let lines = rows(session, "SHOW GRANTS").await?;
    Ok(lines.into_iter().filter_map(|[line]| line).collect())
}

async fn has_read_only(session: &mut Session) -> Result<bool, Failure> {
    match session.rows("START TRANSACTION READ ONLY").await {
        Err(failure) if failure.number() == Some(UNKNOWN_FORM) => Ok(false),
        begun => {
            begun?;
            session.rows("ROLLBACK").await?;
            Ok(true)
        }
    }
}

/// Functions from libraries, where the account may read one of the lists.
async fn loadable(session: &mut Session) -> Result<Vec<String>, Failure> {
    let mut names = Vec::new();
    for sql in [
        "SELECT name FROM mysql.func",
        "SELECT udf_name FROM performance_schema.user_defined_functions",
    ] {
        match rows(session, sql).await {
            Err(failure) if failure.is_of_statement() => {}
            found => names.extend(found?.into_iter().filter_map(|[name]| name)),
        }
    }
    Ok(names)
}
