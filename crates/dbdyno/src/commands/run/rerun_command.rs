//! The command on the `next` line: the command that is running, with options that make its answer complete or certain.

use std::{path::Path, time::Duration};

use experiment::{Costs, Design, Plan, PlannedRun, run_times};
use report::NextStep;
use results::{Origin, ResultsDirectory};

use crate::commands::command_line::CommandLine;

/// Length of runs to rely on.
const LONG_ENOUGH: Duration = Duration::from_secs(30);
/// Runs of each combination without which nothing is decided.
const RUNS_TO_DECIDE: u32 = 3;
/// The same of sessions, each of which may decide alone.
const SESSIONS_TO_DECIDE: u32 = 1;

/// A command that measures again.
pub(crate) struct RerunCommand {
    command: CommandLine,
    /// The options that it takes, of `--resume`, `--repeats`, `--duration`, `--budget` and `--connections`.
    takes: &'static [&'static str],
    /// `None` if it cannot measure side by side.
    side_by_side: Option<SideBySideOptions>,
}

/// What the same command side by side needs besides `--design`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SideBySideOptions {
    /// Whether its `--duration` is too short for a session.
    pub(crate) is_duration_too_short: bool,
    /// A longer budget, where its own is too short for a session.
    pub(crate) budget: Option<Duration>,
}

impl RerunCommand {
    /// The command that is running, which takes these options.
    pub(crate) fn of_this_command(takes: &'static [&'static str]) -> Self {
        let directory = std::env::current_dir().unwrap_or_default();
        let arguments = std::env::args_os().skip(1);
        let arguments: Vec<String> = arguments
            .map(|it| it.to_string_lossy().into_owned())
            .collect();
        let command = CommandLine::of(&directory, &arguments);
        Self {
            command,
            takes,
            side_by_side: None,
        }
    }

    /// The same command, which can measure side by side with these options.
    pub(crate) fn or_side_by_side(self, options: Option<SideBySideOptions>) -> Self {
        Self {
            side_by_side: options,
            ..self
        }
    }

    /// The command line of the next step after the results of a plan in `dir`; `None` if the command has no option for
    /// it.
    pub(super) fn by(&self, step: NextStep, dir: &Path, plan: &Plan) -> Option<String> {
        let mut command = self.command.clone();
        command.unset(&["--results"]);
        command.unset_flag("--resume");
        match step {
            NextStep::Again => {}
            NextStep::Resume if self.has("--resume") => {
                command.set(&["--results"], &dir.display().to_string());
                command.set_flag("--resume");
            }
            NextStep::Repeats(repeats) if self.has("--repeats") => {
                command.set(&["--repeats"], &repeats.to_string());
            }
            NextStep::Repeats(repeats) if self.has("--budget") => {
                let planned_s = plan.estimate(&Costs::default()).as_secs_f64()
                    / f64::from(plan.repeats.blocks().max(1));
                let block_s = planned_s.max(measured_block_s(dir, plan).unwrap_or(0.0));
                // One to spare, as runs take longer than planned on a busy machine.
                command.set(&["--budget"], &in_minutes(block_s * (repeats as f64 + 1.0)));
            }
            NextStep::MoreThan(connections) if self.has("--connections") => {
                command.set(&["--connections", "-c"], &(connections * 2).to_string());
            }
            NextStep::Longer if self.has("--duration") => {
                self.lengthen(&mut command, &LongerRuns::of(plan)?);
            }
            NextStep::SideBySide => {
                let options = self.side_by_side?;
                command.set(&["--design"], "side-by-side");
                if options.is_duration_too_short {
                    command.unset(&["--duration"]);
                }
                if let Some(budget) = options.budget {
                    command.set(&["--budget"], &in_minutes(budget.as_secs_f64()));
                }
            }
            _ => return None,
        }
        Some(command.in_words())
    }

    /// Sets the length of the runs. If there would be too few of them to decide, also what allows more: a longer time
    /// limit, or a fixed number of runs, which has no time limit.
    fn lengthen(&self, command: &mut CommandLine, runs: &LongerRuns) {
        let seconds = runs.duration.as_secs_f64().ceil();
        command.set(&["--duration"], &format!("{seconds:.0}s"));
        if runs.can_decide() {
            return;
        }
        if self.has("--budget") {
            command.set(&["--budget"], &in_minutes(runs.enough.as_secs_f64()));
        } else if self.has("--repeats") {
            command.set(&["--repeats"], &runs.needed.to_string());
        }
    }

    fn has(&self, option: &str) -> bool {
        self.takes.contains(&option)
    }
}

/// A time as a value of `--budget`, in whole minutes.
fn in_minutes(seconds: f64) -> String {
    format!("{:.0}m", (seconds / 60.0).ceil())
}

/// How long a block of the results in `dir` took with all preparation, on average, seconds; `None` if no run has a record.
fn measured_block_s(dir: &Path, plan: &Plan) -> Option<f64> {
    let took = Origin::read(dir).ok()?.took();
    let results = ResultsDirectory::of_past(dir);
    let is_recorded = |run: &&PlannedRun| results.records_of(run).iter().all(|it| it.exists());
    let recorded = plan.runs.iter().filter(is_recorded).count();
    let of_block = plan.runs.iter().filter(|run| run.block == 1).count();
    (recorded > 0).then(|| took.as_secs_f64() * of_block as f64 / recorded as f64)
}

/// The runs of a plan if each is longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LongerRuns {
    /// Length of each measurement.
    duration: Duration,
    /// The time for as many runs of each combination as decide, and one more: on a busy machine, runs take longer than
    /// planned.
    enough: Duration,
    /// The time limit of the plan.
    limit: Option<Duration>,
    /// Runs of each combination, at most.
    repeats: u32,
    /// Runs of each combination that are needed for a decision.
    needed: u32,
}

impl LongerRuns {
    /// `None` if the length of the runs cannot be set: the loads end by themselves, or have stages.
    fn of(plan: &Plan) -> Option<Self> {
        let loads = || plan.runs.iter().flat_map(|run| &run.loads);
        let is_timed = loads().all(|it| !it.spec.ends_by_itself() && it.spec.stages.is_empty());
        let longest = loads().map(|it| it.spec.duration).max()?;
        let duration = if longest < LONG_ENOUGH {
            LONG_ENOUGH
        } else {
            // Such runs were just found to be too short.
            longest.saturating_mul(2)
        };
        let needed = match plan.design {
            Design::Classical => RUNS_TO_DECIDE,
            Design::SideBySide(_) => SESSIONS_TO_DECIDE,
        };
        let loaded = |measured: Duration| match plan.design {
            Design::Classical => measured,
            Design::SideBySide(slicing) => slicing.time_of_turns(measured),
        };
        let runs = plan.runs.iter();
        let runs: Vec<_> = runs.filter(|it| it.block <= needed + 1).collect();
        let times = run_times(runs.iter().copied(), &Costs::default());
        let seconds = runs.iter().zip(times).map(|(run, time)| {
            let longer = loaded(duration).saturating_sub(loaded(run.data_load.duration));
            time.preparation_s + time.load_s + longer.as_secs_f64()
        });
        // A plan may have fewer.
        let counted = plan.repeats.blocks().clamp(1, needed + 1);
        let share = f64::from(needed + 1) / f64::from(counted);
        let enough_s = seconds.sum::<f64>() * share;
        let enough = Duration::try_from_secs_f64(enough_s).unwrap_or(Duration::MAX);
        is_timed.then_some(Self {
            duration,
            enough,
            limit: plan.repeats.time(),
            repeats: plan.repeats.blocks(),
            needed,
        })
    }

    /// Whether there are enough of them within the time limit.
    fn can_decide(&self) -> bool {
        let is_in_time = self.limit.is_none_or(|limit| self.enough <= limit);
        is_in_time && self.repeats >= self.needed
    }
}

#[cfg(test)]
mod tests {
    use benchmarks::VOCABULARY;
    use experiment::{Experiment, Overrides};

    use super::*;

    const RUN: &[&str] = &["--resume", "--repeats", "--duration"];
    const AB: &[&str] = &["--duration", "--budget"];

    fn again(line: &str, takes: &'static [&'static str]) -> RerunCommand {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let command = CommandLine::of(Path::new("/home/dba"), &arguments);
        RerunCommand {
            command,
            takes,
            side_by_side: None,
        }
    }

    #[test]
    fn longer_runs_have_time_to_decide() {
        for (takes, line, limit_s, repeats, expected) in [
            (RUN, "run a.toml", None, 3, "run a.toml --duration=30s"),
            (
                RUN,
                "run a.toml",
                Some(600),
                20,
                "run a.toml --duration=30s",
            ),
            (
                RUN,
                "run a.toml",
                Some(100),
                20,
                "run a.toml --duration=30s --repeats=3",
            ),
            (
                RUN,
                "run a.toml --repeats 2",
                None,
                2,
                "run a.toml --duration=30s --repeats=3",
            ),
            (
                AB,
                "ab --budget 20m oltp",
                Some(1200),
                30,
                "ab --budget 20m oltp --duration=30s",
            ),
            (
                AB,
                "ab --budget 2m oltp",
                Some(120),
                3,
                "ab oltp --duration=30s --budget=5m",
            ),
        ] {
            let runs = LongerRuns {
                duration: LONG_ENOUGH,
                enough: Duration::from_secs(280),
                limit: limit_s.map(Duration::from_secs),
                repeats,
                needed: RUNS_TO_DECIDE,
            };
            let again = again(line, takes);
            let mut command = again.command.clone();
            again.lengthen(&mut command, &runs);
            assert_eq!(command.in_words(), format!("dbdyno {expected}"), "{line}");
        }
    }

    /// Two combinations until decided, within 100 s.
    fn experiment(duration: &str) -> Experiment {
        let text = format!(
            "format = 1\nrepeats = \"until decided\"\nat_most = 20\ntime_at_most = \"100s\"\n\
             [matrix]\nclients = [\"1\", \"2\"]\n[data]\noltp = {{ tables = 1, table_size = 10 }}\n\
             [load]\noltp = {{ script = \"point_select\" }}\nconnections = \"{{clients}}\"\n\
             duration = \"{duration}\"\nwarmup = \"0s\"\n[verdict]\nbaseline = {{ clients = \"1\" }}\n"
        );
        let path = Path::new("a.toml");
        Experiment::parse(path, &text, &Overrides::default(), &VOCABULARY).unwrap()
    }

    #[test]
    fn the_next_step_of_a_plan_with_a_time_limit_can_decide() {
        let short = experiment("4s");
        let found = LongerRuns::of(short.plan()).unwrap();
        assert_eq!(found.duration, LONG_ENOUGH);
        assert_eq!(
            (found.limit, found.repeats),
            (Some(Duration::from_secs(100)), 20)
        );
        // Four runs of each combination, of 30 s and a few seconds around them.
        let seconds = found.enough.as_secs();
        assert!((245..300).contains(&seconds), "{found:?}");
        let again = again("run a.toml --results results/a-1", RUN);
        let next = again.by(NextStep::Longer, Path::new("results/a-1"), short.plan());
        assert_eq!(
            next.as_deref(),
            Some("dbdyno run a.toml --duration=30s --repeats=3")
        );
        let long = experiment("40s");
        let found = LongerRuns::of(long.plan()).unwrap();
        assert_eq!(found.duration, Duration::from_secs(80));
    }

    #[test]
    fn the_same_comparison_side_by_side() {
        let plan = experiment("4s");
        let next = |line: &str, options| {
            let again = again(line, AB).or_side_by_side(options);
            again.by(NextStep::SideBySide, Path::new("r"), plan.plan())
        };
        let options = SideBySideOptions {
            is_duration_too_short: false,
            budget: None,
        };
        assert_eq!(
            next("ab --results r --design classical -c4 oltp", Some(options)).as_deref(),
            Some("dbdyno ab -c4 oltp --design=side-by-side")
        );
        let longer = SideBySideOptions {
            is_duration_too_short: true,
            budget: Some(Duration::from_secs(130)),
        };
        assert_eq!(
            next("ab --duration 4s --budget 100s oltp", Some(longer)).as_deref(),
            Some("dbdyno ab oltp --design=side-by-side --budget=3m")
        );
        assert_eq!(next("ab oltp", None), None);
    }

    #[test]
    fn a_longer_budget_counts_the_blocks_as_long_as_they_took() {
        let short = experiment("4s");
        let plan = short.plan();
        let directory = tempfile::tempdir().unwrap();
        let dir = directory.path();
        let again = again("ab --budget 100s oltp", AB);
        let next = || again.by(NextStep::Repeats(3), dir, plan);
        // Four blocks of two runs, of 4 s and a few seconds around them.
        assert_eq!(next().as_deref(), Some("dbdyno ab oltp --budget=1m"));
        let origin = Origin::first(Path::new("a.toml")).text();
        std::fs::write(dir.join("origin.json"), origin).unwrap();
        Origin::note_end(dir, Duration::from_secs(96), true).unwrap();
        assert_eq!(measured_block_s(dir, plan), None);
        let results = ResultsDirectory::of_past(dir);
        for run in plan.runs.iter().filter(|run| run.block <= 2) {
            for record in results.records_of(run) {
                std::fs::write(record, "").unwrap();
            }
        }
        // Four blocks of 48 s.
        assert_eq!(measured_block_s(dir, plan), Some(48.0));
        assert_eq!(next().as_deref(), Some("dbdyno ab oltp --budget=4m"));
    }

    #[test]
    fn the_next_step_side_by_side_counts_sessions() {
        let text = "format = 1\nrepeats = \"until decided\"\nat_most = 2\ntime_at_most = \"3m\"\ndesign = \"side by side\"\n\
             [matrix]\nclients = [\"1\", \"2\"]\n[data]\noltp = { tables = 1, table_size = 10 }\n\
             [load]\noltp = { script = \"point_select\" }\nconnections = \"{clients}\"\n\
             duration = \"30s\"\nwarmup = \"0s\"\n[verdict]\nbaseline = { clients = \"1\" }\n";
        let path = Path::new("a.toml");
        let beside = Experiment::parse(path, text, &Overrides::default(), &VOCABULARY).unwrap();
        let found = LongerRuns::of(beside.plan()).unwrap();
        assert_eq!((found.needed, found.repeats), (1, 2));
        assert_eq!(found.duration, Duration::from_secs(60));
        // Two sessions of two combinations, with turns of 72 s and a few seconds around them.
        let seconds = found.enough.as_secs();
        assert!((288..310).contains(&seconds), "{found:?}");
        let again = |step, takes| again("ab oltp", takes).by(step, Path::new("r"), beside.plan());
        assert_eq!(
            again(NextStep::Repeats(2), RUN).as_deref(),
            Some("dbdyno ab oltp --repeats=2")
        );
        assert_eq!(
            again(NextStep::Again, RUN).as_deref(),
            Some("dbdyno ab oltp")
        );
        // Three sessions of 76 s, one of them to spare.
        assert_eq!(
            again(NextStep::Repeats(2), AB).as_deref(),
            Some("dbdyno ab oltp --budget=4m")
        );
    }
}
