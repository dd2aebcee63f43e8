//! The loads of one run: each is driven on a thread of its own, all begin at one moment and end together.

use std::{
    sync::{
        Condvar, Mutex, PoisonError,
        mpsc::{Sender, channel},
    },
    thread,
    time::Duration,
};

use blame::Blamed;
use load::{LoadListener, Outcome, Termination};
use reactor::{Instant, Interrupt};
use samples::{Interval, LoadStage, PhaseMark};

use crate::{
    benchmark::Work, listener::Context, record::recording::Recording, run::driver::Driver,
};

/// Time from the last connection to the first operations, in which all loads hear of their start.
const START_AFTER: Duration = Duration::from_millis(20);

/// Drives the loads of a run: waits until all are connected, starts them at one moment and, if one of them fails, ends the
/// others. Returns what became of each.
pub(super) fn drive_together(
    loads: Vec<(&mut dyn Work, Driver<'_>)>,
    interrupt: &Interrupt,
    recording: &mut Recording<'_>,
) -> Vec<Result<Outcome, Blamed>> {
    let ending = interrupt.child();
    let start = CommonStart::new(loads.len());
    let mut results: Vec<_> = loads.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (reports, received) = channel();
        for (load, (work, driver)) in loads.into_iter().enumerate() {
            let mut reporter = Reporter {
                load,
                reports: reports.clone(),
                start: &start,
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
        for (load, report) in received {
            match report {
                Report::Ended(result) => {
                    let is_planned = matches!(&*result, Ok(it) if it.ended == Termination::Planned);
                    if !is_planned {
                        ending.raise();
                    }
                    results[load] = Some(*result);
                }
                report => report.pass_to(&mut recording.of_load(load)),
            }
        }
    });
    let results = results.into_iter();
    results
        .map(|result| result.expect("a thread without a result panics, and so does its scope"))
        .collect()
}

/// What a load reports to the thread of its run.
enum Report {
    Connected(u64, u64),
    Runs(u32),
    Started,
    Phase(PhaseMark),
    Stage(LoadStage),
    Interval(Interval),
    Ended(Box<Result<Outcome, Blamed>>),
}

impl Report {
    fn pass_to(self, observer: &mut dyn LoadListener) {
        match self {
            Self::Connected(open, total) => observer.connected(open, total),
            Self::Runs(pid) => observer.runs(pid),
            Self::Started => observer.started(),
            Self::Phase(mark) => observer.phase(mark),
            Self::Stage(stage) => observer.stage(stage),
            Self::Interval(interval) => observer.interval(interval),
            Self::Ended(_) => {}
        }
    }
}

/// Sends what a load reports; its warm-up has a fixed length, so that it asks for no counters.
struct Reporter<'a> {
    load: usize,
    reports: Sender<(usize, Report)>,
    start: &'a CommonStart,
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
        self.start.wait(self.ending)
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

    fn interval(&mut self, interval: Interval) {
        self.report(Report::Interval(interval));
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

/// The moment at which loads begin together: shortly after the last of them is connected.
struct CommonStart {
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
        let (start, ending) = (CommonStart::new(2), Interrupt::default());
        let begin = |load| {
            let mut reporter = Reporter {
                load,
                reports: reports.clone(),
                start: &start,
                ending: &ending,
            };
            move || reporter.begin_at()
        };
        let moments = thread::scope(|scope| {
            let threads = [0, 1].map(|load| scope.spawn(begin(load)));
            threads.map(|it| it.join().unwrap())
        });
        assert!(moments[0].is_some() && moments[0] == moments[1]);
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
}
