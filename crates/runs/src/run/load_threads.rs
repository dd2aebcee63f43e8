//! Loads that run at the same time: each is driven on a thread of its own, all begin at one moment and end together, and
//! the thread of their runs receives what they report.

use std::{
    sync::{
        Condvar, Mutex, OnceLock, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use blame::Blamed;
use load::{Counters, LoadListener, Outcome, PlannedEnd, Termination, WarmUpEnd};
use reactor::{Instant, Interrupt};
use samples::{Interval, LoadStage, PhaseMark};

use crate::{benchmark::Work, listener::Context, run::driver::Driver};

/// Time from the last connection to the first operations, in which all loads hear of their start.
const START_AFTER: Duration = Duration::from_millis(20);

/// What loads that run at the same time have in common.
pub(super) struct CommonTimes {
    /// The moment at which they begin.
    pub start: CommonStart,
    /// When they end, once that is known; only for loads that end when told to.
    pub end: OnceLock<PlannedEnd>,
}

impl CommonTimes {
    /// Those of this number of loads, before they are connected.
    pub(super) fn of(loads: usize) -> Self {
        Self {
            start: CommonStart::new(loads),
            end: OnceLock::new(),
        }
    }
}

/// Receives what loads report, on the thread of their runs.
pub(super) trait ReportReceiver {
    fn take(&mut self, load: usize, report: Report);

    /// The time of the next call of [`Self::wake`]; `None` while nothing but reports is awaited.
    fn wakes_at(&self) -> Option<Instant> {
        None
    }

    fn wake(&mut self) {}
}

impl<F: FnMut(usize, Report)> ReportReceiver for F {
    fn take(&mut self, load: usize, report: Report) {
        self(load, report);
    }
}

/// Drives loads: waits until all are connected, starts them at one moment and, if one of them fails, ends the others.
/// `receiver` gets what each of them reports. Returns what became of each.
pub(super) fn drive_on_threads(
    loads: Vec<(&mut dyn Work, Driver<'_>)>,
    interrupt: &Interrupt,
    times: &CommonTimes,
    receiver: &mut impl ReportReceiver,
) -> Vec<Result<Outcome, Blamed>> {
    let ending = interrupt.child();
    let mut results: Vec<_> = loads.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let _ended_by_panic = EndOfPanic(&ending);
        let (reports, received) = channel();
        for (load, (work, driver)) in loads.into_iter().enumerate() {
            let mut reporter = Reporter {
                load,
                reports: reports.clone(),
                times,
                ending: &ending,
            };
            scope.spawn(move || {
                let context = Context {
                    interrupt: reporter.ending.clone(),
                    listener: driver.context.listener.clone(),
                };
                let driver = Driver {
                    context: &context,
                    ..driver
                };
                let result = work.drive(&driver, &mut reporter);
                reporter.report(Report::Ended(Box::new(result)));
            });
        }
        drop(reports);
        loop {
            let next = match receiver.wakes_at() {
                Some(at) => received.recv_timeout(at - reactor::system_now()),
                None => received.recv().map_err(RecvTimeoutError::from),
            };
            let (load, report) = match next {
                Ok(report) => report,
                Err(RecvTimeoutError::Timeout) => {
                    receiver.wake();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match report {
                Report::Ended(result) => {
                    let is_planned = matches!(&*result, Ok(it) if it.ended == Termination::Planned);
                    if !is_planned {
                        ending.raise();
                    }
                    results[load] = Some(*result);
                }
                report => receiver.take(load, report),
            }
        }
    });
    let results = results.into_iter();
    results
        .map(|result| result.expect("a thread without a result panics, and so does its scope"))
        .collect()
}

/// What a load reports to the thread of its run.
pub(super) enum Report {
    Connected(u64, u64),
    Runs(u32),
    Started,
    Phase(PhaseMark),
    Stage(LoadStage),
    WarmedUp(WarmUpEnd),
    Interval(Interval),
    /// It asks for the server's counters since this time.
    Counters(f64, Sender<Counters>),
    Ended(Box<Result<Outcome, Blamed>>),
}

impl Report {
    pub(super) fn pass_to(self, observer: &mut dyn LoadListener) {
        match self {
            Self::Connected(open, total) => observer.connected(open, total),
            Self::Runs(pid) => observer.runs(pid),
            Self::Started => observer.started(),
            Self::Phase(mark) => observer.phase(mark),
            Self::Stage(stage) => observer.stage(stage),
            Self::WarmedUp(end) => observer.warmed_up(&end),
            Self::Interval(interval) => observer.interval(interval),
            Self::Counters(since_s, answer) => {
                // A load that has ended needs no answer.
                let _ = answer.send(observer.counters(since_s));
            }
            Self::Ended(_) => {}
        }
    }
}

/// Sends what a load reports.
struct Reporter<'a> {
    load: usize,
    reports: Sender<(usize, Report)>,
    times: &'a CommonTimes,
    ending: &'a Interrupt,
}

impl Reporter<'_> {
    fn report(&self, report: Report) {
        // The receiver lives until the last reporter is gone.
        let _ = self.reports.send((self.load, report));
    }
}

impl LoadListener for Reporter<'_> {
    fn connected(&mut self, open: u64, total: u64) {
        self.report(Report::Connected(open, total));
    }

    fn begin_at(&mut self) -> Option<Instant> {
        self.times.start.wait(self.ending)
    }

    fn runs(&mut self, pid: u32) {
        self.report(Report::Runs(pid));
    }

    fn started(&mut self) {
        self.report(Report::Started);
    }

    fn phase(&mut self, mark: PhaseMark) {
        self.report(Report::Phase(mark));
    }

    fn stage(&mut self, stage: LoadStage) {
        self.report(Report::Stage(stage));
    }

    fn warmed_up(&mut self, end: &WarmUpEnd) {
        self.report(Report::WarmedUp(end.clone()));
    }

    fn interval(&mut self, interval: Interval) {
        self.report(Report::Interval(interval));
    }

    fn planned_end(&mut self) -> Option<PlannedEnd> {
        self.times.end.get().cloned()
    }

    fn counters(&mut self, since_s: f64) -> Counters {
        let (answer, answered) = channel();
        self.report(Report::Counters(since_s, answer));
        // There is no answer where the thread of the run has panicked.
        answered.recv().unwrap_or_default()
    }
}

impl Drop for Reporter<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            // The others would wait for this load.
            self.ending.raise();
        }
    }
}

/// Ends the loads where the thread of their runs panics: they would run on without an end.
struct EndOfPanic<'a>(&'a Interrupt);

impl Drop for EndOfPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.raise();
        }
    }
}

/// The moment at which loads begin together: shortly after the last of them is connected.
pub(super) struct CommonStart {
    loads: usize,
    /// Loads that are connected, and the moment once it is known.
    state: Mutex<(usize, Option<Instant>)>,
    is_known: Condvar,
}

impl CommonStart {
    fn new(loads: usize) -> Self {
        Self {
            loads,
            state: Mutex::default(),
            is_known: Condvar::new(),
        }
    }

    /// The moment; `None` while not all loads are connected.
    pub(super) fn moment(&self) -> Option<Instant> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1
    }

    /// A load is connected; returns the moment when all are, and `None` if they are to end before.
    fn wait(&self, ending: &Interrupt) -> Option<Instant> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 += 1;
        if state.0 == self.loads {
            state.1 = Some(reactor::system_now() + START_AFTER);
            self.is_known.notify_all();
        }
        while state.1.is_none() && !ending.is_raised() {
            state = ending.wait_on(&self.is_known, state);
        }
        state.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reports_of_a_load_begins_it_with_the_others() {
        let (reports, _received) = channel();
        let (times, ending) = (CommonTimes::of(2), Interrupt::default());
        assert_eq!(times.start.moment(), None);
        let begin = |load| {
            let mut reporter = Reporter {
                load,
                reports: reports.clone(),
                times: &times,
                ending: &ending,
            };
            move || reporter.begin_at()
        };
        let moments = thread::scope(|scope| {
            let threads = [0, 1].map(|load| scope.spawn(begin(load)));
            threads.map(|it| it.join().unwrap())
        });
        assert!(moments[0].is_some() && moments[0] == moments[1]);
        assert_eq!(times.start.moment(), moments[0]);
    }

    #[test]
    fn loads_begin_at_one_moment_unless_one_fails() {
        let wait = |start: &CommonStart, ending: &Interrupt| {
            thread::scope(|scope| {
                let threads = [(); 2].map(|()| scope.spawn(|| start.wait(ending)));
                threads.map(|it| it.join().unwrap())
            })
        };
        let moments = wait(&CommonStart::new(2), &Interrupt::default());
        assert!(moments[0].is_some() && moments[0] == moments[1]);
        let ending = Interrupt::default();
        ending.raise();
        assert_eq!(wait(&CommonStart::new(3), &ending), [None, None]);
    }

    #[test]
    fn a_load_receives_the_counters_and_its_end_from_the_thread_of_its_run() {
        let (reports, received) = channel();
        let (times, ending) = (CommonTimes::of(1), Interrupt::default());
        let mut reporter = Reporter {
            load: 0,
            reports,
            times: &times,
            ending: &ending,
        };
        assert!(reporter.planned_end().is_none());
        let end = PlannedEnd {
            at: Instant::from_ns(5),
            why: "decided".to_owned(),
        };
        times.end.set(end).unwrap();
        assert_eq!(reporter.planned_end().unwrap().why, "decided");
        let counted = thread::scope(|scope| {
            let asking = scope.spawn(move || reporter.counters(7.0));
            let (load, report) = received.recv().unwrap();
            let Report::Counters(since_s, answer) = report else {
                panic!("it asks for nothing else");
            };
            assert_eq!((load, since_s), (0, 7.0));
            let counters = Counters {
                are_awaited: true,
                ..Counters::default()
            };
            answer.send(counters).unwrap();
            asking.join().unwrap()
        });
        assert!(counted.are_awaited);
    }
}
