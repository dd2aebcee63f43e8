//! Adds the telemetry of an observed machine and its server to a fabricated run: everything that the page can show.

use std::collections::BTreeMap;

use samples::{
    DiskRequests, InnodbStatus, Pressure, Record, ServerStatus, ServerTotals, SlowClass, SlowLog,
    TableSize, TableSizes, TotalsRow,
};

/// Counters shown on the page.
const COUNTERS: [&str; 4] = [
    "Innodb_buffer_pool_reads",
    "Innodb_pages_written",
    "Innodb_os_log_fsyncs",
    "Innodb_buffer_pool_wait_free",
];

/// The record with every kind of telemetry: a reading of the server every second, and its totals.
pub(crate) fn observed(mut record: Record) -> Record {
    let run = f64::from(record.header.run);
    for (second, sample) in record.telemetry.iter_mut().enumerate() {
        let wobble = wobble(run, second);
        sample.pressure = Some(Pressure {
            cpu_some_s: 0.713 * wobble,
            io_some_s: 0.247 * wobble,
            io_full_s: 0.1,
            memory_some_s: 0.003 * wobble,
            memory_full_s: 0.0,
        });
        if let Some(disk) = &mut sample.disk {
            disk.requests = Some(DiskRequests {
                read_s: 0.0234 * wobble,
                write_s: 0.4567 * wobble,
                flushes: Some(217),
                flush_s: Some(0.3219 * wobble),
                ..DiskRequests::default()
            });
        }
        record.server_status.push(status(second, wobble));
    }
    let variables =
        (0..600).map(|number| (format!("variable_{number}"), format!("{}", number * 1024)));
    for server in &mut record.servers {
        server.variables.extend(variables.clone());
    }
    record.server_totals = vec![
        totals(
            "performance_schema.events_statements_summary_by_digest",
            "SELECT `c` FROM `sbtest1` WHERE `id` BETWEEN ? AND ? ORDER BY `c` LIMIT ? FOR UPDATE ",
        ),
        totals(
            "performance_schema.events_waits_summary_global_by_event_name",
            "wait/synch/mutex/innodb/log_sys_write_mutex ",
        ),
        totals("information_schema.TABLE_STATISTICS", "dbdyno.http_auth_"),
        totals(
            "information_schema.INDEX_STATISTICS",
            "dbdyno.http_auth.PRIMARY_",
        ),
    ];
    record.table_sizes = vec![TableSizes {
        at: samples::Edge::End,
        tables: (0..20).map(table).collect(),
        left_out: 3,
        all_bytes: 1 << 30,
    }];
    record.slow_log = Some(SlowLog {
        statements: 4_711,
        classes: (0..12).map(slow_class).collect(),
        left_out: 5,
    });
    record
}

/// A factor around 1 with many digits, as measured values have them.
fn wobble(run: f64, second: usize) -> f64 {
    1.0 + 0.3 * (run * 1.7 + second as f64 * 0.77).sin()
}

fn status(second: usize, wobble: f64) -> ServerStatus {
    let counters = COUNTERS.iter().enumerate();
    let pages = |share: f64| Some((8_192.0 * share * wobble) as u64);
    ServerStatus {
        t_s: second as f64 + 0.1,
        length_s: 1.0,
        asked_s: 0.002,
        counters: counters
            .map(|(at, name)| ((*name).to_owned(), (at + 1) as f64 * 1_234.0 * wobble))
            .collect(),
        values: BTreeMap::from([
            ("Threads_running".to_owned(), (16.0 * wobble).round()),
            (
                "Innodb_row_lock_current_waits".to_owned(),
                (5.0 * wobble).round(),
            ),
        ]),
        innodb: Some(InnodbStatus {
            history_list_length: Some((1_000.0 * wobble) as u64),
            lsn: Some(1 << 40),
            checkpoint_lsn: Some((1 << 40) - (90e6 * wobble) as u64),
            dirty_pages: pages(0.5),
            pool_pages: pages(1.0),
            ..InnodbStatus::default()
        }),
        ..ServerStatus::default()
    }
}

fn totals(source: &str, name: &str) -> ServerTotals {
    let names = [
        "time_s",
        "count",
        "lock_s",
        "rows_examined",
        "rows_sent",
        "rows_read",
        "rows_changed",
    ];
    let rows = (0..40).map(|row| TotalsRow {
        name: format!("{name}{row}"),
        counters: names
            .iter()
            .map(|name| ((*name).to_owned(), 98_765.4 / f64::from(row + 1)))
            .collect(),
    });
    ServerTotals {
        source: source.into(),
        rows: rows.collect(),
        left_out: 60,
    }
}

fn table(number: u64) -> TableSize {
    TableSize {
        schema: "dbdyno".into(),
        table: format!("http_auth_{number}"),
        engine: "InnoDB".into(),
        rows: 1_000_000,
        row_bytes: 1_024,
        data_bytes: 1 << 30,
        index_bytes: 1 << 26,
        free_bytes: 0,
    }
}

fn slow_class(number: u64) -> SlowClass {
    SlowClass {
        fingerprint: format!(
            "select c from sbtest{number} where id between ? and ? order by c for update"
        ),
        count: 12 + number,
        total_s: 3.21,
        lock_s: 0.01,
        p50_s: 0.1,
        p95_s: 0.3,
        max_s: 0.9,
        rows_examined: 12_345,
        rows_sent: 123,
    }
}
