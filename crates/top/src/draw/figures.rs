//! The groups of figures: throughput, response times, server, InnoDB, CPU, disk.

use super::{
    blocks::{Figure, Group, Reading},
    scene::Scene,
};
use crate::{
    figure::{bytes, bytes_per_s, duration, number, percent_sign, span},
    load::LoadMoment,
    machine::{DiskMoment, MachineMoment},
    playback::Source,
    server::ServerMoment,
};

/// Share of a resource's use from which on it is almost exhausted.
const NEARLY_ALL: f64 = 0.9;
/// Share of the redo log from which on InnoDB flushes aggressively.
const CHECKPOINT_HURRY: f64 = 0.75;

impl<'a> Scene<'a> {
    fn load(self) -> Reading<'a, LoadMoment> {
        Reading {
            timeline: &self.model.load,
            at_s: self.at_s,
        }
    }

    fn server(self) -> Reading<'a, ServerMoment> {
        Reading {
            timeline: &self.model.server,
            at_s: self.at_s,
        }
    }

    fn machine(self) -> Reading<'a, MachineMoment> {
        Reading {
            timeline: self.model.machine(),
            at_s: self.at_s,
        }
    }

    fn has_load(self) -> bool {
        self.model.load.start_s().is_some()
    }

    /// The reason why a requested value of the server or the machine is missing; `None` if none is missing.
    pub(super) fn missing(self, what: &str) -> Option<String> {
        let known = self.model.not_observed.iter();
        known
            .filter(|missing| missing.contains(what))
            .map(|missing| missing.replacen(" not observed: ", ": ", 1))
            .next()
    }
}

pub(super) fn throughput(scene: Scene<'_>) -> Group {
    let (load, server) = (scene.load(), scene.server());
    // Beside the load's own figures, the server's statements by kind are less important.
    let by_kind = |figure: Figure| {
        if scene.has_load() {
            figure.minor()
        } else {
            figure
        }
    };
    let figures = vec![
        load.figure("operations/s", number, |it| Some(it.operations_per_s)),
        load.figure("statements/s", number, |it| it.statements_per_s),
        load.figure("errors/s", number, |it| Some(it.errors_per_s))
            .alarming_from(f64::MIN_POSITIVE),
        load.figure("waiting", number, |it| it.waiting.map(|it| it as f64))
            .minor(),
        server.figure("queries/s", number, |it| it.queries_per_s),
        by_kind(server.figure("SELECT/s", number, |it| it.selects_per_s)),
        by_kind(server.figure("INSERT/s", number, |it| it.inserts_per_s)),
        by_kind(server.figure("UPDATE/s", number, |it| it.updates_per_s)),
        by_kind(server.figure("DELETE/s", number, |it| it.deletes_per_s)),
        by_kind(server.figure("COMMIT/s", number, |it| it.commits_per_s)),
    ];
    Group::new("Throughput", figures)
}

/// As measured by the client; for an observed server, its own.
pub(super) fn response_times(scene: Scene<'_>) -> Group {
    if scene.has_load() {
        let load = scene.load();
        let figures = vec![
            load.figure("median", duration, |it| it.times.p50_ns),
            load.figure("95 %", duration, |it| it.times.p95_ns),
            load.figure("99 %", duration, |it| it.times.p99_ns),
            load.figure("longest", duration, |it| it.times.max_ns),
        ];
        return Group::new("Response times at the client", figures);
    }
    let server = scene.server();
    let figures = vec![
        server.figure("mean", duration, |it| it.statement_ns),
        server.figure("median", duration, |it| it.p50_ns),
        server.figure("95 %", duration, |it| it.p95_ns),
        server.figure("99 %", duration, |it| it.p99_ns),
    ];
    let note = scene.missing("percentiles not observed");
    Group::new("Statement times in the server", figures).noting(note)
}

pub(super) fn server(scene: Scene<'_>) -> Group {
    let server = scene.server();
    let figures = vec![
        server.figure("running", number, |it| it.threads_running),
        server.figure("connected", number, |it| it.threads_connected),
        server.figure("rows read/s", number, |it| it.innodb.rows_read_per_s),
        server.figure("rows changed/s", number, |it| it.innodb.rows_changed_per_s),
        server
            .figure("sent", bytes_per_s, |it| it.sent_bytes_per_s)
            .minor(),
        server
            .figure("full scans/s", number, |it| it.full_scans_per_s)
            .minor(),
        server
            .figure("tmp on disk/s", number, |it| it.tmp_disk_tables_per_s)
            .alarming_from(1.0)
            .minor(),
    ];
    let note = match (scene.screen.playback.source(), &scene.model.load.start_s()) {
        (Source::Live, _) => None,
        _ => scene.missing("server status"),
    };
    Group::new("Server", figures).noting(note)
}

pub(super) fn innodb(scene: Scene<'_>) -> Group {
    let server = scene.server();
    let figures = vec![
        server
            .figure("pool hits", percent_sign, |it| it.innodb.hits)
            .of_whole(),
        server.figure("pool misses/s", number, |it| it.innodb.misses_per_s),
        server
            .figure("dirty pages", percent_sign, |it| it.innodb.dirty)
            .of_whole()
            .alarming_from(NEARLY_ALL),
        checkpoint_age(scene),
        server.figure("history list", number, |it| it.innodb.history_list),
        server.figure("row lock waits/s", number, |it| it.innodb.lock_waits_per_s),
        server.figure("redo log", bytes_per_s, |it| it.innodb.redo_bytes_per_s),
        server.figure("fsyncs/s", number, |it| it.innodb.fsyncs_per_s),
    ];
    Group::new("InnoDB", figures)
}

fn checkpoint_age(scene: Scene<'_>) -> Figure {
    let server = scene.server();
    let now = scene.model.server.at(scene.at_s);
    let is_hurry = now
        .and_then(|it| it.innodb.checkpoint_age)
        .is_some_and(|share| share >= CHECKPOINT_HURRY);
    let figure = server.figure("checkpoint age", bytes, |it| it.innodb.checkpoint_age_bytes);
    figure.alarming_from(if is_hurry { 0.0 } else { f64::INFINITY })
}

/// All figures of InnoDB, in groups.
pub(super) fn innodb_groups(scene: Scene<'_>) -> Vec<Group> {
    let server = scene.server();
    let pool = vec![
        server
            .figure("hits", percent_sign, |it| it.innodb.hits)
            .of_whole(),
        server.figure("misses/s", number, |it| it.innodb.misses_per_s),
        server
            .figure("dirty pages", percent_sign, |it| it.innodb.dirty)
            .of_whole()
            .alarming_from(NEARLY_ALL),
        server
            .figure("free pages", percent_sign, |it| it.innodb.free)
            .of_whole(),
        server.figure("pages read/s", number, |it| it.innodb.pages_read_per_s),
        server.figure("flushed/s", number, |it| it.innodb.pages_flushed_per_s),
        server.figure("reads pending", number, |it| it.innodb.pending_reads),
        server.figure("writes pending", number, |it| it.innodb.pending_writes),
    ];
    let log = vec![
        checkpoint_age(scene),
        server
            .figure("of its limit", percent_sign, |it| it.innodb.checkpoint_age)
            .of_whole()
            .alarming_from(CHECKPOINT_HURRY),
        server.figure("written", bytes_per_s, |it| it.innodb.redo_bytes_per_s),
        server.figure("fsyncs/s", number, |it| it.innodb.fsyncs_per_s),
    ];
    let rows = vec![
        server.figure("read/s", number, |it| it.innodb.rows_read_per_s),
        server.figure("changed/s", number, |it| it.innodb.rows_changed_per_s),
    ];
    let transactions = vec![
        server.figure("history list", number, |it| it.innodb.history_list),
        server.figure("active", number, |it| it.innodb.active_transactions),
        server.figure(
            "oldest",
            |age_s| age_s.map_or("-".to_owned(), span),
            |it| it.innodb.oldest_transaction_s,
        ),
        server.figure("read views", number, |it| it.innodb.read_views),
    ];
    let locks = vec![
        server.figure("waits/s", number, |it| it.innodb.lock_waits_per_s),
        server.figure("mean wait", duration, |it| it.innodb.lock_wait_ns),
        server.figure("waiting now", number, |it| it.innodb.lock_waits_now),
        server
            .figure("deadlocks/s", number, |it| it.innodb.deadlocks_per_s)
            .alarming_from(f64::MIN_POSITIVE),
    ];
    vec![
        Group::new("Buffer pool", pool),
        Group::new("Rows", rows),
        Group::new("Redo log", log),
        Group::new("Transactions", transactions),
        Group::new("Row locks", locks),
    ]
}

pub(super) fn cpu(scene: Scene<'_>) -> Group {
    let machine = scene.machine();
    let now = scene.model.machine().at(scene.at_s);
    let cpus = now.and_then(|it| it.cpus).map_or(0.0, f64::round);
    let is_servers = scene.model.server_machine.start_s().is_some();
    let title = match (cpus > 0.0, is_servers) {
        (true, true) => format!("CPU ({cpus:.0})"),
        (true, false) => format!("CPU of the client's machine ({cpus:.0})"),
        (false, _) => "CPU".to_owned(),
    };
    // A server that is only observed has no client but dbdyno itself.
    let client = if scene.has_load() {
        "client"
    } else {
        "dbdyno top"
    };
    let own = Reading {
        timeline: match scene.model.client_machine.start_s() {
            Some(_) => &scene.model.client_machine,
            None => &scene.model.server_machine,
        },
        at_s: scene.at_s,
    };
    let figures = vec![
        machine
            .figure("busy", percent_sign, |it| Some(it.cpu?.busy()))
            .of_whole()
            .alarming_from(NEARLY_ALL),
        machine
            .figure("system", percent_sign, |it| Some(it.cpu?.system))
            .of_whole()
            .minor(),
        machine
            .figure("waiting for I/O", percent_sign, |it| Some(it.cpu?.iowait))
            .of_whole(),
        machine
            .figure("stolen", percent_sign, |it| Some(it.cpu?.steal))
            .of_whole()
            .alarming_from(0.05)
            .minor(),
        machine.figure("server", cores, |it| it.server_cpus),
        own.figure(client, cores, |it| it.client_cpus),
    ];
    // A record is known from its beginning: the time shown may be before the loss.
    let lost = scene.model.observer_lost.as_ref();
    let is_told = !is_servers || lost.is_some_and(|lost| scene.at_s > lost.t_s);
    let note = is_told.then(|| scene.missing("server host")).flatten();
    Group::new(title, figures).noting(note)
}

/// CPUs in use.
fn cores(cpus: Option<f64>) -> String {
    match cpus {
        None => "-".to_owned(),
        cpus => format!("{} CPU", number(cpus)),
    }
}

pub(super) fn disk(scene: Scene<'_>) -> Group {
    let Some(device) = scene.model.disk_at(scene.at_s).map(|it| it.device.clone()) else {
        return Group::new("Disk", Vec::new());
    };
    let machine = Reading {
        timeline: &scene.model.server_machine,
        at_s: scene.at_s,
    };
    fn of<'a>(machine: &'a MachineMoment, device: &str) -> Option<&'a DiskMoment> {
        machine.disks.iter().find(|disk| disk.device == device)
    }
    let figure = |label, write: fn(Option<f64>) -> String, read: fn(&DiskMoment) -> Option<f64>| {
        machine.figure(label, write, |it| match of(it, &device) {
            Some(disk) => read(disk),
            None => Some(0.0),
        })
    };
    let figures = vec![
        figure("read", bytes_per_s, |it| Some(it.read_bytes_per_s)),
        figure("written", bytes_per_s, |it| Some(it.written_bytes_per_s)),
        figure("requests/s", number, |it| {
            Some(it.reads_per_s + it.writes_per_s)
        })
        .minor(),
        figure("busy", percent_sign, |it| it.busy)
            .of_whole()
            .alarming_from(NEARLY_ALL),
        figure("write takes", duration, |it| it.write_wait_ns),
    ];
    Group::new(format!("Disk {device}"), figures)
}

pub(super) fn memory(scene: Scene<'_>) -> Group {
    let machine = scene.machine();
    let figures = vec![
        machine
            .figure("in use", percent_sign, |it| it.memory_used)
            .of_whole()
            .alarming_from(0.95),
        machine.figure("swap", bytes, |it| it.swap_used_bytes),
        machine.figure("server", bytes, |it| it.server_resident_bytes),
    ];
    Group::new("Memory", figures)
}

pub(super) fn scheduling(scene: Scene<'_>) -> Group {
    let machine = scene.machine();
    let figures = vec![
        machine.figure("running", number, |it| it.running),
        machine.figure("switches/s", number, |it| it.context_switches_per_s),
        machine.figure("server threads", number, |it| it.server_threads),
        machine
            .figure("lack of CPU", percent_sign, |it| it.cpu_pressure)
            .of_whole(),
        machine
            .figure("lack of I/O", percent_sign, |it| it.io_pressure)
            .of_whole(),
    ];
    Group::new("Scheduling", figures)
}

/// Network traffic with clients, and their connects and disconnects.
pub(super) fn traffic(scene: Scene<'_>) -> Group {
    let server = scene.server();
    let figures = vec![
        server.figure("received", bytes_per_s, |it| it.received_bytes_per_s),
        server.figure("sent", bytes_per_s, |it| it.sent_bytes_per_s),
        server.figure("connects/s", number, |it| it.connects_per_s),
        server
            .figure("aborted/s", number, |it| it.aborted_per_s)
            .alarming_from(f64::MIN_POSITIVE),
        server.figure("slow queries/s", number, |it| it.slow_per_s),
    ];
    Group::new("Clients", figures)
}
