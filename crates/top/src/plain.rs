//! One line per interval, for a file, a pipe or a simple terminal.

use samples::{Phase, printable, printable_lines};
use units::moment;

use crate::{
    figure::{mib, ms, number, percent},
    model::{Model, Presence, host_not_observed},
};

/// Number of lines between two headers.
const HEADER_EVERY: usize = 20;
/// Default length of an interval until it is known, seconds.
const LENGTH_S: f64 = 1.0;

/// A column: its name with the unit, its width, and its content.
struct Column {
    name: &'static str,
    width: usize,
    text: fn(&Model, f64) -> String,
}

/// All columns from left to right; changing them changes the format.
const COLUMNS: &[Column] = &[
    column("time_s", 8, |_, at_s| format!("{at_s:.2}")),
    column("queries/s", 9, |model, at_s| {
        number(model.server.at(at_s).and_then(|it| it.queries_per_s))
    }),
    column("trx/s", 7, |model, at_s| {
        number(transactions_per_s(model, at_s))
    }),
    column("p50_ms", 7, |model, at_s| ms(times(model, at_s)[0])),
    column("p95_ms", 7, |model, at_s| ms(times(model, at_s)[1])),
    column("p99_ms", 7, |model, at_s| ms(times(model, at_s)[2])),
    column("errors/s", 8, |model, at_s| {
        number(model.load.at(at_s).map(|it| it.errors_per_s))
    }),
    column("run", 5, |model, at_s| {
        number(model.server.at(at_s).and_then(|it| it.threads_running))
    }),
    column("conn", 5, |model, at_s| {
        number(model.server.at(at_s).and_then(|it| it.threads_connected))
    }),
    column("rows_rd/s", 9, |model, at_s| {
        number(
            model
                .server
                .at(at_s)
                .and_then(|it| it.innodb.rows_read_per_s),
        )
    }),
    column("rows_ch/s", 9, |model, at_s| {
        number(
            model
                .server
                .at(at_s)
                .and_then(|it| it.innodb.rows_changed_per_s),
        )
    }),
    column("hit_%", 6, |model, at_s| {
        percent(model.server.at(at_s).and_then(|it| it.innodb.hits))
    }),
    column("dirty_%", 7, |model, at_s| {
        percent(model.server.at(at_s).and_then(|it| it.innodb.dirty))
    }),
    column("ckpt_MiB", 8, |model, at_s| {
        mib(model
            .server
            .at(at_s)
            .and_then(|it| it.innodb.checkpoint_age_bytes))
    }),
    column("history", 7, |model, at_s| {
        number(model.server.at(at_s).and_then(|it| it.innodb.history_list))
    }),
    column("lockw/s", 7, |model, at_s| {
        number(
            model
                .server
                .at(at_s)
                .and_then(|it| it.innodb.lock_waits_per_s),
        )
    }),
    column("cpu_%", 5, |model, at_s| {
        percent(model.machine().at(at_s).and_then(|it| Some(it.cpu?.busy())))
    }),
    column("srv_cpu", 7, |model, at_s| {
        number(model.machine().at(at_s).and_then(|it| it.server_cpus))
    }),
    column("cli_cpu", 7, |model, at_s| {
        number(model.client_cpus_at(at_s))
    }),
    column("rd_MiB/s", 8, |model, at_s| {
        mib(model.disk_at(at_s).map(|it| it.read_bytes_per_s))
    }),
    column("wr_MiB/s", 8, |model, at_s| {
        mib(model.disk_at(at_s).map(|it| it.written_bytes_per_s))
    }),
    column("disk_%", 6, |model, at_s| {
        percent(model.disk_at(at_s).and_then(|it| it.busy))
    }),
];

const fn column(name: &'static str, width: usize, text: fn(&Model, f64) -> String) -> Column {
    Column { name, width, text }
}

/// Writes one line per interval, each once, and the events between them.
#[derive(Debug, Default)]
pub struct Plain {
    /// Lines since the last header; `None` before the first one.
    since_header: Option<usize>,
    /// End of the last interval written, seconds.
    told_s: Option<f64>,
    told_version: String,
    /// Number of phases written.
    phases: usize,
    /// Number of stages of the load written.
    stages: usize,
    /// Number of planned events whose begin was written.
    events: usize,
    /// Numbers of the planned events whose end was written.
    ended_events: Vec<u32>,
    is_away: bool,
    is_observer_lost: bool,
    /// Intervals that are still to be written; `None` for all.
    left: Option<u64>,
}

impl Plain {
    /// Before the first line; `count` intervals are to be written, or all.
    pub fn new(count: Option<u64>) -> Self {
        Self {
            left: count,
            ..Self::default()
        }
    }

    /// True when the requested number of intervals has been written.
    pub fn is_done(&self) -> bool {
        self.left == Some(0)
    }

    /// The following data is another run, whose time starts at 0.
    pub fn begin_run(&mut self) {
        *self = Self::new(self.left);
    }

    /// The new lines up to the time `until_s`; empty if there are none. An incomplete interval is delayed until it is
    /// complete or no more data is expected.
    pub fn lines(&mut self, model: &Model, until_s: f64, is_over: bool) -> String {
        let mut text = String::new();
        let mut last_s = None;
        for tick_s in model.ticks_s() {
            let length_s = last_s.map_or(LENGTH_S, |last_s| tick_s - last_s);
            last_s = Some(tick_s);
            if self.told_s.is_some_and(|told_s| tick_s <= told_s) {
                continue;
            }
            let is_settled = is_over || model.is_settled(tick_s, length_s);
            if tick_s > until_s || !is_settled || self.is_done() {
                break;
            }
            self.introduce(model, &mut text);
            self.head(&mut text);
            self.tell_phases(model, tick_s, &mut text);
            self.tell_stages(model, tick_s, &mut text);
            self.tell_events(model, tick_s, &mut text);
            text.push_str(&line(model, tick_s));
            self.told_s = Some(tick_s);
            self.left = self.left.map(|left| left - 1);
        }
        self.tell_presence(model, &mut text);
        printable_lines(&text).into_owned()
    }

    /// A line that names the server or run, when it is first known and when it changes.
    fn introduce(&mut self, model: &Model, text: &mut String) {
        let subject = &model.subject;
        if self.since_header.is_some() && self.told_version == subject.version {
            return;
        }
        self.told_version.clone_from(&subject.version);
        text.push_str(&format!(
            "# {}, {}, time from {} on\n",
            printable(&subject.name),
            printable(&subject.version),
            printable(&subject.started_at)
        ));
        let one_in = model.load.one_in();
        if one_in > 1 {
            text.push_str(&format!(
                "# a long record: one interval in {one_in} is shown\n"
            ));
        }
    }

    fn head(&mut self, text: &mut String) {
        let since = self.since_header.unwrap_or(HEADER_EVERY);
        if since >= HEADER_EVERY {
            text.push_str(&header());
            self.since_header = Some(0);
        }
        self.since_header = self.since_header.map(|since| since + 1);
    }

    /// The phases that began before the end of this interval.
    fn tell_phases(&mut self, model: &Model, tick_s: f64, text: &mut String) {
        let begun = model.phases.iter().skip(self.phases);
        for (begun_s, phase) in begun.take_while(|(begun_s, _)| *begun_s < tick_s) {
            let name = phase_name(*phase);
            text.push_str(&format!("# {name} from {} on\n", moment(*begun_s)));
            self.phases += 1;
        }
    }

    /// The stages of the load that began before the end of this interval.
    fn tell_stages(&mut self, model: &Model, tick_s: f64, text: &mut String) {
        let begun = model.stages.iter().skip(self.stages);
        for stage in begun.take_while(|stage| stage.t_s < tick_s) {
            let (number, level, begin) = (stage.number, stage.in_words(), moment(stage.t_s));
            text.push_str(&format!("# stage {number} ({level}) from {begin} on\n"));
            self.stages += 1;
        }
    }

    /// The planned events that began or ended before the end of this interval.
    fn tell_events(&mut self, model: &Model, tick_s: f64, text: &mut String) {
        let begun = model.events.iter().skip(self.events);
        for event in begun.take_while(|event| event.t_s < tick_s) {
            let (name, begin) = (printable(&event.name), moment(event.t_s));
            text.push_str(&format!("# event {name} from {begin} on\n"));
            self.events += 1;
        }
        for event in model.events.iter().take(self.events) {
            let ended = event.took_s().filter(|took_s| event.t_s + took_s < tick_s);
            if let Some(took_s) = ended.filter(|_| !self.ended_events.contains(&event.number)) {
                let (name, how) = (printable(&event.name), event.outcome.word());
                text.push_str(&format!("# event {name} {how} after {}\n", moment(took_s)));
                self.ended_events.push(event.number);
            }
        }
    }

    fn tell_presence(&mut self, model: &Model, text: &mut String) {
        let is_away = match &model.presence {
            Presence::Here => false,
            Presence::Away { since_s, why, .. } => {
                if !self.is_away {
                    text.push_str(&format!(
                        "# server away from {} on, trying again: {why}\n",
                        moment(*since_s)
                    ));
                }
                true
            }
        };
        if self.is_away && !is_away {
            text.push_str("# the server is back\n");
        }
        self.is_away = is_away;
        if let Some(lost) = model
            .observer_lost
            .as_ref()
            .filter(|_| !self.is_observer_lost)
        {
            text.push_str(&format!("# {}\n", host_not_observed(lost)));
            self.is_observer_lost = true;
        }
    }
}

pub(crate) fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::WarmUp => "warm-up",
        Phase::Measurement => "measurement",
        Phase::Pause => "pause",
        Phase::Drain => "drain",
    }
}

fn header() -> String {
    joined(COLUMNS.iter().map(|column| column.name.to_owned()))
}

fn line(model: &Model, at_s: f64) -> String {
    joined(COLUMNS.iter().map(|column| (column.text)(model, at_s)))
}

/// Right-aligned with a blank between columns; a value that is too wide keeps the blank.
fn joined(texts: impl Iterator<Item = String>) -> String {
    let cells = texts.zip(COLUMNS).map(|(text, column)| {
        let width = column.width;
        format!("{text:>width$}")
    });
    let cells: Vec<String> = cells.collect();
    cells.join(" ") + "\n"
}

/// The client's operations; for an observed server without a load, COMMIT and ROLLBACK.
pub(crate) fn transactions_per_s(model: &Model, at_s: f64) -> Option<f64> {
    let load = model.load.at(at_s).map(|it| it.operations_per_s);
    load.or_else(|| model.server.at(at_s)?.commits_per_s)
}

/// Median, 95th and 99th percentile as the client measured them; of a server without a load, its own.
pub(crate) fn times(model: &Model, at_s: f64) -> [Option<f64>; 3] {
    match (model.load.at(at_s), model.server.at(at_s)) {
        (Some(load), _) => [load.times.p50_ns, load.times.p95_ns, load.times.p99_ns],
        (None, Some(server)) => [server.p50_ns, server.p95_ns, server.p99_ns],
        (None, None) => [None; 3],
    }
}
