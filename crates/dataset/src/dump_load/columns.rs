//! What a load needs to know of the columns of a table.

use protocol::Connection;

use crate::own_data::dump::{ColumnKind, insert_head, is_literal};

/// Types whose values a line says as a statement does, where their texts are in the session's character set.
const TEXTS: [&str; 12] = [
    "char",
    "varchar",
    "tinytext",
    "text",
    "mediumtext",
    "longtext",
    "enum",
    "set",
    "date",
    "datetime",
    "timestamp",
    "time",
];
const NUMBERS: [&str; 9] = [
    "tinyint",
    "smallint",
    "mediumint",
    "int",
    "bigint",
    "decimal",
    "float",
    "double",
    "year",
];
const BYTES: [&str; 7] = [
    "binary",
    "varbinary",
    "tinyblob",
    "blob",
    "mediumblob",
    "longblob",
    "bit",
];

/// Character sets whose first 128 characters are those of ASCII.
const LIKE_ASCII: [&str; 12] = [
    "ascii", "cp1250", "cp1251", "cp1256", "cp1257", "latin1", "latin2", "latin5", "latin7",
    "utf8", "utf8mb3", "utf8mb4",
];

#[derive(Debug)]
pub(super) struct TableColumns {
    pub(super) table: String,
    pub(super) is_innodb: bool,
    /// A row is refused where the row that it refers to is not there yet, or a trigger reads or writes what is there.
    pub(super) depends: bool,
    /// Position and name of the one that the server counts.
    pub(super) counted: Option<(usize, String)>,
    /// Name and kind of each; none where the rows are sent as they are.
    pub(super) kinds: Option<Vec<(String, ColumnKind)>>,
}

impl TableColumns {
    /// Reads them; `as_lines` says that rows may be sent as lines.
    pub(super) async fn read(
        connection: &mut Connection,
        table: &str,
        as_lines: bool,
    ) -> Result<Self, protocol::Error> {
        let sql = format!(
            "select c.column_name, c.data_type, c.extra, coalesce(c.character_set_name, ''), t.engine, \
             @@character_set_client, @@sql_mode, @@foreign_key_checks and exists (select 1 from \
             information_schema.referential_constraints r where r.constraint_schema = database() \
             and r.table_name = c.table_name) or exists (select 1 from information_schema.triggers g \
             where g.event_object_schema = database() and g.event_object_table = c.table_name \
             and g.event_manipulation = 'INSERT') from information_schema.columns c \
             join information_schema.tables t using (table_schema, table_name) \
             where c.table_schema = database() and c.table_name = {} order by c.ordinal_position",
            // The session's own sql_mode could read a backslash in another way than it is meant.
            hexadecimal(table.as_bytes())
        );
        let sets = connection.rows(&sql).await?;
        let mut kinds = as_lines.then(Vec::new);
        let (mut is_innodb, mut depends) = (false, false);
        let (mut counted, mut position) = (None, 0);
        for row in sets.into_iter().flat_map(|set| set.rows) {
            let text = |value: Option<Vec<u8>>| {
                String::from_utf8_lossy(&value.unwrap_or_default()).to_lowercase()
            };
            let Ok(
                [
                    name,
                    data_type,
                    extra,
                    charset,
                    engine,
                    client,
                    mode,
                    depends_on_others,
                ],
            ) = <[Option<Vec<u8>>; 8]>::try_from(row)
            else {
                continue;
            };
            let name = String::from_utf8_lossy(&name.unwrap_or_default()).into_owned();
            let [data_type, extra, charset] = [data_type, extra, charset].map(text);
            let [engine, client, mode] = [engine, client, mode].map(text);
            is_innodb = engine == "innodb";
            depends = depends_on_others.is_some_and(|it| it == b"1");
            let is_computed = ["virtual", "stored", "persistent"]
                .iter()
                .any(|it| extra.contains(it));
            if extra.contains("auto_increment") {
                counted = Some((position, name.clone()));
            }
            position += 1;
            let has = |types: &[&str]| types.contains(&data_type.as_str());
            let kind = match () {
                () if mode.contains("no_backslash_escapes") || mode.contains("ansi") => None,
                () if is_computed => Some(ColumnKind::Computed),
                () if has(&TEXTS) && (charset.is_empty() || charset == client) => {
                    Some(ColumnKind::Text)
                }
                () if has(&TEXTS)
                    && [&charset, &client]
                        .iter()
                        .all(|it| LIKE_ASCII.contains(&it.as_str())) =>
                {
                    Some(ColumnKind::Ascii)
                }
                () if has(&NUMBERS) => Some(ColumnKind::Number),
                () if has(&BYTES) => Some(ColumnKind::Bytes),
                () => None,
            };
            kinds = kinds.zip(kind).map(|(mut kinds, kind)| {
                kinds.push((name, kind));
                kinds
            });
        }
        Ok(Self {
            table: table.to_owned(),
            is_innodb,
            depends,
            counted,
            kinds,
        })
    }

    /// Whether the rows of this INSERT are the same on any connection and in any order.
    pub(super) fn is_free(&self, text: &[u8], has_backslashes: bool) -> bool {
        let Some(head) = insert_head(text) else {
            return false;
        };
        if self.depends {
            return false;
        }
        let counted = match &self.counted {
            None => None,
            Some((position, _)) if head.columns.is_empty() => Some(*position),
            Some((_, name)) => {
                let mut columns = head.columns.iter();
                match columns.position(|it| it.eq_ignore_ascii_case(name)) {
                    Some(position) => Some(position),
                    None => return false,
                }
            }
        };
        is_literal(&text[head.rows_at..], counted, has_backslashes)
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("convert(x'{digits}' using utf8)")
}
