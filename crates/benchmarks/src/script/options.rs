//! The options of a load of scripts.

use std::{collections::BTreeMap, path::PathBuf};

use settings::{Absent, Kind, LoadKind, OptionSpec, OptionTable, Values};

use super::{
    plan::{Mode, Settings},
    scripts::{WeightedFile, list_files},
};

/// Options of a load of scripts.
pub struct ScriptLoad;

impl ScriptLoad {
    /// Options besides the files and the variables.
    pub const NUMBERS: &[OptionSpec] = &[
        OptionSpec::with_default(
            "mode",
            Kind::Choice(Mode::NAMES),
            "prepared",
            "How statements are sent: prepared once per connection (prepared), as text (text), or prepared for each \
             execution (prepare-each)",
        ),
        OptionSpec::with_default(
            "scale",
            Kind::Count(1, 1_000_000_000),
            "1",
            "Value of the variable :scale in the scripts",
        ),
    ];

    /// The scripts with their weights.
    pub fn files(values: &Values) -> Vec<WeightedFile<'_>> {
        let files = values.weighted_files("files").expect("it is required");
        let files = files.iter().map(|file| WeightedFile {
            path: &file.path,
            weight: file.weight,
        });
        files.collect()
    }

    /// The variables that the load defines.
    pub fn defined(values: &Values) -> BTreeMap<String, String> {
        values.pairs("define").cloned().unwrap_or_default()
    }

    /// The numbers of a run.
    pub fn settings(values: &Values, connections: u32, seed: u64) -> Settings {
        let mode = values.text("mode").and_then(Mode::of);
        Settings {
            mode: mode.expect("it has a default"),
            scale: values.count("scale").expect("it has a default"),
            connections,
            seed,
        }
    }
}

impl OptionTable for ScriptLoad {
    fn name(&self) -> &'static str {
        "script"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                OptionSpec::new(
                    "files",
                    Kind::WeightedFiles("script"),
                    Absent::Required("files = [\"orders.sql@70\", \"search.sql@30\"]"),
                    "Scripts, each with its weight",
                ),
                ScriptLoad::NUMBERS[0],
                ScriptLoad::NUMBERS[1],
                OptionSpec::without_default("define", Kind::Pairs, "Values of script variables"),
            ]
        }
    }

    fn short(&self) -> Option<&'static str> {
        Some("files")
    }

    fn example(&self) -> &'static str {
        "script = \"orders.sql\""
    }
}

impl LoadKind for ScriptLoad {
    fn can_be_simulated(&self) -> bool {
        true
    }

    fn named_files(&self, values: &Values) -> Vec<PathBuf> {
        list_files(Self::files(values).into_iter().map(|file| file.path))
    }
}
