//! The options of the two tables of MediaWiki.

use settings::{Absent, Conflict, DataKind, Kind, OptionSpec, OptionTable, Size, Value, Values};

use super::{
    plan::{WikiPlan, end_of},
    schema::KeyTime,
};

/// Bytes on disk per page, with its revisions and all keys, of the article's tables.
const DISK_BYTES: f64 = 1.02e9 / 1_670_757.0;
/// Fewer pages would have fewer rows than a page of the most edited ones has revisions.
const PAGES_MIN: u64 = 100;
/// More would not fit into the columns of numbers.
const PAGES_MAX: u64 = 100_000_000;

/// Options of `page` and `revision`.
pub struct WikiData;

impl OptionTable for WikiData {
    fn name(&self) -> &'static str {
        "wiki"
    }

    fn options(&self) -> &'static [OptionSpec] {
        const {
            &[
                OptionSpec::new(
                    "pages",
                    Kind::Count(PAGES_MIN, PAGES_MAX),
                    Absent::Default("1670757"),
                    "Number of rows in `page`; the number of rows in `revision` is 0.957 times this number",
                ),
                OptionSpec::new(
                    "until",
                    Kind::Text,
                    Absent::Default("2013-03-03"),
                    "End date of the page history: the last revision is just before this date, and the first revision \
                     is ten years before it",
                ),
                OptionSpec::new(
                    "key_time",
                    Kind::Choice(&["before", "after"]),
                    Absent::Default("before"),
                    "When to create the secondary keys: before the rows are loaded, as a dump does (before), or after \
                     they are loaded, which makes the keys smaller (after)",
                ),
            ]
        }
    }

    fn example(&self) -> &'static str {
        "wiki = { pages = 100000 }"
    }

    fn fault(&self, values: &Values) -> Option<Conflict> {
        let until = values.text("until").unwrap_or_default();
        end_of(values).is_none().then(|| Conflict {
            option: "until",
            problem: format!("{until:?} is not a date from 1980 to 9999"),
            hint: "such as \"2013-03-03\"",
        })
    }
}

impl DataKind for WikiData {
    /// `wiki 1670757 2013-03-03 before`
    fn identity(&self, values: &Values) -> String {
        let plan = WikiPlan::of(values);
        let until = values.text("until").unwrap_or_default();
        let time = match plan.key_time {
            KeyTime::Before => "before",
            KeyTime::After => "after",
        };
        format!("wiki {} {until} {time}", plan.pages)
    }

    fn size(&self, values: &Values) -> Size {
        Size::Bytes(WikiPlan::of(values).pages as f64 * DISK_BYTES)
    }

    fn shrink(&self, values: &mut Values, scale: f64) {
        let pages = WikiPlan::of(values).pages;
        let smaller = ((pages as f64 * scale) as u64).max(PAGES_MIN).min(pages);
        values.set("pages", Value::Count(smaller));
    }
}
