//! The disk space that a private server needs, as far as its settings and its data say it before it exists.

use settings::quantity;

use crate::{
    plan::{PlannedRun, estimate::known_data_bytes},
    spec::server::ServerSpec,
};

/// System tablespace and system tables of an empty server, bytes: those of the smallest one.
const SYSTEM_BYTES: u64 = 16 << 20;
/// Redo log of a server that does not set it, bytes: the default from MySQL 5.6 and MariaDB 10.5 on.
const REDO_BYTES: u64 = 96 << 20;

/// Bytes that the private server of a run needs on the disk at least: system tablespaces, the redo log that its settings ask
/// for, and its data where the size is known. The kept copy of the data is left out, because it can share the blocks of the
/// original.
pub fn server_bytes_at_least(run: &PlannedRun) -> u64 {
    let is_pool_known = is_known(run, "innodb_buffer_pool_size");
    let data = run.data.as_ref();
    let data = data.filter(|data| is_pool_known || !data.follows_buffer_pool());
    let data = data.and_then(|data| known_data_bytes(run, data));
    let bytes = SYSTEM_BYTES.saturating_add(redo_bytes(run));
    bytes.saturating_add(data.unwrap_or(0.0) as u64)
}

/// Whether the value of an option is known: `set` has it, or it has its default, because no option file can set it.
fn is_known(run: &PlannedRun, option: &str) -> bool {
    let has_files = matches!(&run.server, ServerSpec::Private { cnf, .. } if !cnf.is_empty());
    !has_files || run.server.option(option).is_some()
}

/// Whether the file names a MySQL as the server.
fn is_of_mysql(run: &PlannedRun) -> bool {
    match &run.server {
        ServerSpec::Private { run, .. } => run.as_ref().is_some_and(|it| it.starts_with("mysql")),
        ServerSpec::Given { .. } | ServerSpec::Absent => false,
    }
}

fn redo_bytes(run: &PlannedRun) -> u64 {
    let option = |name| run.server.option(name).and_then(quantity::bytes);
    // MariaDB from 10.5 on has one file, whatever it is asked for.
    let files = option("innodb_log_files_in_group").filter(|_| is_of_mysql(run));
    let of_files = |each: u64| each.saturating_mul(files.unwrap_or(1));
    let of_files = option("innodb_log_file_size").map(of_files);
    let asked = option("innodb_redo_log_capacity").or(of_files);
    asked.unwrap_or(if is_known(run, "innodb_log_file_size") {
        REDO_BYTES
    } else {
        0
    })
}
