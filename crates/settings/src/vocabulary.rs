//! What an experiment file can say of data and load, without any benchmark by name.

use std::{fmt, path::PathBuf};

use crate::{
    option::OptionSpec,
    value::{Rows, Values},
};

/// The tables that `[data]` and `[load]` can have: what stands later in a list wins where a file has several.
pub struct Vocabulary {
    /// The tables under `[data]`.
    pub data: Vec<&'static dyn DataKind>,
    /// The tables under `[load]`.
    pub loads: Vec<&'static dyn LoadKind>,
}

/// A table of options: `oltp = { tables = 10 }`.
pub trait OptionTable: Sync {
    fn name(&self) -> &'static str;

    fn options(&self) -> &'static [OptionSpec];

    /// The option that a plain string in the place of the table stands for; the other options may stand beside it then.
    fn short(&self) -> Option<&'static str> {
        None
    }

    /// Its options are keys of the section itself, and any of them stands for the table: `sql = "schema.sql"` below
    /// `[data]`.
    fn is_flat(&self) -> bool {
        false
    }

    /// An example of its use, for a file that has nothing.
    fn example(&self) -> &'static str;

    /// What is wrong with values of which each alone is right.
    fn fault(&self, _values: &Values) -> Option<Conflict> {
        None
    }
}

/// How large a data set is, as far as is known before it is loaded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// Approximate size on disk, bytes.
    Bytes(f64),
    Rows(Rows),
}

/// Data that an experiment can load.
pub trait DataKind: OptionTable {
    /// What tells its data from other data, in words: two data sets with the same words can use one copy.
    fn identity(&self, values: &Values) -> String;

    fn size(&self, values: &Values) -> Size;

    /// Makes it smaller by a factor below 1; data whose size follows the buffer pool shrinks with that.
    fn shrink(&self, values: &mut Values, scale: f64);

    /// The files that the files among its values name.
    fn named_files(&self, _values: &Values) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Its tables are made on a private server only.
    fn needs_private_server(&self, _values: &Values) -> bool {
        false
    }
}

/// A load that an experiment can measure.
pub trait LoadKind: OptionTable {
    /// Keys of `[load]` that say nothing about it.
    fn meaningless(&self, _values: &Values) -> &'static [&'static str] {
        &[]
    }

    /// It is done once and is then over: it has no warm-up and no duration.
    fn ends_by_itself(&self, _values: &Values) -> bool {
        false
    }

    /// What it does, for a command that measures it on its own data and has the options of both; `None` for a load that
    /// takes files, or ends by itself.
    fn summary(&self) -> Option<&'static str> {
        None
    }

    /// It uses a server. What does not has neither `[server]` nor `[data]` nor statements.
    fn needs_server(&self) -> bool {
        true
    }

    /// Its times are set before it begins: a warm-up cannot last until the run is steady.
    fn has_set_times(&self) -> bool {
        false
    }

    /// Clients that its options say; `None` where `connections` says it.
    fn clients(&self, _values: &Values) -> Option<u32> {
        None
    }

    fn needed_data(&self, _values: &Values) -> Option<NeededData> {
        None
    }

    /// What of its own data set does not go with it.
    fn fault_with_data(&self, _values: &Values, _data: &Values) -> Option<Conflict> {
        None
    }

    /// Makes what it does by count smaller by a factor below 1.
    fn shrink(&self, _values: &mut Values, _scale: f64) {}

    /// What slices of its time, between which it rests, would measure wrongly.
    fn fault_with_slices(&self, _values: &Values) -> Option<Conflict> {
        None
    }

    /// What of its data set it wants to meet otherwise than it was loaded, in words.
    fn wants_of_data(&self, _values: &Values) -> Option<String> {
        None
    }

    /// Figures that only it has: `new_orders_per_min`.
    fn own_metrics(&self) -> &'static [&'static str] {
        &[]
    }

    /// Variables of the server that it sets itself.
    fn sets_variables(&self, _values: &Values) -> &'static [&'static str] {
        &[]
    }

    /// A server that does nothing can take its statements.
    fn can_be_simulated(&self) -> bool {
        false
    }

    /// The files that the files among its values name.
    fn named_files(&self, _values: &Values) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What is wrong with the loads of several combinations that is wrong with none of them alone.
    fn conflict(&self, _loads: &mut dyn Iterator<Item = &Values>) -> Option<Conflict> {
        None
    }
}

/// The data that a load cannot do without.
#[derive(Debug, Clone, Copy)]
pub struct NeededData {
    /// On a server that is there it may be there already.
    pub may_be_found: bool,
    /// What is wrong without it.
    pub missing: &'static str,
    pub hint: &'static str,
}

/// Values that do not go together, in one table or in those of two combinations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The option that is to be changed.
    pub option: &'static str,
    pub problem: String,
    pub hint: &'static str,
}

/// A table of options with its values.
pub struct Chosen<K: ?Sized + 'static> {
    pub kind: &'static K,
    pub values: Values,
}

impl<K: ?Sized + OptionTable> Chosen<K> {
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }
}

impl<K: ?Sized> Clone for Chosen<K> {
    fn clone(&self) -> Self {
        Self {
            kind: self.kind,
            values: self.values.clone(),
        }
    }
}

impl<K: ?Sized + OptionTable> PartialEq for Chosen<K> {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), &self.values) == (other.name(), &other.values)
    }
}

impl<K: ?Sized + OptionTable> fmt::Debug for Chosen<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", self.name(), self.values)
    }
}
