//! All data of one server and one load, in order of time.

use samples::{
    Durations, Edge, Host, Line, LoadStage, ObserverLoss, Phase, PlannedEvent, RunHeader,
    ServerIdentity, ServerMoment as Looked, ServerTotals,
};
use units::moment;

use crate::{
    load::LoadMoment,
    machine::{DiskMoment, MachineMoment},
    server::{ServerMemory, ServerMoment},
    timeline::{Moment, Timeline},
};

/// Maximum number of moments with the details of live observation; older ones keep only their figures.
const DETAILED_AT_MOST: usize = 300;
/// Maximum difference between the ends of moments that belong together, as a share of their length.
const SLACK: f64 = 0.25;

/// The observed subject.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// The name given by the user: a server's address, an experiment and its run.
    pub name: String,
    /// The server's version, as it reports it; empty if unknown.
    pub version: String,
    /// Start of the observation, UTC, RFC 3339.
    pub started_at: String,
}

/// Whether the server is available.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Presence {
    /// It answers, or is not queried because a record is read.
    #[default]
    Here,
    /// It does not answer.
    Away {
        /// Time since which it does not answer, seconds.
        since_s: f64,
        /// Time of the last attempt, seconds.
        tried_s: f64,
        /// The first error.
        why: String,
    },
}

/// All data of one server and one load.
#[derive(Debug, Default)]
pub struct Model {
    pub(crate) subject: Subject,
    pub(crate) presence: Presence,
    /// How the run ended; `None` during the run, and without one.
    pub(crate) ended: Option<String>,
    /// The run of a record; `None` for a live server.
    pub(crate) header: Option<RunHeader>,
    pub(crate) load: Timeline<LoadMoment>,
    pub(crate) server: Timeline<ServerMoment>,
    /// The machine of the server, or of both.
    pub(crate) server_machine: Timeline<MachineMoment>,
    /// The machine of the client only.
    pub(crate) client_machine: Timeline<MachineMoment>,
    /// The phases by their start times, seconds.
    pub(crate) phases: Vec<(f64, Phase)>,
    /// The stages of the load that began, in the order of their times.
    pub(crate) stages: Vec<LoadStage>,
    /// The planned events that began, in the order of their times.
    pub(crate) events: Vec<PlannedEvent>,
    /// The server's totals over the whole run, from the end of its record.
    pub(crate) totals: Vec<ServerTotals>,
    /// Descriptions of the values that could not be observed.
    pub(crate) not_observed: Vec<String>,
    /// The loss of the observer on the server's host; `None` if it is connected, or was not requested.
    pub(crate) observer_lost: Option<ObserverLoss>,
    /// Statement errors of the run: number, message, count.
    pub(crate) errors: Vec<(u16, String, u64)>,
    memory: ServerMemory,
    /// Memory for the sum of an interval's operations.
    all_operations: Durations,
}

impl Model {
    /// A model of `subject` without any data.
    pub fn new(subject: Subject) -> Self {
        Self {
            subject,
            ..Self::default()
        }
    }

    /// The same for the record of a run, of which everything is kept: it can be shown from its beginning.
    pub fn of_record(name: String) -> Self {
        let mut model = Self::new(Subject {
            name,
            ..Subject::default()
        });
        model.load.keep_all();
        model.server.keep_all();
        model.server_machine.keep_all();
        model.client_machine.keep_all();
        model
    }

    /// Adds a line of a run record.
    pub fn take(&mut self, line: Line) {
        match line {
            Line::Run(header) => {
                self.subject.started_at.clone_from(&header.started_at);
                self.header = Some(header);
            }
            Line::Server(server) => self.meet(&server),
            Line::Machine(machine) => self.miss(machine.not_observed),
            Line::Interval(interval) => {
                // Between its slices a load that takes turns has nothing to show.
                if interval.phase != Phase::Pause
                    && let Some(moment) = LoadMoment::of(&interval, &mut self.all_operations)
                {
                    self.load.push(moment);
                }
            }
            Line::Telemetry(telemetry) => {
                if let Some(moment) = MachineMoment::of(&telemetry) {
                    match moment.host {
                        Host::Client => self.client_machine.push(moment),
                        Host::Both | Host::Server => self.server_machine.push(moment),
                    }
                }
            }
            Line::ServerStatus(status) => {
                if let Some(moment) = self.memory.moment(&status) {
                    self.server.push(moment);
                }
            }
            Line::ServerTotals(totals) => self.totals.push(totals),
            Line::ServerObservation(how) => self.miss(how.not_observed),
            Line::Observer(observer) => {
                if let Some(lost) = observer.lost {
                    self.lose_observer(lost);
                }
            }
            Line::LoadStage(stage) => self.take_stage(*stage),
            Line::Event(event) => self.take_event(*event),
            Line::Phase(mark) => self.phases.push((mark.t_s, mark.phase)),
            Line::Error(error) => self.errors.push((error.number, error.message, error.count)),
            Line::End(end) => {
                self.ended = Some(if end.complete {
                    end.why
                } else {
                    format!("incomplete: {}", end.why)
                });
            }
            _ => {}
        }
    }

    /// Adds the current figures of an observed server.
    pub fn look(&mut self, looked: Looked) {
        self.presence = Presence::Here;
        self.miss(looked.not_observed.clone());
        if let Some(moment) = self.memory.looked(looked) {
            self.server.push(moment);
        }
        for old in self.server.older_than(DETAILED_AT_MOST) {
            // Earlier ones have no details left.
            if old.details.take().is_none() {
                break;
            }
        }
    }

    /// The server is available for the first time or again: earlier counters are not valid for another process.
    pub fn meet(&mut self, server: &ServerIdentity) {
        if server.at != Edge::End {
            self.memory = ServerMemory::default();
        }
        self.memory.learn(&server.variables);
        self.subject.version.clone_from(&server.version);
        self.presence = Presence::Here;
    }

    /// Records that the server does not answer at this time, with the reason.
    pub fn lose(&mut self, at_s: f64, why: String) {
        match &mut self.presence {
            Presence::Away { tried_s, .. } => *tried_s = at_s,
            Presence::Here => {
                self.presence = Presence::Away {
                    since_s: at_s,
                    tried_s: at_s,
                    why,
                };
                // The returning server may provide more values, or fewer; its host is still not observed.
                self.not_observed.clear();
                self.miss(self.observer_lost.iter().map(host_not_observed).collect());
            }
        }
    }

    pub fn lose_observer(&mut self, lost: ObserverLoss) {
        self.miss(vec![host_not_observed(&lost)]);
        self.observer_lost = Some(lost);
    }

    /// End of the last interval, seconds; 0 without data.
    pub fn end_s(&self) -> f64 {
        let away_s = match self.presence {
            Presence::Away { tried_s, .. } => tried_s,
            Presence::Here => 0.0,
        };
        self.ends().fold(away_s, f64::max)
    }

    /// Start of the first interval, seconds.
    pub fn start_s(&self) -> f64 {
        let starts = [
            self.load.start_s(),
            self.server.start_s(),
            self.server_machine.start_s(),
            self.client_machine.start_s(),
        ];
        starts.into_iter().flatten().reduce(f64::min).unwrap_or(0.0)
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// The ends of the intervals that are shown one by one: those of the load, else of the server, else of a machine.
    /// The last ones may be incomplete, see [`Model::is_settled`].
    pub(crate) fn ticks_s(&self) -> Vec<f64> {
        fn ends<T: Moment>(timeline: &Timeline<T>) -> Vec<f64> {
            timeline.iter().map(Moment::end_s).collect()
        }
        let all = [
            ends(&self.load),
            ends(&self.server),
            ends(&self.server_machine),
            ends(&self.client_machine),
        ];
        let first = all.into_iter().find(|ends| !ends.is_empty());
        first.unwrap_or_default()
    }

    /// Number of intervals that ended by this time, including those that are no longer kept.
    pub fn intervals_until(&self, at_s: f64) -> u64 {
        let counts = [
            self.load.count_until(at_s),
            self.server.count_until(at_s),
            self.server_machine.count_until(at_s),
            self.client_machine.count_until(at_s),
        ];
        let first = counts.into_iter().find(|count| *count > 0);
        first.unwrap_or_default()
    }

    /// True when no more data is expected for the interval of `length_s` that ends at `tick_s`.
    pub(crate) fn is_settled(&self, tick_s: f64, length_s: f64) -> bool {
        let slack_s = length_s * SLACK;
        let is_later = self.ends().any(|end_s| end_s > tick_s + slack_s);
        self.has_ended() || is_later || self.ends().all(|end_s| end_s >= tick_s - slack_s)
    }

    fn ends(&self) -> impl Iterator<Item = f64> {
        let ends = [
            self.load.end_s(),
            self.server.end_s(),
            self.server_machine.end_s(),
            self.client_machine.end_s(),
        ];
        ends.into_iter().flatten()
    }

    /// The phase at a time; `None` before the first one, and without a load.
    pub(crate) fn phase_at(&self, at_s: f64) -> Option<Phase> {
        let begun = self.phases.iter().rev();
        let mut begun = begun.filter(|(begun_s, _)| *begun_s < at_s);
        begun.next().map(|(_, phase)| *phase)
    }

    /// The stage of the load at a time of the measurement.
    pub(crate) fn stage_at(&self, at_s: f64) -> Option<&LoadStage> {
        if self.phase_at(at_s) != Some(Phase::Measurement) {
            return None;
        }
        self.stages.iter().rev().find(|stage| stage.t_s < at_s)
    }

    /// The planned event that runs at a time.
    pub(crate) fn event_at(&self, at_s: f64) -> Option<&PlannedEvent> {
        let mut events = self.events.iter();
        events.find(|event| {
            let end_s = event.took_s().map(|took_s| event.t_s + took_s);
            // One that has not ended runs as long as its run does.
            let runs = end_s.map_or(!self.has_ended(), |end_s| at_s <= end_s);
            event.t_s <= at_s && runs
        })
    }

    fn take_stage(&mut self, stage: LoadStage) {
        // The second line about a stage adds what became of its load.
        if !self.stages.iter().any(|it| it.number == stage.number) {
            self.stages.push(stage);
        }
    }

    fn take_event(&mut self, event: PlannedEvent) {
        let known = self.events.iter_mut().find(|it| it.number == event.number);
        match known {
            Some(known) => *known = event,
            None if event.begin_s.is_some() => self.events.push(event),
            None => {}
        }
    }

    /// The server's machine, if it is observed; else that of the client.
    pub(crate) fn machine(&self) -> &Timeline<MachineMoment> {
        match self.server_machine.start_s() {
            Some(_) => &self.server_machine,
            None => &self.client_machine,
        }
    }

    /// The disk of the server's data, or the busiest one if that is unknown.
    pub(crate) fn disk_at(&self, at_s: f64) -> Option<&DiskMoment> {
        let machine = self.server_machine.at(at_s)?;
        let busy = |disk: &&DiskMoment| disk.busy.unwrap_or(0.0);
        let busiest = machine
            .disks
            .iter()
            .max_by(|a, b| busy(a).total_cmp(&busy(b)));
        machine.disk.as_ref().or(busiest)
    }

    /// CPUs that the client used at a time, on any machine.
    pub(crate) fn client_cpus_at(&self, at_s: f64) -> Option<f64> {
        let of = |machine: &Timeline<MachineMoment>| machine.at(at_s)?.client_cpus;
        of(&self.client_machine).or_else(|| of(&self.server_machine))
    }

    fn miss(&mut self, what: Vec<String>) {
        for one in what {
            if !self.not_observed.contains(&one) {
                self.not_observed.push(one);
            }
        }
    }
}

/// The text of the screen for a lost observer.
pub(crate) fn host_not_observed(lost: &ObserverLoss) -> String {
    format!(
        "server host not observed from {} on: {}",
        moment(lost.t_s),
        lost.why
    )
}
