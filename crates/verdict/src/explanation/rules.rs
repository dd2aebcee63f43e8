//! The table of all rules, and most of their conditions.

use samples::Disturbance;
use units::{change, duration};

use super::{
    evidence::{CostChange, Evidence},
    external_causes::{limit, taken},
    finding::{Finding, Rank, SIDES},
    logs::{binary_log, statement_log},
    price,
};
use crate::{bottleneck::Resource, costs::Cost, metric::Metric};

pub(super) struct Rule {
    pub(super) name: &'static str,
    /// The condition in words.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "the documentation is held to it")
    )]
    pub(super) holds: &'static str,
    pub(super) rank: Rank,
    pub(super) judge: fn(&Evidence<'_>) -> Option<Finding>,
}

/// Minimum growth in rows per operation that increases the other costs.
const ROWS_OF_A_SCAN: f64 = 10.0;

/// All rules, in order.
pub(super) const RULES: [Rule; 20] = [
    Rule {
        name: "other programs",
        holds: "A metric differs significantly. Other programs took more than 5 % of the CPUs on one side, and this \
                share was more than 5 percentage points higher than on the other side. The rank is 1 if the lost CPU \
                time can explain at least half of the difference in throughput, otherwise 3",
        rank: Rank::Limit,
        judge: |it| {
            let what = "other programs took";
            taken(it, what, Disturbance::OTHERS, |it| it.others)
        },
    },
    Rule {
        name: "steal",
        holds: "A metric differs significantly. The hypervisor took more than 1 % of the CPUs on one side, and this \
                share was more than 1 percentage point higher than on the other side. The rank is 1 if the lost CPU \
                time can explain at least half of the difference in throughput, otherwise 3",
        rank: Rank::Limit,
        judge: |it| {
            let what = "the hypervisor took";
            taken(it, what, Disturbance::STEAL, |it| it.steal)
        },
    },
    Rule {
        name: "CPU limit",
        holds: "The CPU quota of the server's control group limited most executions on one side, but no execution \
                on the other side",
        rank: Rank::Limit,
        judge: |it| {
            limit(
                it,
                Resource::CpuQuota,
                "the CPU limit of its server's control group",
            )
        },
    },
    Rule {
        name: "disk limit",
        holds: "The disk quota of the server's control group limited most executions on one side, but no execution \
                on the other side",
        rank: Rank::Limit,
        judge: |it| {
            limit(
                it,
                Resource::DiskQuota,
                "the disk limit of its server's control group",
            )
        },
    },
    Rule {
        name: "memory",
        holds: "Memory limited most executions on one side, but no execution on the other side",
        rank: Rank::Limit,
        judge: |it| limit(it, Resource::Memory, "a lack of memory"),
    },
    Rule {
        name: "rows read",
        holds: "The cost `rows_read` differs clearly. The rank is 2 if the cost changed by more than 10 rows per \
                operation, otherwise 3",
        rank: Rank::Particular,
        judge: rows_read,
    },
    Rule {
        name: "row locks",
        holds: "The cost `row_lock_time` or the cost `row_lock_waits` differs clearly",
        rank: Rank::Particular,
        judge: row_locks,
    },
    Rule {
        name: "query cache",
        holds: "The cost `query_cache` differs clearly",
        rank: Rank::Particular,
        judge: query_cache,
    },
    Rule {
        name: "statement log",
        holds: "The variable general_log or slow_query_log differs. The log is written: log_output is not NONE, and \
                for the slow log, the longest response time reaches long_query_time, or \
                log_queries_not_using_indexes is on. In addition, `server_cpu` or `written_bytes` differs clearly \
                and is higher on the side that writes the log. For `written_bytes`, the increase must be more than \
                twice the growth of redo log, binary log and InnoDB pages together. If neither `server_cpu` nor \
                `written_bytes` was observed, it is enough that a metric differs significantly",
        rank: Rank::Particular,
        judge: statement_log,
    },
    Rule {
        name: "buffer-pool misses",
        holds: "The cost `misses` differs clearly",
        rank: Rank::Particular,
        judge: misses,
    },
    Rule {
        name: "binary log",
        holds: "The variable log_bin or sync_binlog differs, and the side that writes a binary log or syncs it more \
                often has a binary log. In addition, `binlog_bytes` or `disk_flushes` differs clearly and is higher \
                on this side. For `disk_flushes`, the increase must be greater than the increase of `fsyncs`. If \
                neither `binlog_bytes` nor `disk_flushes` was observed, it is enough that a metric differs \
                significantly",
        rank: Rank::Particular,
        judge: binary_log,
    },
    Rule {
        name: "fsyncs",
        holds: "The cost `log_fsyncs` differs clearly. If `log_fsyncs` does not differ clearly or is not available, \
                the cost `fsyncs` must differ clearly",
        rank: Rank::Particular,
        judge: fsyncs,
    },
    Rule {
        name: "temporary tables",
        holds: "The cost `tmp_disk_tables` or the cost `tmp_tables` differs clearly",
        rank: Rank::Particular,
        judge: temporary_tables,
    },
    Rule {
        name: "bytes written",
        holds: "The cost `written_bytes` differs clearly. If `written_bytes` was not observed, the cost \
                `disk_written_bytes` must differ clearly. If the time per operation differs significantly, the bytes \
                can explain at least half of the difference",
        rank: Rank::Particular,
        judge: bytes_written,
    },
    Rule {
        name: "bytes sent",
        holds: "The cost `bytes_sent` differs clearly. The servers are both MariaDB or both another product, because \
                the protocols of MariaDB and MySQL describe the same rows with different numbers of bytes. If the \
                time per operation differs significantly, the bytes can explain at least half of the difference",
        rank: Rank::Particular,
        judge: bytes_sent,
    },
    Rule {
        name: "round trip",
        holds: "The median and the shortest response time grew by similar amounts, and the median grew by more than \
                three times the growth of `server_cpu`",
        rank: Rank::General,
        judge: round_trip,
    },
    Rule {
        name: "slower disk",
        holds: "The cost `disk_stall` differs clearly, but neither `disk_reads` nor `disk_flushes` does. If a setting \
                of the flushes differs, it is named in place of the disk",
        rank: Rank::General,
        judge: slower_disk,
    },
    Rule {
        name: "server CPU",
        holds: "The cost `server_cpu` differs clearly",
        rank: Rank::General,
        judge: |it| general(it, Cost::ServerCpu, "does more work for the same operation"),
    },
    Rule {
        name: "client CPU",
        holds: "The cost `client_cpu` differs clearly",
        rank: Rank::General,
        judge: |it| {
            general(
                it,
                Cost::ClientCpu,
                "makes dbdyno do more work for the same operation",
            )
        },
    },
    Rule {
        name: "context switches",
        holds: "The cost `context_switches` differs clearly",
        rank: Rank::General,
        judge: |it| {
            general(
                it,
                Cost::ContextSwitches,
                "makes the server's threads wait more often",
            )
        },
    },
];

/// The side on which a cost is higher, in words.
fn higher(moved: &CostChange) -> &'static str {
    SIDES[moved.higher()]
}

fn rows_read(it: &Evidence<'_>) -> Option<Finding> {
    let moved = it.moved(Cost::RowsRead)?;
    let meaning = format!(
        "{} reads more rows for the same operation: an index may be missing, or the plan may be different",
        higher(&moved)
    );
    let is_scan = moved.by().abs() > ROWS_OF_A_SCAN;
    Some(Finding {
        rank: is_scan.then_some(Rank::Root),
        ..Finding::of(moved, price::ROW_US, meaning)
    })
}

fn row_locks(it: &Evidence<'_>) -> Option<Finding> {
    let time = it.moved(Cost::RowLockTime);
    let moved = time.or_else(|| it.moved(Cost::RowLockWaits))?;
    let waits = it.moved(Cost::RowLockWaits).filter(|_| time.is_some());
    let waits = waits
        .map(|waits| format!(" ({})", waits.in_words()))
        .unwrap_or_default();
    let meaning = format!(
        "on {}, operations are delayed more by row locks that other operations hold{waits}",
        higher(&moved)
    );
    let price_us = if time.is_some() { 1.0 } else { price::FLUSH_US };
    Some(Finding::of(moved, price_us, meaning))
}

fn query_cache(it: &Evidence<'_>) -> Option<Finding> {
    let moved = it.moved(Cost::QueryCache)?;
    let settings = it.settings(&["query_cache_type", "query_cache_size"]);
    let meaning = format!("{} uses the query cache more{settings}", higher(&moved));
    Some(Finding {
        // The query cache saves work for some statements and makes other statements wait.
        side: None,
        ..Finding::of(moved, price::CACHED_US, meaning)
    })
}

fn misses(it: &Evidence<'_>) -> Option<Finding> {
    let moved = it.moved(Cost::Misses)?;
    let settings = it.settings(&["innodb_buffer_pool_size"]);
    let meaning = format!(
        "{} finds fewer of the pages that it needs in the buffer pool{settings}",
        higher(&moved)
    );
    Some(Finding::of(moved, price::READ_US, meaning))
}

fn fsyncs(it: &Evidence<'_>) -> Option<Finding> {
    let moved = it
        .moved(Cost::LogFsyncs)
        .or_else(|| it.moved(Cost::Fsyncs))?;
    let setting = "innodb_flush_log_at_trx_commit";
    let is_fewer_on_b = moved.by() < 0.0;
    let fewer = SIDES[usize::from(is_fewer_on_b)];
    let of_sides = it.variable(setting);
    let of_sides = of_sides.map(|[a, b]| if is_fewer_on_b { [b, a] } else { [a, b] });
    let meaning = match of_sides {
        Some([of_fewer, of_more]) if syncs_per_commit(of_fewer) < syncs_per_commit(of_more) => {
            let what = match of_fewer {
                "1" => "syncs its redo log less often",
                _ => "does not sync its redo log at every commit",
            };
            format!("{fewer} {what}{}", it.settings(&[setting]))
        }
        _ => {
            let settings = it.settings(&[
                "innodb_doublewrite",
                "innodb_flush_method",
                "innodb_io_capacity",
            ]);
            format!("{fewer} makes fewer syncs per operation{settings}")
        }
    };
    Some(Finding::of(moved, price::FLUSH_US, meaning))
}

/// The syncs for each commit by a value of innodb_flush_log_at_trx_commit: MariaDB's 3 syncs as 1 does, and at each
/// prepare.
fn syncs_per_commit(value: &str) -> u32 {
    match value {
        "1" => 1,
        "3" => 2,
        _ => 0,
    }
}

fn temporary_tables(it: &Evidence<'_>) -> Option<Finding> {
    let settings = it.settings(&[
        "tmp_table_size",
        "max_heap_table_size",
        "internal_tmp_mem_storage_engine",
    ]);
    let (moved, price_us) = match it.moved(Cost::TmpDiskTables) {
        Some(moved) => (moved, price::TABLE_ON_DISK_US),
        None => (it.moved(Cost::TmpTables)?, price::TABLE_US),
    };
    let meaning = format!(
        "{} creates more temporary tables for the same operation{settings}",
        higher(&moved)
    );
    Some(Finding::of(moved, price_us, meaning))
}

/// The bytes of the server if known: writes of other programs to the same disk are not a cost of an operation.
fn bytes_written(it: &Evidence<'_>) -> Option<Finding> {
    let cost = if it.is_observed(Cost::WrittenBytes) {
        Cost::WrittenBytes
    } else {
        Cost::DiskWrittenBytes
    };
    let settings = ["innodb_doublewrite", "innodb_page_size", "binlog_row_image"];
    bytes(it, cost, price::WRITTEN_BYTE_US, &settings)
}

/// Bytes that take at least half of the time by which operations differ, if that is known: a few more of them are a
/// consequence of something else.
fn bytes(it: &Evidence<'_>, cost: Cost, price_us: f64, settings: &[&str]) -> Option<Finding> {
    let moved = it.moved(cost)?;
    let meaning = format!(
        "{} transfers more bytes for the same operation{}",
        higher(&moved),
        it.settings(settings)
    );
    let found = Finding::of(moved, price_us, meaning);
    let explains = |delay_us: f64| 2.0 * found.explains_us >= delay_us;
    it.delay_us().is_none_or(explains).then_some(found)
}

/// Bytes that can delay an operation: within a machine they are only copied.
fn bytes_sent(it: &Evidence<'_>) -> Option<Finding> {
    if it.is_between_products() {
        return None;
    }
    let price_us = if it.is_within_machine {
        price::COPIED_BYTE_US
    } else {
        price::SENT_BYTE_US
    };
    bytes(it, Cost::BytesSent, price_us, &[])
}

fn round_trip(it: &Evidence<'_>) -> Option<Finding> {
    let median = it
        .metric(Metric::P50)
        .filter(|metric| metric.decision.is_different())?;
    let [a_us, b_us] = it.shortest_us?;
    let (median_us, shortest_us) = (median.shift() / 1e3, b_us - a_us);
    let cpu_us = it
        .moved(Cost::ServerCpu)
        .map_or(0.0, |moved| moved.by().abs());
    // If fewer operations wait in the server at once, the median grows by less than the time in transit.
    let is_alike = median_us * shortest_us > 0.0
        && shortest_us.abs() >= 0.5 * median_us.abs()
        && shortest_us.abs() <= 2.0 * median_us.abs();
    let is_outside = median_us.abs() > 3.0 * cpu_us;
    let side = usize::from(median_us > 0.0);
    (is_alike && is_outside).then(|| Finding {
        cost: None,
        sentence: format!(
            "on {}, the median response time is {} longer and the shortest is {} longer, which the server's CPU time does not explain: the round trip is longer",
            SIDES[side],
            duration(median_us.abs() * 1e3),
            duration(shortest_us.abs() * 1e3)
        ),
        explains_us: median_us.abs(),
        side: Some(side),
        rank: None,
    })
}

fn slower_disk(it: &Evidence<'_>) -> Option<Finding> {
    let moved = it.moved(Cost::DiskStall)?;
    let requests = [Cost::DiskReads, Cost::DiskFlushes].into_iter();
    if requests.filter_map(|cost| it.moved(cost)).next().is_some() {
        return None;
    }
    // The same disk, which one side uses in another way.
    let settings = it.settings(&[
        "innodb_flush_log_at_trx_commit",
        "sync_binlog",
        "log_bin",
        "innodb_flush_method",
        "innodb_doublewrite",
    ]);
    let higher = higher(&moved);
    let meaning = if settings.is_empty() {
        format!("on {higher}, the disk is slower, or other programs use it")
    } else {
        format!("{higher} waits longer for the disk{settings}")
    };
    Some(Finding::of(moved, 1.0, meaning))
}

fn general(it: &Evidence<'_>, cost: Cost, meaning: &str) -> Option<Finding> {
    let moved = it.moved(cost)?;
    let [least, most] = [moved.a.min(moved.b), moved.a.max(moved.b)];
    let more = if least > 0.0 {
        change(most / least)
    } else {
        "new".to_owned()
    };
    let meaning = format!("{more}; {} {meaning}", higher(&moved));
    Some(Finding::of(moved, 1.0, meaning))
}
