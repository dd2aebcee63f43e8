//! `dbdyno report` of a measurement of storage: its page, JSON, CSV and charts.

use std::path::{Path, PathBuf};

use blame::{Blame, Blamed};
use report::{storage_csv, storage_html, storage_json, storage_pictures};
use results::storage_results::{AuditedStorage, JOB_FILE, read, record_file};

use super::{
    charts::{chosen, document_of, write_charts},
    format::Format,
};

/// A job file of 137 patterns is a hundredth of this, bytes.
const JOB_FILE_AT_MOST: u64 = 1 << 20;

/// What was asked for, as on the command line.
pub(super) struct ReportRequest<'a> {
    pub(super) results: &'a [PathBuf],
    pub(super) format: Format,
    /// The directory of all charts.
    pub(super) charts: Option<&'a Path>,
    /// The name of one chart.
    pub(super) chart: Option<&'a str>,
    pub(super) seconds: bool,
}

/// The document in this format; `None` where the results are runs of a server, or where the charts were written.
pub(super) fn document(wanted: &ReportRequest<'_>) -> anyhow::Result<Option<Vec<u8>>> {
    let Some(file) = wanted.results.iter().find_map(|path| record_file(path)) else {
        return Ok(None);
    };
    if wanted.results.len() > 1 {
        let message = format!("{} is a storage measurement", file.display());
        let hint = "name it alone: each storage measurement has its own report".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    if wanted.seconds {
        let message = "--seconds is for runs of a server";
        let hint = "the csv of a burst contains per-second values".to_owned();
        return Err(Blamed::new(Blame::Input, message).hint(hint).into());
    }
    let AuditedStorage { record, audit } = AuditedStorage::of(&read(&file)?);
    let format = wanted.format;
    if let Some(directory) = wanted.charts {
        write_charts(storage_pictures(&record, &audit), format, directory)?;
        return Ok(Some(Vec::new()));
    }
    let document = match format {
        Format::Html => {
            let job = job_file(&file);
            storage_html(&record, &audit, job.as_deref()).into_bytes()
        }
        Format::Json => storage_json(&record, &audit).into_bytes(),
        Format::Csv => storage_csv(&record).into_bytes(),
        Format::Svg | Format::Png => {
            let pictures = storage_pictures(&record, &audit);
            document_of(&chosen(pictures, wanted.chart)?, format)?
        }
        Format::Markdown | Format::Junit | Format::Openmetrics | Format::Parquet => {
            let message = format!("a storage measurement has no {}", format.name());
            let hint = "html, json, csv, svg and png are its formats".to_owned();
            return Err(Blamed::new(Blame::Input, message).hint(hint).into());
        }
    };
    Ok(Some(document))
}

/// What fio was given, where it lies beside the record.
fn job_file(record: &Path) -> Option<String> {
    let path = record.with_file_name(JOB_FILE);
    files::read_regular_text(&path, JOB_FILE_AT_MOST).ok()
}
