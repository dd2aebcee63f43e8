//! The options of a .smack file's data and load.

use std::{collections::BTreeMap, path::Path};

use settings::{
    Absent, Conflict, DataKind, Kind, LoadKind, OptionSpec, OptionTable, Rows, Size, Value, Values,
    quantity,
};

/// Minimum rows under `--scale`.
const ROWS_AT_LEAST: u64 = 1000;

const EXAMPLE: &str = "smack = \"smacks/http_auth.smack\"";

const FILE: OptionSpec = OptionSpec::new(
    "file",
    Kind::File("smack file"),
    Absent::Required("file = \"smacks/http_auth.smack\""),
    "The .smack file",
);

/// Options of the tables of a .smack file.
pub struct SmackData;

impl SmackData {
    /// The .smack file and the number of rows of each of its tables.
    pub fn of(values: &Values) -> (&Path, Rows) {
        let rows = values.rows("rows").expect("it is required");
        (file(values), rows)
    }
}

fn file(values: &Values) -> &Path {
    values.file("file").expect("it is required")
}

impl OptionTable for SmackData {
    fn name(&self) -> &'static str {
        "smack"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                FILE,
                OptionSpec::new(
                    "rows",
                    Kind::Rows,
                    Absent::Required("rows = \"1M\""),
                    "Number of rows in each table, or the size of the tables as a multiple of the buffer pool",
                ),
            ]
        }
    }

    fn short(&self) -> Option<&'static str> {
        Some("file")
    }

    fn example(&self) -> &'static str {
        EXAMPLE
    }
}

impl DataKind for SmackData {
    fn identity(&self, values: &Values) -> String {
        let (file, rows) = Self::of(values);
        match rows {
            Rows::Count(rows) => format!("{} {rows}", file.display()),
            Rows::TimesBufferPool(ratio) => format!("{} {ratio}x", file.display()),
        }
    }

    fn size(&self, values: &Values) -> Size {
        Size::Rows(Self::of(values).1)
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        if let (_, Rows::Count(rows)) = Self::of(values) {
            let rows = quantity::smaller(rows, scale, 1, ROWS_AT_LEAST);
            values.set("rows", Value::Rows(Rows::Count(rows)));
        }
    }
}

/// Options of the clients of a .smack file.
pub struct SmackLoad;

/// The client of a .smack file to run, with its mix.
#[derive(Debug, Clone, Copy)]
pub(super) struct SmackClients<'v> {
    pub file: &'v Path,
    /// The client type to run; `None` for a file that has only one.
    pub client: Option<&'v str>,
    /// Counts for the queries of the client's barrel in their order; `None` for the file's own.
    pub mix: Option<&'v [u64]>,
}

impl<'v> SmackClients<'v> {
    pub(super) fn of(values: &'v Values) -> Self {
        Self {
            file: file(values),
            client: values.text("client"),
            mix: values.mix("mix"),
        }
    }
}

impl OptionTable for SmackLoad {
    fn name(&self) -> &'static str {
        "smack"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                FILE,
                OptionSpec::new(
                    "client",
                    Kind::Text,
                    Absent::Unset,
                    "Client type to run, if the file has several",
                ),
                OptionSpec::new(
                    "mix",
                    Kind::Mix,
                    Absent::Unset,
                    "Number of executions of each query in the client's barrel (its list of queries), instead \
                     of the numbers in the file",
                ),
            ]
        }
    }

    fn short(&self) -> Option<&'static str> {
        Some("file")
    }

    fn example(&self) -> &'static str {
        EXAMPLE
    }
}

impl LoadKind for SmackLoad {
    fn can_be_simulated(&self) -> bool {
        true
    }

    /// Each mix of a client type must have a count for each of its queries.
    fn conflict(&self, loads: &mut dyn Iterator<Item = &Values>) -> Option<Conflict> {
        let written = |mix: &[u64]| mix.iter().map(u64::to_string).collect::<Vec<_>>().join(":");
        let mut first_mixes: BTreeMap<(&Path, Option<&str>), &[u64]> = BTreeMap::new();
        for clients in loads.map(SmackClients::of) {
            let Some(mix) = clients.mix else { continue };
            let client = (clients.file, clients.client);
            let first = first_mixes.entry(client).or_insert(mix);
            if first.len() != mix.len() {
                return Some(Conflict {
                    option: "mix",
                    problem: format!(
                        "mix {:?} has {} counts, but mix {:?} has {}",
                        written(first),
                        first.len(),
                        written(mix),
                        mix.len()
                    ),
                    hint: "one count for each query of the client's barrel, 0 drops one",
                });
            }
        }
        None
    }
}
