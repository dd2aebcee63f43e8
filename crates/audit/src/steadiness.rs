//! Courses that do not stay at one level, by the classes of a run's state, and servers whose state still changes.

use samples::{InnodbStatus, ServerStatus};
use stats::{Evidence, Reason, Steadiness, judge_run};
use units::counted;

use crate::{
    finding::{Finding, Level},
    run::Run,
};

/// Why the mean course does not stay at one level, as text; `None` if it does.
pub(crate) fn moves_between_levels(mean: &[f64]) -> Option<String> {
    let state = judge_run(mean, &Evidence::default()).ok()?;
    let is_moving = matches!(
        state.steadiness,
        Steadiness::Cyclic | Steadiness::NeverSteady
    );
    let reasons: Vec<String> = state.reasons.iter().map(ToString::to_string).collect();
    (is_moving && !reasons.is_empty()).then(|| reasons.join("; "))
}

/// The executions that are not steady by themselves, in words: their mean can hide it. `None` if there is none.
pub(crate) fn unsteady_by_themselves(courses: &[Vec<f64>]) -> Option<String> {
    let states = courses.iter().filter_map(|course| {
        let state = judge_run(course, &Evidence::default()).ok()?;
        (state.steadiness != Steadiness::Steady).then_some(state)
    });
    let states: Vec<_> = states.collect();
    let first = states.first()?;
    let reasons: Vec<String> = first.reasons.iter().map(ToString::to_string).collect();
    let word = first.steadiness.word();
    Some(format!(
        "some executions are not steady by themselves: {} of {} ({word}: {})",
        states.len(),
        counted(courses.len(), "run"),
        reasons.join(", ")
    ))
}

/// A finding about the throughput of these runs; if they were side by side, with the reasons why the state of their servers
/// still changed. The throughput of short slices may not show it yet.
pub(crate) fn with_state_of_servers(finding: Finding, runs: &[&Run<'_>]) -> Finding {
    let mut changing = runs.iter().filter_map(|run| {
        let why = why_not_reached(run).or_else(|| changes_in_slices(run))?;
        Some(format!("{}: {why}", run.name()))
    });
    let Some(first) = changing.next() else {
        return finding;
    };
    let evidence = match changing.count() {
        0 => first,
        others => format!("{first}; and in {}", counted(others, "other run")),
    };
    let evidence = match finding.level {
        Level::Pass => evidence,
        _ => format!("{}; {evidence}", finding.evidence),
    };
    Finding {
        level: finding.level.max(Level::Warn),
        evidence,
        ..finding
    }
}

/// Why the server of a run was not steady when its slices began, although it was to be.
fn why_not_reached(run: &Run<'_>) -> Option<String> {
    let state = run.record.measured_state.as_ref()?;
    let why = state.not_reached.as_ref()?;
    Some(format!("when its slices began, the server was {why}"))
}

/// The changes that the server's counters show over the slices of a run; `None` without any, and for other runs.
fn changes_in_slices(run: &Run<'_>) -> Option<String> {
    run.record.side_by_side.as_ref()?;
    let readings = run.status().ok()?;
    let misses = |it: &&ServerStatus| it.counters.get("Innodb_buffer_pool_reads").copied();
    let has_misses = readings.iter().any(|it| misses(it).is_some());
    // A counter that did not grow is left out of a reading.
    let missed = readings.iter().filter(|_| has_misses);
    let missed = missed.map(|it| misses(it).unwrap_or(0.0) / it.length_s);
    // InnoDB's status is read at most once per second, of some servers only between their slices. It is that of a moment.
    let (begin_s, end_s) = run.record.measured_window_s()?;
    let is_in_session = |it: &&ServerStatus| (begin_s..=end_s).contains(&(it.t_s + it.length_s));
    let all = run.record.server_status.iter().filter(is_in_session);
    let innodb: Vec<&InnodbStatus> = all.filter_map(|it| it.innodb.as_ref()).collect();
    let ages = innodb.iter().filter_map(|it| it.checkpoint_age_bytes());
    let ages = ages.map(|bytes| bytes as f64);
    let dirty = innodb.iter().filter_map(|it| it.dirty_pages);
    let dirty = dirty.map(|pages| pages as f64);
    let (missed, ages, dirty): (Vec<f64>, Vec<f64>, Vec<f64>) =
        (missed.collect(), ages.collect(), dirty.collect());
    let evidence = Evidence {
        misses_per_s: &missed,
        checkpoint_age_bytes: &ages,
        dirty_pages: &dirty,
    };
    let state = judge_run(&run.course(), &evidence).ok()?;
    let of_counters = state.reasons.iter().filter(|reason| {
        matches!(
            reason,
            Reason::Misses(_) | Reason::CheckpointAge(_) | Reason::DirtyPages(_)
        )
    });
    let reasons: Vec<String> = of_counters.map(ToString::to_string).collect();
    (!reasons.is_empty()).then(|| format!("over its slices, {}", reasons.join(", ")))
}

#[cfg(test)]
mod tests {
    use samples::{MeasuredState, Record, ServerState};

    use super::*;
    use crate::{fixture::*, subject::AuditedRun};

    /// The finding for a run side by side after a change, which without it is sound.
    fn judged_after(change: impl FnOnce(&mut Record)) -> Finding {
        let mut record = healthy();
        in_turns(&mut record);
        change(&mut record);
        let measured = AuditedRun {
            record: &record,
            limit: None,
            side: None,
        };
        let sound = Finding::new(Level::Pass, "steady over all 60 s");
        with_state_of_servers(sound, &[&Run::of(&measured)])
    }

    fn state(state: ServerState, not_reached: Option<&str>) -> Option<MeasuredState> {
        let not_reached = not_reached.map(str::to_owned);
        Some(MeasuredState { state, not_reached })
    }

    /// A checkpoint age that grows by a MiB per second.
    fn growing(record: &mut Record) {
        for reading in &mut record.server_status {
            if let Some(innodb) = &mut reading.innodb {
                let age = (reading.t_s * 1024.0 * 1024.0) as u64;
                innodb.checkpoint_lsn = innodb.lsn.map(|lsn| lsn - age);
            }
        }
    }

    #[test]
    fn a_steady_state_that_was_not_reached_is_a_warning() {
        let found = judged_after(|record| {
            let why = "not steady after 60 s: still warming: misses per second changed";
            record.measured_state = state(ServerState::Steady, Some(why));
        });
        assert_eq!(found.level, Level::Warn);
        assert_eq!(
            found.evidence,
            "run 1: when its slices began, the server was not steady after 60 s: still warming: misses per second changed"
        );
        for reached in [ServerState::Steady, ServerState::Fresh] {
            let found = judged_after(|record| record.measured_state = state(reached, None));
            assert_eq!(found.level, Level::Pass, "{found:?}");
        }
    }

    #[test]
    fn work_that_a_server_postpones_in_its_slices_is_a_warning() {
        let found = judged_after(growing);
        assert_eq!(found.level, Level::Warn);
        let part = "run 1: over its slices, the checkpoint age grew by ";
        assert!(found.evidence.starts_with(part), "{}", found.evidence);
    }

    #[test]
    fn only_runs_side_by_side_are_judged_by_their_servers() {
        let found = judged_after(|record| {
            growing(record);
            record.side_by_side = None;
        });
        assert_eq!(found.level, Level::Pass, "{found:?}");
    }

    #[test]
    fn the_finding_about_the_throughput_comes_first() {
        let mut record = healthy();
        in_turns(&mut record);
        record.measured_state = state(ServerState::Steady, Some("not steady after 60 s"));
        let measured = AuditedRun {
            record: &record,
            limit: None,
            side: None,
        };
        let run = Run::of(&measured);
        let throughput = Finding::new(Level::Invalid, "throughput changed");
        let found = with_state_of_servers(throughput, &[&run, &run, &run]);
        assert_eq!(found.level, Level::Invalid);
        let expected = "throughput changed; run 1: when its slices began, the server was not steady after 60 s; and in 2 other \
                        runs";
        assert_eq!(found.evidence, expected);
    }
}
