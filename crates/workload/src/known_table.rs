//! A benchmark's table: its name, and the columns that tell it from a table of somebody else.

/// Column that MySQL adds to a table without a primary key where `sql_generate_invisible_primary_key` is on.
const GENERATED_KEY: &str = "my_row_id";

/// A table of a benchmark, as it can be found in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownTable {
    /// Its name.
    pub name: String,
    /// The columns that it can have, such as `id, k, c, pad`: one list for each kind of the table.
    pub layouts: Vec<String>,
}

impl KnownTable {
    /// A table that is always made with the same columns.
    pub fn new(name: &str, columns: impl IntoIterator<Item = &'static str>) -> Self {
        let columns: Vec<_> = columns.into_iter().collect();
        Self {
            name: name.to_owned(),
            layouts: vec![columns.join(", ")],
        }
    }

    /// True where a table of this name with these columns is the benchmark's. Their order does not count: other programs
    /// for the same benchmark have another one.
    pub fn has_layout(&self, columns: &[String]) -> bool {
        let columns = columns.iter().map(|column| column.to_lowercase());
        let mut columns: Vec<_> = columns.filter(|name| name != GENERATED_KEY).collect();
        columns.sort_unstable();
        self.layouts.iter().any(|layout| {
            let mut layout: Vec<_> = layout.split(", ").collect();
            layout.sort_unstable();
            layout == columns
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::oltp;

    fn columns(list: &str) -> Vec<String> {
        list.split(", ").map(str::to_owned).collect()
    }

    #[test]
    fn a_table_of_somebody_else_has_other_columns() {
        let sbtest = &oltp::known_tables(2)[1];
        assert_eq!(sbtest.name, "sbtest2");
        for (list, is_it) in [
            ("id, k, c, pad", true),
            ("ID, K, C, PAD", true),
            // Of bulk_insert.
            ("id, k", true),
            // Made with --secondary, where the server adds a key.
            ("my_row_id, id, k, c, pad", true),
            ("id, k, c", false),
            ("id, k, c, pad, mine", false),
            ("id", false),
            ("", false),
        ] {
            assert_eq!(sbtest.has_layout(&columns(list)), is_it, "{list}");
        }
        assert!(!sbtest.has_layout(&[]));
    }
}
