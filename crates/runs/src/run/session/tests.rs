//! Sessions of loads whose users only wait, on the system's clock.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use experiment::{LoadSpec, PlannedLoad, PlannedRun};
use load::{Failure, Group, Next, OperationObserver, User};
use reactor::Interrupt;
use samples::{Phase, Record};
use settings::{Chosen, Values};
use tempfile::TempDir;
use verdict::{Budget, Metric, Question};

use super::*;
use crate::{
    benchmark::Work,
    listener::{Event, Length, Listener, Step},
    run::{
        Identity, PlannedWork,
        driver::{Driver, LoadRules},
    },
    stage::Stage,
};

const MS: Duration = Duration::from_millis(1);
const SLICING: Slicing = Slicing {
    slice: Duration::from_millis(60),
    settle: Duration::ZERO,
    quiet: false,
};

/// What a user does after a number of operations.
#[derive(Clone)]
enum Afterwards {
    Continue,
    Fail,
    /// The user of dbdyno presses Ctrl-C.
    Interrupt(Interrupt),
}

/// A client whose operations take this time.
struct Waiting {
    names: Vec<String>,
    time: Duration,
    left: Arc<AtomicU32>,
    afterwards: Afterwards,
}

impl User for Waiting {
    fn operations(&self) -> &[String] {
        &self.names
    }

    async fn connect(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    fn next(&mut self) -> Next {
        Next::Operation(0)
    }

    async fn execute(&mut self, _watch: &mut impl OperationObserver) -> Result<(), Failure> {
        reactor::sleep(self.time).await;
        if self.left.fetch_sub(1, Ordering::Relaxed) != 1 {
            return Ok(());
        }
        match &self.afterwards {
            Afterwards::Continue => Ok(()),
            Afterwards::Fail => Err(Failure::of_client("the disk is full".to_owned())),
            Afterwards::Interrupt(interrupt) => {
                interrupt.raise();
                Ok(())
            }
        }
    }

    async fn disconnect(&mut self) {}
}

/// Clients that wait.
struct WaitingWork {
    time: Duration,
    operations: u32,
    afterwards: Afterwards,
}

impl Work for WaitingWork {
    fn drive(
        &self,
        driver: &Driver<'_>,
        observer: &mut dyn LoadListener,
    ) -> Result<Outcome, Blamed> {
        let names = vec!["wait".to_owned()];
        let (time, afterwards) = (self.time, self.afterwards.clone());
        let left = Arc::new(AtomicU32::new(self.operations));
        let group = Group {
            name: "users".to_owned(),
            operations: names.clone(),
            statements: Vec::new(),
            users: driver.users(),
            make: Box::new(move |_| Waiting {
                names: names.clone(),
                time,
                left: Arc::clone(&left),
                afterwards: afterwards.clone(),
            }),
        };
        driver.drive(driver.load(group), observer)
    }
}

/// Clients that never stop by themselves, whose operations take this time.
fn endless(time: Duration) -> WaitingWork {
    WaitingWork {
        time,
        operations: u32::MAX,
        afterwards: Afterwards::Continue,
    }
}

fn stage() -> Stage {
    Stage {
        endpoint: None,
        process: None,
        proxy: None,
        directory: None,
        server_pid: None,
        datadir: None,
        observation: None,
        private: false,
        is_simulated: false,
        dataset: None,
        settings_changed: Vec::new(),
        limit: None,
    }
}

/// The run of a level, with this warm-up and number of connections.
fn planned(number: u32, warm_up: WarmUp, connections: u32) -> PlannedRun {
    let source = Chosen {
        kind: &benchmarks::script::ScriptLoad as _,
        values: Values::default(),
    };
    let spec = LoadSpec {
        warmup: warm_up,
        ..LoadSpec::closed(source, connections, Duration::from_secs(2))
    };
    let load = PlannedLoad { spec, seed: 1 };
    let levels = BTreeMap::from([("side".to_owned(), number.to_string())]);
    let mut planned = PlannedRun::of_command(levels, "/s".to_owned(), load);
    planned.run = number;
    planned
}

/// Discards the progress of a session.
struct Unseen;

impl Step for Unseen {
    fn reach(&self, _: u64) {}
    fn lengthen(&self, _: u64) {}
    fn say(&self, _: &str) {}
    fn say_with(&self, _: &str, _: Duration) {}
    fn announce(&self, _: &str, _: Duration) {}
    fn note(&self, _: &str) {}
}

/// Keeps the warnings of a session.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Listener for Warnings {
    fn on_event(&self, event: Event<'_>) {
        if let Event::Warning(what) = event {
            self.0.lock().unwrap().push(what.to_owned());
        }
    }

    fn begin(&self, _: &str, _: Length) -> Box<dyn Step> {
        Box::new(Unseen)
    }
}

/// A session that has ended.
struct Ended {
    directory: TempDir,
    result: Result<(), Blamed>,
    warnings: Vec<String>,
}

impl Ended {
    fn path(directory: &TempDir, run: u32) -> PathBuf {
        directory.path().join(format!("run-{run}.jsonl"))
    }

    /// The records of both runs.
    fn records(&self) -> [Record; 2] {
        [1, 2].map(|run| Record::open(&Self::path(&self.directory, run)).unwrap())
    }
}

/// How two loads are measured side by side.
struct Trial {
    works: [WaitingWork; 2],
    warm_up: WarmUp,
    connections: u32,
    slices_at_most: u32,
    judge: Option<BatchJudge>,
    deadline: Option<reactor::Instant>,
    interrupt: Interrupt,
    /// A record that exists already, by its run.
    existing: Option<u32>,
}

impl Trial {
    /// Two batches of two loads.
    fn of(works: [WaitingWork; 2]) -> Self {
        Self {
            works,
            warm_up: WarmUp::For(100 * MS),
            connections: 2,
            slices_at_most: 10,
            judge: None,
            deadline: None,
            interrupt: Interrupt::default(),
            existing: None,
        }
    }

    fn record(self) -> Ended {
        let directory = tempfile::tempdir().unwrap();
        let paths = [1, 2].map(|run| vec![Ended::path(&directory, run)]);
        if let Some(run) = self.existing {
            std::fs::write(Ended::path(&directory, run), "").unwrap();
        }
        let warnings = Arc::new(Warnings::default());
        let context = Context::new(self.interrupt, warnings.clone());
        let (stage, mut works) = (stage(), self.works);
        let runs = [1, 2].map(|number| planned(number, self.warm_up, self.connections));
        let staged = runs.iter().zip(&mut works);
        let mut staged: Vec<StagedRun<'_>> = staged
            .map(|(run, work)| StagedRun {
                identity: Identity {
                    experiment: "trial",
                    sha256: "",
                    command: None,
                },
                run,
                stage: &stage,
                works: vec![PlannedWork {
                    work,
                    rules: LoadRules::side_by_side(run, &run.loads[0].spec),
                }],
                side_by_side: None,
                observer: None,
                sample_every: None,
                context: &context,
            })
            .collect();
        let session = Session {
            runs: &mut staged,
            slicing: SLICING,
            slices_at_most: self.slices_at_most,
            seed: 7,
            judge: self.judge,
            variables: None,
            deadline: self.deadline,
            context: &context,
        };
        let progress = RunProgress {
            step: &Unseen,
            label: String::new(),
            runs_before: 0,
            runs: 2,
            left: Duration::ZERO,
            expected_s: 1.0,
        };
        let result = session.record(&paths, progress);
        let warnings = warnings.0.lock().unwrap().clone();
        Ended {
            directory,
            result,
            warnings,
        }
    }
}

/// Begin, end and number of the slices in a record.
fn slices(record: &Record) -> Vec<(f64, f64, u32)> {
    let measured = record.intervals.iter();
    let measured = measured.filter_map(|it| Some((it.t_s, it.t_s + it.length_s, it.slice?)));
    measured.collect()
}

#[test]
fn two_loads_take_turns_and_both_records_are_complete() {
    let ended = Trial::of([endless(MS), endless(MS)]).record();
    ended.result.as_ref().unwrap();
    let records = ended.records();
    for record in &records {
        let end = record.end.as_ref().unwrap();
        assert!(end.complete, "{end:?}");
        assert_eq!(end.why, "as planned; 10 slices measured");
        let turns = record.side_by_side.as_ref().unwrap();
        assert_eq!(turns.combinations.len(), 2);
        assert_eq!(turns.batches_at_most(), 2);
        let fresh = MeasuredState {
            state: ServerState::Fresh,
            not_reached: None,
        };
        assert_eq!(record.measured_state.as_ref(), Some(&fresh));
        assert!(slices(record).iter().map(|it| it.2).eq(1..=10));
        // Without a settling time, operations that end in a pause were due before it.
        let pauses = record.intervals.iter();
        let mut pauses = pauses.filter(|it| it.phase == Phase::Pause);
        assert!(pauses.all(|it| it.operations.iter().all(|it| it.count == 0)));
        assert!(record.totals().response().count > 0);
    }
    let mut all = records.each_ref().map(slices).concat();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    for pair in all.windows(2) {
        assert!(pair[0].1 <= pair[1].0 + 1e-6, "{pair:?}");
    }
    // Each block has a slice of each load before the next one begins.
    assert!(all.is_sorted_by_key(|it| it.2), "{all:?}");
    let batches = samples::Batches::of(&records);
    let blocks: Vec<u32> = batches.records.iter().map(|it| it.header.block).collect();
    assert_eq!(blocks, [1, 2, 1, 2]);
}

#[test]
fn the_machine_is_sampled_at_the_borders_of_the_slices() {
    let ended = Trial::of([endless(MS), endless(MS)]).record();
    ended.result.as_ref().unwrap();
    for record in ended.records() {
        let mut collected = record.collected.iter();
        let of_machine = collected.find(|it| it.collector == "machine").unwrap();
        // The 10 slices of this seed have 30 borders; one sample in 100 ms would make 16. On a busy machine a sample may be
        // late, and the next one is then left out.
        let borders = of_machine.samples + of_machine.missed;
        assert!(borders >= 25, "{of_machine:?}");
        let measured = record.measured().unwrap();
        assert!(measured.telemetry().count() > 0);
    }
}

#[test]
fn loads_without_a_warm_up_begin_with_a_slice() {
    let trial = Trial {
        warm_up: WarmUp::None,
        slices_at_most: 5,
        ..Trial::of([endless(MS), endless(MS)])
    };
    let ended = trial.record();
    ended.result.as_ref().unwrap();
    for record in ended.records() {
        assert_eq!(slices(&record).len(), 5);
        let before = record.intervals.iter();
        let mut before = before.filter(|it| it.phase == Phase::WarmUp);
        assert!(before.all(|it| it.operations.iter().all(|it| it.count == 0)));
    }
}

#[test]
fn a_server_that_is_not_steady_in_time_is_measured_and_the_record_says_so() {
    let at_most = 100 * MS;
    let trial = Trial {
        warm_up: WarmUp::UntilSteady { at_most },
        slices_at_most: 5,
        ..Trial::of([endless(MS), endless(MS)])
    };
    let ended = trial.record();
    ended.result.as_ref().unwrap();
    for record in ended.records() {
        assert_eq!(slices(&record).len(), 5);
        let measured = record.measured_state.as_ref().unwrap();
        assert_eq!(measured.state, ServerState::Steady);
        // A single interval cannot be judged.
        let why = measured.not_reached.as_ref().unwrap();
        assert!(why.starts_with("not steady after 0.1 s: "), "{why}");
        let number = &record.header.combination["side"];
        let warning = format!("side={number}: {why}; it is measured in this state");
        let mut warnings = ended.warnings.iter();
        // A user of `ab` has no experiment file.
        let is_expected =
            |it: &String| it.starts_with(&warning) && it.contains("`dbdyno ab --warmup auto`");
        assert!(warnings.any(is_expected), "{warning}: {:?}", ended.warnings);
    }
}

#[test]
fn a_clear_difference_ends_the_session_after_a_batch() {
    let question = Question {
        metric: Metric::Throughput,
        baseline: vec![("side".to_owned(), "1".to_owned())],
        min_effect: 0.02,
        until_decided: Some(Budget {
            blocks: 12,
            time_is_spent: false,
        }),
    };
    // Many connections have operations in a slice even on a busy machine.
    let trial = Trial {
        connections: 16,
        slices_at_most: 60,
        judge: Some(BatchJudge::new(question, &[])),
        ..Trial::of([endless(MS), endless(30 * MS)])
    };
    let ended = trial.record();
    ended.result.as_ref().unwrap();
    let records = ended.records();
    let measured = slices(&records[0]).len();
    assert_eq!(slices(&records[1]).len(), measured);
    assert!(measured.is_multiple_of(5) && measured < 60, "{measured}");
    for record in &records {
        let why = &record.end.as_ref().unwrap().why;
        assert_eq!(*why, format!("as planned; decided after {measured} slices"));
    }
}

#[test]
fn a_session_without_time_ends_after_the_batches_that_it_needs() {
    let trial = Trial {
        slices_at_most: 500,
        deadline: Some(reactor::system_now()),
        ..Trial::of([endless(MS), endless(MS)])
    };
    let ended = trial.record();
    ended.result.as_ref().unwrap();
    for record in &ended.records() {
        assert_eq!(slices(record).len(), 30);
        let why = &record.end.as_ref().unwrap().why;
        assert_eq!(why, "as planned; no time is left for more than 30 slices");
    }
}

#[test]
fn a_load_that_fails_in_a_slice_ends_the_session_and_all_keep_what_they_measured() {
    let failing = WaitingWork {
        operations: 300,
        afterwards: Afterwards::Fail,
        ..endless(MS)
    };
    let trial = Trial {
        slices_at_most: 500,
        ..Trial::of([endless(MS), failing])
    };
    let ended = trial.record();
    let error = ended.result.as_ref().unwrap_err();
    assert_eq!(error.blame, Blame::Server);
    assert!(
        error.message.starts_with("run of side=2: wait: "),
        "{error}"
    );
    let [first, second] = ended.records();
    let why = first.incomplete_why().unwrap();
    assert!(why.starts_with("ended with the run of side=2: "), "{why}");
    let why = second.incomplete_why().unwrap();
    assert!(why.contains("the disk is full"), "{why}");
    assert!(!first.intervals.is_empty() && !second.intervals.is_empty());
}

#[test]
fn an_interruption_ends_the_session() {
    let interrupt = Interrupt::default();
    let interrupting = WaitingWork {
        operations: 200,
        afterwards: Afterwards::Interrupt(interrupt.clone()),
        ..endless(MS)
    };
    let trial = Trial {
        slices_at_most: 500,
        interrupt,
        ..Trial::of([interrupting, endless(MS)])
    };
    let ended = trial.record();
    assert_eq!(ended.result.as_ref().unwrap_err().blame, Blame::Interrupted);
    for record in ended.records() {
        assert_eq!(record.incomplete_why(), Some("interrupted"));
        assert!(!record.intervals.is_empty());
    }
}

#[test]
fn a_record_that_cannot_be_written_ends_the_session_before_it_begins() {
    let trial = Trial {
        existing: Some(2),
        ..Trial::of([endless(MS), endless(MS)])
    };
    let ended = trial.record();
    let error = ended.result.unwrap_err();
    assert_eq!(error.blame, Blame::Machine);
    let first = Record::open(&Ended::path(&ended.directory, 1)).unwrap();
    assert!(first.incomplete_why().unwrap().contains("run-2.jsonl"));
}
