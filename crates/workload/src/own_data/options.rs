//! The keys of `[data]` for data of the user's own.

use std::path::PathBuf;

use settings::{DataKind, Kind, OptionSpec, OptionTable, Size, Values};

use super::schema::Schema;

/// Data of the user's own, under `[data]`.
pub struct OwnData;

const OPTIONS: &[OptionSpec] = &[OptionSpec::without_default(
    "sql",
    Kind::File("file of SQL"),
    "Statements that make the tables",
)];

impl OptionTable for OwnData {
    fn name(&self) -> &'static str {
        "own_data"
    }

    fn options(&self) -> &'static [OptionSpec] {
        OPTIONS
    }

    fn is_flat(&self) -> bool {
        true
    }

    fn example(&self) -> &'static str {
        "sql = \"schema.sql\""
    }
}

impl DataKind for OwnData {
    /// `own data: sql "schema.sql"`
    fn identity(&self, values: &Values) -> String {
        let given = OPTIONS.iter().filter_map(|option| {
            let value = values.get(option.name)?;
            Some(format!("{} {value:?}", option.name))
        });
        let given: Vec<String> = given.collect();
        format!("own data: {}", given.join(", "))
    }

    /// Not known before the statements are executed.
    fn size(&self, _values: &Values) -> Size {
        Size::Bytes(0.0)
    }

    fn shrink(&self, _values: &mut Values, _scale: f64) {}

    fn named_files(&self, values: &Values) -> Vec<PathBuf> {
        values
            .file("sql")
            .map(Schema::named_files)
            .unwrap_or_default()
    }
}
