//! The schemas of columns, where a server leaves them out.

use super::{Reading, table_use::TableUse, token::Token};

impl Reading<'_> {
    /// The statement with the schema of each column of a table: `` `i`.`kind` `` becomes `` `shop`.`i`.`kind` ``.
    ///
    /// Once a view over a table was created or shown (`mariadb-dump` shows all), MariaDB writes the columns of that table in
    /// all statements without their schema, until the table is opened again (seen on 10.11.19, also by EXPLAIN of other
    /// sessions).
    pub(super) fn with_schemas(mut self) -> Vec<Token> {
        self.find_tables();
        let mut tokens = self.tokens.to_vec();
        for (at, token) in tokens.iter_mut().enumerate() {
            let Token::Name(parts) = token else { continue };
            if parts.len() == 2
                && !self.place_of_tables.contains(&at)
                && let Some(schema) = schema_of(&self.tables, &parts[0])
            {
                parts.insert(0, schema.to_owned());
            }
        }
        tokens
    }
}

/// The schema of the table with this name in the statement.
fn schema_of<'t>(tables: &'t [TableUse], alias: &str) -> Option<&'t str> {
    let table = tables.iter().find(|it| it.alias == alias)?;
    Some(&table.schema)
}

#[cfg(test)]
mod tests {
    use crate::column_use::column_uses;

    #[test]
    fn columns_without_their_schema_are_read_as_those_with_it() {
        // A table in each of two schemas, a table that has the name of its schema, and a change.
        for whole in [
            "select `a`.`t`.`x` AS `x` from `a`.`t` left join `b`.`u` `w` on(`b`.`w`.`x` = `a`.`t`.`y`) \
             where `a`.`t`.`z` > 1 group by `a`.`t`.`k` order by `a`.`t`.`k`",
            "select `b`.`b`.`x` AS `x` from `b`.`b` where `b`.`b`.`x` = 3",
            "select 1 AS `1` from `a`.`t` where `a`.`t`.`x` in (select `b`.`u`.`y` from `b`.`u` where `b`.`u`.`z` = 4)",
            "update `a`.`t` set `a`.`t`.`x` = 3 where `a`.`t`.`y` = 1",
        ] {
            let mut short = whole.to_owned();
            for (column, without) in [
                ("`a`.`t`.", "`t`."),
                ("`b`.`w`.", "`w`."),
                ("`b`.`u`.", "`u`."),
                ("`b`.`b`.", "`b`."),
            ] {
                short = short.replace(column, without);
            }
            assert_ne!(short, whole);
            assert_eq!(column_uses(&short), column_uses(whole), "{short}");
        }
    }
}
