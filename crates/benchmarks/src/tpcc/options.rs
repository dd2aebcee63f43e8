//! The options of TPC-C's data and load.

use settings::{
    Absent, Conflict, DataKind, Kind, LoadKind, NeededData, OptionSpec, OptionTable, Size, Value,
    Values,
};

use super::{Deliveries, key_and_think_times::Pacing, population::WAREHOUSES_MAX};

/// Approximate size of a warehouse on disk, bytes.
const DISK_BYTES: f64 = 100e6;

const EXAMPLE: &str = "tpcc = { warehouses = 10 }";

/// Options of the tables of TPC-C.
pub struct TpccData;

/// The tables to create.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataOptions {
    /// Number of warehouses, about 100 MB each.
    pub warehouses: u32,
    /// Whether to create the foreign keys, and the indexes that only they need.
    pub foreign_keys: bool,
}

impl DataOptions {
    pub(super) fn of(values: &Values) -> Self {
        let warehouses = values.count("warehouses").expect("it is required");
        Self {
            warehouses: warehouses.try_into().expect("it is bounded"),
            foreign_keys: values.flag("foreign_keys"),
        }
    }
}

impl OptionTable for TpccData {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                OptionSpec::new(
                    "warehouses",
                    Kind::Count(1, WAREHOUSES_MAX as u64),
                    Absent::Required("warehouses = 10"),
                    "Number of warehouses, about 100 MB each",
                ),
                OptionSpec::new(
                    "foreign_keys",
                    Kind::Flag,
                    Absent::Default("on"),
                    "Create foreign keys, and the indexes that only they need",
                ),
            ]
        }
    }

    fn example(&self) -> &'static str {
        EXAMPLE
    }
}

impl DataKind for TpccData {
    /// `tpcc 4 with foreign keys`
    fn identity(&self, values: &Values) -> String {
        let options = DataOptions::of(values);
        let with = if options.foreign_keys {
            "with"
        } else {
            "without"
        };
        format!("tpcc {} {with} foreign keys", options.warehouses)
    }

    fn size(&self, values: &Values) -> Size {
        Size::Bytes(f64::from(DataOptions::of(values).warehouses) * DISK_BYTES)
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        let warehouses = f64::from(DataOptions::of(values).warehouses) * scale;
        let warehouses = (warehouses.round() as u64).max(1);
        values.set("warehouses", Value::Count(warehouses));
    }

    fn needs_private_server(&self, _values: &Values) -> bool {
        true
    }
}

/// Options of the terminals of TPC-C, one for each connection.
pub struct TpccLoad;

/// The mode of the terminals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOptions {
    /// Whether they pause for the specification's key and think times.
    pub pacing: Pacing,
    /// Whether to check the consistency conditions: before the run for existing data, and after it in any case.
    pub check: bool,
    pub deliveries: Deliveries,
}

impl LoadOptions {
    pub fn of(values: &Values) -> Self {
        Self {
            pacing: match values.text("pacing") {
                Some("spec") => Pacing::Specification,
                _ => Pacing::None,
            },
            check: values.flag("check"),
            deliveries: match values.text("delivery") {
                Some("deferred") => Deliveries::Deferred,
                _ => Deliveries::Inline,
            },
        }
    }
}

impl OptionTable for TpccLoad {
    fn name(&self) -> &'static str {
        "tpcc"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                OptionSpec::new(
                    "pacing",
                    Kind::Choice(&["none", "spec"]),
                    Absent::Default("none"),
                    "Keying and think times: none, or those in the TPC-C specification (spec)",
                ),
                OptionSpec::new(
                    "delivery",
                    Kind::Choice(&["deferred", "inline"]),
                    Absent::Changed {
                        now: "deferred",
                        formerly: "inline",
                    },
                    "Where Delivery transactions run: on background connections, one for every four terminals \
                     (deferred), or on the terminal's own connection (inline)",
                ),
                OptionSpec::new(
                    "check",
                    Kind::Flag,
                    Absent::Default("on"),
                    "Check the consistency conditions after the run, and before it if the data already existed",
                ),
            ]
        }
    }

    fn example(&self) -> &'static str {
        EXAMPLE
    }
}

impl LoadKind for TpccLoad {
    fn summary(&self) -> Option<&'static str> {
        Some("TPC-C's transactions; do not compare the results with published results")
    }

    /// The mix, the pauses and the retries of terminals are defined by the specification.
    fn meaningless(&self, _values: &Values) -> &'static [&'static str] {
        &["rate", "arrivals", "think_time", "on_error"]
    }

    fn needed_data(&self, _values: &Values) -> Option<NeededData> {
        Some(NeededData {
            may_be_found: true,
            missing: "[load] tpcc runs on the tables of [data] tpcc, which is missing",
            hint: "add [data] with tpcc = { warehouses = 10 }; an existing server may already have the tables",
        })
    }

    fn fault_with_slices(&self, values: &Values) -> Option<Conflict> {
        let options = LoadOptions::of(values);
        if options.pacing == Pacing::Specification {
            return Some(Conflict {
                option: "pacing",
                problem: "with pacing = \"spec\", a terminal has a transaction in about 20 s, and hardly any in a slice"
                    .to_owned(),
                hint: "write pacing = \"none\" (ab: --pacing none), or design = \"classical\"",
            });
        }
        (options.deliveries == Deliveries::Deferred).then(|| Conflict {
            option: "delivery",
            problem: "with delivery = \"deferred\", which is the default, a delivery can wait for a later turn, and \
                      this wait would not be measured"
                .to_owned(),
            hint: "write delivery = \"inline\" (ab: --delivery inline), or design = \"classical\"",
        })
    }

    fn own_metrics(&self) -> &'static [&'static str] {
        &["new_orders_per_min"]
    }
}
