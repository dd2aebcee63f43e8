//! The answer of a measurement of a disk.

use report::{storage_details, storage_summary};
use results::storage_results::WrittenStorage;

use crate::commands::run::terminal_width;

/// Prints the answer, and the tables behind it.
pub(crate) fn print(written: &WrittenStorage) {
    let (record, audit) = (&written.audited.record, &written.audited.audit);
    let page = written.page.display().to_string();
    print!(
        "{}",
        storage_summary(record, audit, &page, terminal_width())
    );
    let details = storage_details(record);
    if !details.is_empty() {
        print!("\n{details}");
    }
}
