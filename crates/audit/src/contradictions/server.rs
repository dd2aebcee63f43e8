//! Contradictions in what a record says of the server and its data.

use samples::{Edge, Record};
use units::{bytes, count};

/// How many times as large as the other one of two sizes may be: the server estimates.
const TIMES: f64 = 20.0;
/// Rows and bytes from which sizes are compared.
const ROWS_AT_LEAST: f64 = 100_000.0;
const BYTES_AT_LEAST: f64 = (1_u64 << 30) as f64;

/// Checks that the server is one from the start to the end, and the one of its variables.
pub(super) fn identity(record: &Record) -> Option<String> {
    for server in &record.servers {
        if let Some(version) = server.variables.get("version")
            && *version != server.version
        {
            return Some(format!(
                "the server's recorded version is {}, but its variable `version` is {version}",
                server.version
            ));
        }
    }
    let (first, last) = (record.servers.first()?, record.servers.last()?);
    let differ = [
        (&first.version, &last.version),
        (&first.version_comment, &last.version_comment),
        (&first.address, &last.address),
    ];
    let (at_start, at_end) = differ.into_iter().find(|(start, end)| start != end)?;
    Some(format!(
        "the server was {at_start} at the start and {at_end} at the end"
    ))
}

/// Checks that the buffer pool that is named with the data is the server's.
pub(super) fn buffer_pool(record: &Record) -> Option<String> {
    let told = record.dataset.as_ref()?.buffer_pool_bytes?;
    let server = record.servers.first()?;
    let variable: u64 = server
        .variables
        .get("innodb_buffer_pool_size")?
        .parse()
        .ok()?;
    (told != variable).then(|| {
        format!(
            "a buffer pool of {} is recorded with the data but the server has {}",
            bytes(told),
            bytes(variable)
        )
    })
}

/// Checks that the data has about the size of the tables that the server counts.
pub(super) fn data(record: &Record) -> Option<String> {
    let dataset = record.dataset.as_ref()?;
    let sizes = record.table_sizes.iter().find(|it| it.at == Edge::Start)?;
    let is_apart = |a: f64, b: f64, least: f64| a.max(b) >= least && a.max(b) > TIMES * a.min(b);
    let all_bytes = sizes.all_bytes as f64;
    if let Some(told) = dataset.disk_bytes
        && is_apart(told as f64, all_bytes, BYTES_AT_LEAST)
    {
        return Some(format!(
            "the data is recorded as {} but the tables have {}",
            bytes(told),
            bytes(sizes.all_bytes)
        ));
    }
    let of_tables: u64 = sizes.tables.iter().map(|it| it.rows).sum();
    (sizes.left_out == 0 && is_apart(dataset.rows as f64, of_tables as f64, ROWS_AT_LEAST)).then(
        || {
            format!(
                "the data is recorded as {} rows but the tables have {}",
                count(dataset.rows as f64),
                count(of_tables as f64)
            )
        },
    )
}

/// Checks that counters only grow.
pub(super) fn counters(record: &Record) -> Option<String> {
    record.server_status.iter().find_map(|reading| {
        let mut counters = reading.counters.iter();
        let (name, _) = counters.find(|(_, growth)| !growth.is_finite() || **growth < 0.0)?;
        Some(format!("the server's counter {name} decreased"))
    })
}
