//! Options that came or went within a series, between the version of its catalogue and others.

use crate::catalogue::{Family, Product};
use crate::target::Target;

/// An option that only some versions of a series have.
struct SeriesOption {
    product: Product,
    name: &'static str,
    series: [u32; 2],
    /// The last numbers of the first version that has it, and of the first that no longer does.
    first: u32,
    end: u32,
}

const fn removed(name: &'static str, end: u32) -> SeriesOption {
    SeriesOption {
        product: Product::Percona,
        name,
        series: [8, 0],
        first: 0,
        end,
    }
}

/// Source: MySQL 8.0 Reference Manual, "Server and Status Variables and Options Added, Deprecated, or Removed in MySQL 8.0";
/// Percona Server 8.0 documentation, "XtraDB changed page tracking".
static OPTIONS: [SeriesOption; 4] = [
    SeriesOption {
        product: Product::MySql,
        name: "check_table_functions",
        series: [8, 0],
        first: 42,
        end: u32::MAX,
    },
    removed("innodb_max_bitmap_file_size", 30),
    removed("innodb_max_changed_pages", 30),
    removed("innodb_track_changed_pages", 30),
];

/// Whether a version has an option that the catalogue of its series does not have. Percona Server has what MySQL has.
pub(crate) fn has_within_series(target: &Target, name: &str) -> bool {
    let &[major, minor, patch, ..] = target.numbers() else {
        return false;
    };
    let mut options = OPTIONS.iter();
    options.any(|option| {
        let is_its = option.product == target.product()
            || (option.product == Product::MySql && target.family() == Family::MySql);
        is_its
            && option.name == name
            && option.series == [major, minor]
            && (option.first..option.end).contains(&patch)
    })
}
