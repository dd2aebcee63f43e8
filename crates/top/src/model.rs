//! Everything that is known of one server and one load, in order of time.

use samples::{
    Durations, Host, Line, Lost, Phase, RunHeader, ServerIdentity, ServerMoment as Looked,
    ServerTotals,
};
use units::moment;

use crate::{
    load::LoadMoment,
    machine::{DiskMoment, MachineMoment},
    server::{ServerMemory, ServerMoment},
    timeline::{Moment, Timeline},
};

/// Moments that keep what only somebody who looks is told; the older ones keep their figures.
const DETAILED_AT_MOST: usize = 300;
/// How far apart moments that belong together may end, as a share of their length.
const SLACK: f64 = 0.25;

/// What is looked at.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Subject {
    /// As the user named it: a server's address, an experiment and its run.
    pub name: String,
    /// The server's version, as it says itself; empty where it is not known.
    pub version: String,
    /// When it was begun to be looked at, UTC, RFC 3339.
    pub started_at: String,
}

/// Whether the server is there.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Presence {
    /// It answers, or nobody asks it: a record tells only what was.
    #[default]
    Here,
    /// It does not.
    Away {
        /// Since when, seconds.
        since_s: f64,
        /// When it was tried for the last time, seconds.
        tried_s: f64,
        /// What it or the system said at first.
        why: String,
    },
}

/// Everything that is known of one server and one load.
#[derive(Debug, Default)]
pub struct Model {
    pub(crate) subject: Subject,
    pub(crate) presence: Presence,
    /// How the run ended; `None` while it goes on, and where there is none.
    pub(crate) ended: Option<String>,
    /// The run, where a record is looked at.
    pub(crate) header: Option<RunHeader>,
    pub(crate) load: Timeline<LoadMoment>,
    pub(crate) server: Timeline<ServerMoment>,
    /// The machine of the server, or of both.
    pub(crate) server_machine: Timeline<MachineMoment>,
    /// The machine of the client only.
    pub(crate) client_machine: Timeline<MachineMoment>,
    /// Phases that began, by their time.
    pub(crate) phases: Vec<(f64, Phase)>,
    /// What the server added up over the whole run, as its record says at the end.
    pub(crate) totals: Vec<ServerTotals>,
    /// What could not be observed, in words.
    pub(crate) not_observed: Vec<String>,
    /// Since when nobody looks at the server's host any more; `None` while somebody does, or never did.
    pub(crate) observer_lost: Option<Lost>,
    /// Statement errors of the run: number, message, count.
    pub(crate) errors: Vec<(u16, String, u64)>,
    memory: ServerMemory,
    /// Lends its memory to the sum of an interval's operations.
    all_operations: Durations,
}

impl Model {
    /// Nothing is known yet of `subject`.
    pub fn new(subject: Subject) -> Self {
        Self {
            subject,
            ..Self::default()
        }
    }

    /// The same for a record of a run, of which everything is kept: it can be gone through from its begin.
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

    /// Takes a line of a run record.
    pub fn take(&mut self, line: Line) {
        match line {
            Line::Run(header) => {
                self.subject.started_at.clone_from(&header.started_at);
                self.header = Some(header);
            }
            Line::Server(server) => self.meet(&server),
            Line::Machine(machine) => self.miss(machine.not_observed),
            Line::Interval(interval) => {
                if let Some(moment) = LoadMoment::of(&interval, &mut self.all_operations) {
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

    /// Takes what a server that is looked at said just now.
    pub fn look(&mut self, looked: Looked) {
        self.presence = Presence::Here;
        self.miss(looked.not_observed.clone());
        if let Some(moment) = self.memory.looked(looked) {
            self.server.push(moment);
        }
        for old in self.server.older_than(DETAILED_AT_MOST) {
            // Those before it have lost theirs already.
            if old.details.take().is_none() {
                break;
            }
        }
    }

    /// The server is there, at first or again: what is known of its counters does not hold for another process.
    pub fn meet(&mut self, server: &ServerIdentity) {
        if server.at != "end" {
            self.memory = ServerMemory::default();
        }
        self.memory.learn(&server.variables);
        self.subject.version.clone_from(&server.version);
        self.presence = Presence::Here;
    }

    /// The server does not answer at a time, and says why.
    pub fn lose(&mut self, at_s: f64, why: String) {
        match &mut self.presence {
            Presence::Away { tried_s, .. } => *tried_s = at_s,
            Presence::Here => {
                self.presence = Presence::Away {
                    since_s: at_s,
                    tried_s: at_s,
                    why,
                };
                // The server that comes back may tell more, or less; its host is not looked at by its coming back.
                self.not_observed.clear();
                self.miss(self.observer_lost.iter().map(host_not_observed).collect());
            }
        }
    }

    /// Nobody looks at the server's host any more.
    pub fn lose_observer(&mut self, lost: Lost) {
        self.miss(vec![host_not_observed(&lost)]);
        self.observer_lost = Some(lost);
    }

    /// The end of everything, seconds; 0 before there is anything.
    pub fn end_s(&self) -> f64 {
        let away_s = match self.presence {
            Presence::Away { tried_s, .. } => tried_s,
            Presence::Here => 0.0,
        };
        self.ends().fold(away_s, f64::max)
    }

    /// The begin of everything, seconds.
    pub fn start_s(&self) -> f64 {
        let starts = [
            self.load.start_s(),
            self.server.start_s(),
            self.server_machine.start_s(),
            self.client_machine.start_s(),
        ];
        starts.into_iter().flatten().reduce(f64::min).unwrap_or(0.0)
    }

    /// True when the run has ended.
    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// The ends of the intervals that are told of one by one: those of the load, else of the server, else of a machine.
    /// The last ones may still lack what has not been told yet, which [`Model::is_settled`] says.
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

    /// How many intervals are over by a time, those included that are not kept any more.
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

    /// True when nothing more is going to be told of the interval of `length_s` that ends at `tick_s`.
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

    /// The phase of a time; `None` before the first one, and where there is no load.
    pub(crate) fn phase_at(&self, at_s: f64) -> Option<Phase> {
        let begun = self.phases.iter().rev();
        let mut begun = begun.filter(|(begun_s, _)| *begun_s < at_s);
        begun.next().map(|(_, phase)| *phase)
    }

    /// The machine that the server stands on, where it is observed; else that of the client.
    pub(crate) fn machine(&self) -> &Timeline<MachineMoment> {
        match self.server_machine.start_s() {
            Some(_) => &self.server_machine,
            None => &self.client_machine,
        }
    }

    /// The disk of the server's data, or the busiest one where it is not known which that is.
    pub(crate) fn disk_at(&self, at_s: f64) -> Option<&DiskMoment> {
        let machine = self.server_machine.at(at_s)?;
        let busy = |disk: &&DiskMoment| disk.busy.unwrap_or(0.0);
        let busiest = machine
            .disks
            .iter()
            .max_by(|a, b| busy(a).total_cmp(&busy(b)));
        machine.disk.as_ref().or(busiest)
    }

    /// CPUs that the client used at a time, wherever it stands.
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

/// In the words that stand on the screen.
pub(crate) fn host_not_observed(lost: &Lost) -> String {
    format!(
        "server host not observed from {} on: {}",
        moment(lost.t_s),
        lost.why
    )
}
