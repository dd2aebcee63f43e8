//! The reader of run records.

use std::{borrow::Cow, collections::BTreeMap, io::BufRead, path::Path};

use crate::changed::Changed;
use crate::line::{Connects, Dataset, Interval, Line, Phase, PhaseMark, RunHeader, ServerIdentity};
use crate::machine::{Machine, Storage};
use crate::observer::Observer;
use crate::read_error::ReadError;
use crate::server_activity::{ServerObservation, ServerStatus, ServerTotals, SlowLog, TableSizes};
use crate::telemetry::{Collected, Telemetry};
use crate::{
    ceiling::Ceiling,
    checked::CheckResult,
    command::Command,
    deliveries::Deliveries,
    disk_load::DiskLoad,
    end::End,
    error_count::ErrorCount,
    folded::folded,
    judged_steadiness::JudgedSteadiness,
    keys::Keys,
    line_reader::Lines,
    load_stage::{self, LoadStage},
    loaded::Loaded,
    measured_state::MeasuredState,
    offered::OfferedLoad,
    planned_event::{self, PlannedEvent},
    proxy_work::ProxyWork,
    server_limit::ServerLimit,
    side_by_side::SideBySide,
    thinned::{even_out, thin},
    totals::{Totals, add_by_batch, add_by_stage},
};

/// All measurements of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The identity of the run.
    pub header: RunHeader,
    /// The command that produced it; `None` for a run of an experiment, and in older records.
    pub command: Option<Command>,
    /// The server, at the start and (if the run completed) at the end.
    pub servers: Vec<ServerIdentity>,
    /// The machines that were observed.
    pub machines: Vec<Machine>,
    /// The storage of the directories that the server writes to, by machine.
    pub storage: Vec<Storage>,
    /// The observation of the server's host by a dbdyno on it, at the start and at the end; empty without one.
    pub observers: Vec<Observer>,
    /// The limit under which the server ran; `None` without one, and in older records.
    pub limit: Option<ServerLimit>,
    /// The data at the start of the run.
    pub dataset: Option<Dataset>,
    /// What a load without a server asks of a disk; `None` for a load on a server.
    pub disk_load: Option<DiskLoad>,
    /// The keys that the loads request; empty if they are not drawn from a list.
    pub keys: Vec<Keys>,
    /// The results of the benchmark's own checks, in order; empty if it has none, or none was executed.
    pub checked: Vec<CheckResult>,
    /// How the load took turns with others; `None` for a load that has all of its time.
    pub side_by_side: Option<SideBySide>,
    /// The state in which the server was measured side by side; `None` before its slices, and in older records.
    pub measured_state: Option<MeasuredState>,
    /// The batch of slices that this is the record of, from 1; `None` for a whole run.
    pub batch: Option<u32>,
    /// The phases, in order.
    pub phases: Vec<PhaseMark>,
    /// The stages of the load that began, in order; empty for a load without stages.
    pub stages: Vec<LoadStage>,
    /// The planned events that were due, in the order of their times; empty without any.
    pub events: Vec<PlannedEvent>,
    /// The operations of each interval, in order of time. In a record read from a file, all operations of an interval
    /// are merged: their names are in [`Self::totals`].
    pub intervals: Vec<Interval>,
    /// Totals computed while reading; `None` for a record that was built in memory.
    pub added_up: Option<Totals>,
    /// The same of each stage.
    pub stage_totals: BTreeMap<u32, Totals>,
    /// The same of each batch of slices.
    pub batch_totals: BTreeMap<u32, Totals>,
    /// Times of opening connections, by load.
    pub connects: Vec<Connects>,
    /// The load that was offered; `None` if the load was not completed.
    pub offered: Option<OfferedLoad>,
    /// The result of loading a table; `None` if something else was measured.
    pub loaded: Option<Loaded>,
    /// Usage of machine and processes, in order of time; in a very long run adjacent samples are merged.
    pub telemetry: Vec<Telemetry>,
    /// The cost of collecting telemetry, by collector.
    pub collected: Vec<Collected>,
    pub changed: Vec<Changed>,
    /// The server's counters, in order of time; adjacent readings of a very long run are merged; empty if not observed.
    pub server_status: Vec<ServerStatus>,
    /// Totals of the server over the run, by source.
    pub server_totals: Vec<ServerTotals>,
    /// The sizes of the tables, at the start and (if the run completed) at the end.
    pub table_sizes: Vec<TableSizes>,
    /// The part of the slow query log that the run wrote; `None` if the log is off or not accessible.
    pub slow_log: Option<SlowLog>,
    /// The cost and the gaps of observing the server; `None` if it was not observed.
    pub server_observation: Option<ServerObservation>,
    /// Errors by load, operation and number.
    pub errors: Vec<ErrorCount>,
    /// What a proxy between clients and server did; `None` without one, or if the load was not completed.
    pub proxy: Option<ProxyWork>,
    /// Counts of the deliveries in the background; `None` if there were none.
    pub deliveries: Option<Deliveries>,
    /// The steadiness of the measurement, as judged at its end; `None` if there was no measurement, and in older
    /// records.
    pub steadiness: Option<JudgedSteadiness>,
    /// The share of the client's own ceiling that the run used; `None` if it was not determined.
    pub ceiling: Option<Ceiling>,
    /// The end; `None` if dbdyno was killed.
    pub end: Option<End>,
    /// True if the last line was torn.
    pub torn: bool,
}

impl Record {
    /// Connections that were open: the requested ones minus those that the server refused at the start.
    pub fn connections(&self) -> u32 {
        let refused = u32::try_from(self.connections_refused()).unwrap_or(u32::MAX);
        self.header.connections.saturating_sub(refused)
    }

    /// Requested connections that could not be opened at the start.
    pub fn connections_refused(&self) -> u64 {
        self.connects.iter().map(|connects| connects.errors).sum()
    }

    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let at = |source| ReadError::Io {
            path: path.to_owned(),
            source,
        };
        let file = files::UserText::open(path).map_err(at)?;
        Self::read(file).map_err(|error| match error {
            ReadError::Io { source, .. } => at(source),
            other => other,
        })
    }

    /// Reads a record; a torn last line is omitted and marked in [`Self::torn`].
    pub fn read(reader: impl BufRead) -> Result<Self, ReadError> {
        let mut lines = Lines::of(reader);
        let mut record: Option<Self> = None;
        // Numbers of samples and readings; if more than remain, some were merged.
        let mut seen = [0; 2];
        for line in &mut lines {
            match (&mut record, line?) {
                (None, Line::Run(header)) => record = Some(Self::new(header)),
                (None, _) => return Err(ReadError::NoHeader),
                (Some(record), line) => {
                    seen[0] += usize::from(matches!(line, Line::Telemetry(_)));
                    seen[1] += usize::from(matches!(line, Line::ServerStatus(_)));
                    record.take(line);
                }
            }
        }
        let mut record = record.ok_or(ReadError::NoHeader)?;
        record.torn = lines.is_torn();
        let are_joined = [
            seen[0] > record.telemetry.len(),
            seen[1] > record.server_status.len(),
        ];
        even_out(&mut record.telemetry, are_joined[0]);
        even_out(&mut record.server_status, are_joined[1]);
        record.shrink();
        Ok(record)
    }

    fn new(header: RunHeader) -> Self {
        Self {
            header,
            command: None,
            servers: Vec::new(),
            machines: Vec::new(),
            storage: Vec::new(),
            observers: Vec::new(),
            limit: None,
            dataset: None,
            disk_load: None,
            keys: Vec::new(),
            checked: Vec::new(),
            side_by_side: None,
            measured_state: None,
            batch: None,
            phases: Vec::new(),
            stages: Vec::new(),
            events: Vec::new(),
            intervals: Vec::new(),
            added_up: None,
            stage_totals: BTreeMap::new(),
            batch_totals: BTreeMap::new(),
            connects: Vec::new(),
            offered: None,
            loaded: None,
            telemetry: Vec::new(),
            collected: Vec::new(),
            changed: Vec::new(),
            server_status: Vec::new(),
            server_totals: Vec::new(),
            table_sizes: Vec::new(),
            slow_log: None,
            server_observation: None,
            errors: Vec::new(),
            proxy: None,
            deliveries: None,
            steadiness: None,
            ceiling: None,
            end: None,
            torn: false,
        }
    }

    /// Releases the unused capacity of the vectors.
    fn shrink(&mut self) {
        self.intervals.shrink_to_fit();
        self.telemetry.shrink_to_fit();
        self.server_status.shrink_to_fit();
    }

    fn take(&mut self, line: Line) {
        match line {
            Line::Run(header) => self.header = header,
            Line::Command(command) => self.command = Some(command),
            Line::Server(server) => self.servers.push(server),
            Line::Machine(machine) => self.machines.push(machine),
            Line::Storage(storage) => self.storage.push(storage),
            Line::Observer(observer) => self.observers.push(observer),
            Line::Limit(limit) => self.limit = Some(limit),
            Line::Dataset(dataset) => self.dataset = Some(dataset),
            Line::DiskLoad(load) => self.disk_load = Some(*load),
            Line::Keys(keys) => self.keys.push(keys),
            Line::Checked(checked) => self.checked.push(checked),
            Line::SideBySide(turns) => self.side_by_side = Some(turns),
            Line::MeasuredState(state) => self.measured_state = Some(state),
            Line::Phase(mark) => {
                if mark.phase == Phase::WarmUp {
                    self.begin_anew();
                }
                self.phases.push(mark);
            }
            Line::Event(event) => planned_event::take(&mut self.events, *event),
            Line::LoadStage(stage) => load_stage::take(&mut self.stages, *stage),
            Line::Interval(interval) => {
                self.added_up.get_or_insert_default().add(&interval);
                add_by_stage(&mut self.stage_totals, &interval);
                if let Some(turns) = &self.side_by_side {
                    add_by_batch(&mut self.batch_totals, &interval, turns);
                }
                self.intervals.push(folded(interval));
            }
            Line::Connects(connects) => self.connects.push(connects),
            Line::Offered(offered) => self.offered = Some(offered),
            Line::Loaded(loaded) => self.loaded = Some(loaded),
            Line::Proxy(proxy) => self.proxy = Some(proxy),
            Line::Deliveries(deliveries) => self.deliveries = Some(deliveries),
            Line::Steadiness(steadiness) => self.steadiness = Some(steadiness),
            Line::Ceiling(ceiling) => self.ceiling = Some(ceiling),
            Line::Telemetry(telemetry) => {
                self.telemetry.push(*telemetry);
                if self.can_be_thinned() {
                    thin(&mut self.telemetry);
                }
            }
            Line::Collected(collected) => self.collected.push(collected),
            Line::Changed(changed) => self.changed.push(changed),
            Line::ServerStatus(status) => {
                self.server_status.push(status);
                if self.can_be_thinned() {
                    thin(&mut self.server_status);
                }
            }
            Line::ServerTotals(totals) => self.server_totals.push(totals),
            Line::TableSizes(sizes) => self.table_sizes.push(sizes),
            Line::SlowLog(slow_log) => self.slow_log = Some(slow_log),
            Line::ServerObservation(how) => self.server_observation = Some(how),
            Line::Error(error) => self.errors.push(error),
            Line::End(end) => self.end = Some(end),
        }
    }

    /// False where samples end at the borders of slices: merged ones would mix a slice with the pause beside it. Their number
    /// is then that of the slices, as that of the intervals is.
    fn can_be_thinned(&self) -> bool {
        self.side_by_side.is_none()
    }

    /// Turns the measurement so far into warm-up: a new warm-up phase means that it was not steady.
    fn begin_anew(&mut self) {
        if let Some(added_up) = &mut self.added_up {
            added_up.begin_anew();
        }
        for interval in &mut self.intervals {
            interval.phase = Phase::WarmUp;
            for carried in &mut interval.carried {
                carried.due_in = Phase::WarmUp;
            }
        }
    }

    /// The totals of the measured phase, by operation and statement.
    pub fn totals(&self) -> Cow<'_, Totals> {
        match &self.added_up {
            Some(added_up) => Cow::Borrowed(added_up),
            None => Cow::Owned(Totals::of(&self.intervals)),
        }
    }

    /// True for work that was done once, whose time is a result: rows that were loaded, or a number of operations.
    pub fn ends_by_itself(&self) -> bool {
        let offered = self.offered.as_ref();
        self.loaded.is_some() || offered.is_some_and(|it| it.ends_by_itself)
    }

    /// True if the run reached its planned end.
    pub fn is_complete(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.complete)
    }

    /// Why the run is incomplete, as text; `None` if it is complete.
    pub fn incomplete_why(&self) -> Option<&str> {
        match &self.end {
            Some(end) if end.complete => None,
            Some(end) => Some(&end.why),
            None => Some("dbdyno ended before the run did"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RecordWriter, line::FORMAT};

    fn header() -> RunHeader {
        RunHeader {
            format: FORMAT,
            dbdyno_version: "0.1.0".to_owned(),
            experiment: "quick".to_owned(),
            experiment_sha256: String::new(),
            seed: 7,
            run: 1,
            block: 1,
            combination: BTreeMap::from([("connections".to_owned(), "8".to_owned())]),
            beside: Vec::new(),
            started_at: "2026-11-21T09:00:00Z".to_owned(),
            connections: 8,
            loops: 4,
            io: "epoll".to_owned(),
            transport: "unix socket".to_owned(),
        }
    }

    fn mark(t_s: f64) -> Line {
        Line::Phase(PhaseMark {
            t_s,
            phase: Phase::Measurement,
            why: "test".to_owned(),
        })
    }

    fn text(lines: &[Line]) -> String {
        let lines: Vec<_> = lines
            .iter()
            .map(|line| serde_json::to_string(line).unwrap())
            .collect();
        lines.join("\n") + "\n"
    }

    #[test]
    fn a_torn_last_line_is_noted_and_left_out() {
        let whole = text(&[Line::Run(header()), mark(0.0), mark(1.0)]);
        let begin_of_last = text(&[Line::Run(header()), mark(0.0)]).len();
        for cut in begin_of_last + 1..whole.len() - 1 {
            let record = Record::read(&whole.as_bytes()[..cut]).unwrap();
            assert!(record.torn, "cut at {cut}");
            assert_eq!(record.phases.len(), 1);
            assert_eq!(
                record.incomplete_why(),
                Some("dbdyno ended before the run did")
            );
        }
    }

    #[test]
    fn a_measurement_that_began_anew_was_warm_up() {
        let interval = |t_s, phase| {
            Line::Interval(Interval {
                t_s,
                length_s: 1.0,
                phase,
                stage: None,
                slice: None,
                operations: Vec::new(),
                statements: Vec::new(),
                send_lag: None,
                client_lag: None,
                pace: None,
                carried: Vec::new(),
            })
        };
        let warm_up = |t_s| {
            Line::Phase(PhaseMark {
                t_s,
                phase: Phase::WarmUp,
                why: "test".to_owned(),
            })
        };
        let lines = [
            Line::Run(header()),
            warm_up(0.0),
            interval(0.0, Phase::WarmUp),
            mark(1.0),
            interval(1.0, Phase::Measurement),
            warm_up(2.0),
            interval(2.0, Phase::WarmUp),
            mark(3.0),
            interval(3.0, Phase::Measurement),
        ];
        let record = Record::read(text(&lines).as_bytes()).unwrap();
        assert_eq!(record.measured_window_s(), Some((3.0, 4.0)));
        let broken_off = Record::read(text(&lines[..6]).as_bytes()).unwrap();
        assert_eq!(broken_off.measured_window_s(), None);
    }

    #[test]
    fn a_broken_line_in_the_middle_is_an_error_with_its_number() {
        let broken = text(&[Line::Run(header())]) + "{\"line\":\n" + &text(&[mark(0.0)]);
        let error = Record::read(broken.as_bytes()).unwrap_err();
        assert!(
            matches!(error, ReadError::Line { number: 2, .. }),
            "{error}"
        );
    }

    #[test]
    fn what_is_no_record_is_an_error() {
        assert!(matches!(Record::read(&b""[..]), Err(ReadError::NoHeader)));
        assert!(matches!(
            Record::read(text(&[mark(0.0)]).as_bytes()),
            Err(ReadError::NoHeader)
        ));
        let newer = Line::Run(RunHeader {
            format: FORMAT + 1,
            ..header()
        });
        assert!(matches!(
            Record::read(text(&[newer]).as_bytes()),
            Err(ReadError::Format { found }) if found == FORMAT + 1
        ));
    }

    #[test]
    fn what_was_written_is_read_and_nothing_is_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("run-0001.jsonl");
        let writer = RecordWriter::create(&path).unwrap();
        let end = End {
            t_s: 2.0,
            complete: true,
            why: "as planned".to_owned(),
        };
        for line in [Line::Run(header()), mark(0.0), Line::End(end)] {
            writer.append(&line).unwrap();
        }
        let record = Record::open(&path).unwrap();
        assert_eq!(record.header, header());
        assert!(record.is_complete() && !record.torn);
        assert!(RecordWriter::create(&path).is_err());
    }
}
