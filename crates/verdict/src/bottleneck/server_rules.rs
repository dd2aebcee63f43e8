//! The rules that use the server's own figures: how the connections spent their time.

use units::{bits_per_s, count, percent, seconds, si};

use super::{server_signals::ServerSignals, signals::Signals, words::waited_for_disks};

/// Minimum share of the connections' time that a cause must have taken to be named.
///
/// Two connections that only wait for each other lose at most half of their time.
const MUCH: f64 = 0.4;

/// The text for the share of the connections' time if that is at least [`MUCH`].
fn if_significant(share: f64, words: impl FnOnce(String) -> String) -> Option<String> {
    // Connections of other clients are included, so the share can exceed 1.
    (share >= MUCH).then(|| words(percent(share.min(1.0))))
}

pub(super) fn row_locks(signals: &Signals) -> Option<String> {
    let share = signals.server.as_ref()?.row_locks;
    if_significant(share, |share| {
        format!("the connections spent {share} of their time waiting for row locks")
    })
}

pub(super) fn table_locks(signals: &Signals) -> Option<String> {
    let server = signals.server.as_ref()?;
    if_significant(
        server.in_states(|state| state == "Waiting for table level lock"),
        |share| format!("the connections spent {share} of their time waiting for table locks"),
    )
}

/// States of threads that wait for a lock on a table definition, or for a lock that stops all writes.
fn is_metadata_lock(state: &str) -> bool {
    const GLOBAL: [&str; 4] = [
        "Waiting for global read lock",
        "Waiting for commit lock",
        "Waiting for backup lock",
        "Waiting for table flush",
    ];
    GLOBAL.contains(&state)
        || state.starts_with("Waiting for ") && state.ends_with(" metadata lock")
}

pub(super) fn metadata_locks(signals: &Signals) -> Option<String> {
    let server = signals.server.as_ref()?;
    if_significant(server.in_states(is_metadata_lock), |share| {
        format!(
            "the connections waited {share} of their time for another session that changes or locks a table, or that locks the whole server"
        )
    })
}

pub(super) fn user_locks(signals: &Signals) -> Option<String> {
    let server = signals.server.as_ref()?;
    if_significant(server.in_states(|state| state == "User lock"), |share| {
        format!("the connections waited for user locks (GET_LOCK) {share} of their time")
    })
}

pub(super) fn query_cache(signals: &Signals) -> Option<String> {
    let server = signals.server.as_ref()?;
    if_significant(
        server.in_states(|state| state == "Waiting for query cache lock"),
        |share| {
            format!(
                "the connections waited for the query cache's single lock {share} of their time"
            )
        },
    )
}

pub(super) fn innodb_concurrency(signals: &Signals) -> Option<String> {
    if_significant(signals.server.as_ref()?.queued, |share| {
        format!(
            "the connections waited to enter InnoDB {share} of their time (limit: innodb_thread_concurrency)"
        )
    })
}

pub(super) fn checkpoint(signals: &Signals) -> Option<String> {
    let age = signals.server.as_ref()?.checkpoint_age?;
    (age >= 0.9).then(|| {
        format!(
            "the checkpoint age reached {} of InnoDB's limit, so statements that change data waited until modified pages were flushed; a larger redo log would reduce these waits",
            percent(age)
        )
    })
}

/// States of threads that commit; the slow part of a commit is the sync of the logs.
fn is_commit(state: &str) -> bool {
    const COMMITS: [&str; 4] = [
        "Commit",
        "query end",
        "waiting for handler commit",
        "Waiting for prior transaction to commit",
    ];
    COMMITS
        .iter()
        .any(|commit| commit.eq_ignore_ascii_case(state))
}

pub(super) fn disk_flushes(signals: &Signals) -> Option<String> {
    of_a_disk(signals).or_else(|| of_commits(signals.server.as_ref()?))
}

fn of_a_disk(signals: &Signals) -> Option<String> {
    let disk = signals.disk.as_ref().filter(|disk| disk.flushing >= 0.3)?;
    let waited = waited_for_disks(signals)?;
    Some(format!(
        "{} flushed its cache {} times per second, which took {} of the time{waited}{}",
        disk.device,
        count(disk.flushes_per_s),
        percent(disk.flushing),
        syncs(signals)
    ))
}

fn of_commits(server: &ServerSignals) -> Option<String> {
    if server.synced_by.is_empty() {
        return None;
    }
    if_significant(server.in_states(is_commit), |share| {
        format!(
            "the connections spent {share} of their time in commits, and each commit syncs a log ({}): {} syncs per second for {} statements per second",
            server.synced_by.join(", "),
            count(server.syncs_per_s),
            count(server.statements_per_s)
        )
    })
}

/// The server's own count of its syncs.
fn syncs(signals: &Signals) -> String {
    match &signals.server {
        Some(server) => format!(
            "; the server made {} syncs per second for {} statements per second",
            count(server.syncs_per_s),
            count(server.statements_per_s)
        ),
        None => String::new(),
    }
}

/// Evidence for a disk that reads: pages missing from the buffer pool.
pub(super) fn page_reads(signals: &Signals) -> String {
    let server = signals.server.as_ref();
    let reads = server.filter(|it| it.page_reads_per_s >= 1.0 && it.statements_per_s > 0.0);
    reads.map_or_else(String::new, |it| {
        format!(
            "; {} pages per statement were not in the buffer pool",
            si(it.page_reads_per_s / it.statements_per_s)
        )
    })
}

/// States of threads in the middle of sending or receiving.
pub(super) fn is_transfer(state: &str) -> bool {
    const TRANSFERS: [&str; 4] = [
        "Writing to net",
        "Sending to client",
        "Reading from net",
        "Receiving from client",
    ];
    TRANSFERS.contains(&state)
}

/// Finds a network that is too slow for the amount of data: threads wait for it in the middle of a packet, or
/// statements spend a long time in transit.
pub(super) fn transfers(signals: &Signals) -> Option<String> {
    let server = signals.server.as_ref()?;
    signals.load.filter(|load| load.is_networked)?;
    let in_packets = if_significant(server.in_states(is_transfer), |share| {
        format!(
            "the server's threads spent {share} of their time waiting for the network in the middle of a packet"
        )
    });
    in_packets.or_else(|| {
        let way = InTransit::of(signals)?;
        let connect_s = signals.client.connect_s.filter(|connect_s| way.each_s > *connect_s)?;
        Some(format!(
            "a statement spent {} on the network, which is longer than opening a connection took ({}), so the network between client and server is too slow for {} of data",
            seconds(way.each_s),
            seconds(connect_s),
            bits_per_s(server.bytes_per_s)
        ))
    })
}

/// Statements on which neither the client nor the server is working.
struct InTransit {
    /// Share of the connections that wait for a result.
    in_flight: f64,
    /// Share of these on which the server is working.
    running: f64,
    /// Time of a statement in transit from client to server and back, seconds.
    each_s: f64,
}

impl InTransit {
    /// `None` if that is less than half of the connections' time, or if they may be waiting for a CPU.
    fn of(signals: &Signals) -> Option<Self> {
        let (load, server) = (signals.load?, signals.server.as_ref()?);
        let running = server.running?.clamp(0.0, 1.0);
        let away = load.in_flight - running;
        if away < 0.5 || signals.cpu.is_some_and(|cpu| cpu.idle < 0.3) {
            return None;
        }
        let connections = f64::from(load.connections);
        Some(Self {
            in_flight: load.in_flight,
            running,
            each_s: away * connections / server.statements_per_s.max(1.0),
        })
    }
}

pub(super) fn connection_limit(signals: &Signals) -> Option<String> {
    let refused = signals.server.as_ref()?.refused;
    (refused > 0.0).then(|| {
        format!("the server refused {refused:.0} connections because max_connections was reached")
    })
}

pub(super) fn connections(signals: &Signals) -> Option<String> {
    let load = signals.load?;
    if load.has_too_few_connections {
        return Some(format!(
            "{} connections are too few for the requested rate: all of them were in use, although the server did not slow down",
            load.connections
        ));
    }
    let cpu = signals.cpu.filter(|cpu| cpu.idle >= 0.2)?;
    let each = (cpu.server + cpu.client) * cpu.cpus / f64::from(load.connections.max(1));
    (load.in_flight >= 0.9 && each >= 0.5).then(|| {
        format!(
            "{} used {} of a CPU, and the CPUs were idle {} of the time: more connections could use the idle CPUs",
            match load.connections {
                1 => "the only connection".to_owned(),
                many => format!("each of the {many} connections"),
            },
            percent(each),
            percent(cpu.idle)
        )
    })
}

pub(super) fn round_trips(signals: &Signals) -> Option<String> {
    let way = InTransit::of(signals)?;
    Some(format!(
        "on average, {} of the connections were waiting for an answer, but the server was working for only {} of the connections: a statement spent {} on the network",
        percent(way.in_flight),
        percent(way.running),
        seconds(way.each_s)
    ))
}
