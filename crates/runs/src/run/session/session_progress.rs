//! The progress of a session, which is that of all its runs.

use std::time::Duration;

use samples::{Interval, Phase};
use verdict::{Answer, interim_answer};

use crate::record::run_progress::RunProgress;

/// Shows how far a session is.
pub(super) struct SessionProgress<'a> {
    progress: RunProgress<'a>,
    /// The combination of each load, `flush=2`.
    combinations: Vec<String>,
    slices_at_most: u32,
    /// Connections of each load that are open, and all of them.
    connected: Vec<(u64, u64)>,
    /// The answer by the batches so far, `+23 % (+17 % to +29 %), 41 s`; `None` before there is one.
    answer: Option<String>,
}

impl<'a> SessionProgress<'a> {
    /// Of the loads with these combinations, each of which has at most this number of slices.
    pub(super) fn new(
        progress: RunProgress<'a>,
        combinations: Vec<String>,
        slices_at_most: u32,
    ) -> Self {
        Self {
            progress,
            connected: vec![(0, 0); combinations.len()],
            combinations,
            slices_at_most,
            answer: None,
        }
    }

    /// The combination of this load, `flush=2`.
    pub(super) fn combination(&self, load: usize) -> &str {
        &self.combinations[load]
    }

    /// Shows the connections of all loads; `open` of `total` connections of this one are open.
    pub(super) fn connected(&mut self, load: usize, open: u64, total: u64) {
        self.connected[load] = (open, total);
        let all = self.connected.iter();
        let (open, total) = all.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
        self.progress.connected(open, total);
    }

    /// Shows an interval of a load that has its turn, at this time after the start; `warms_up` is the load that warms up.
    pub(super) fn interval(
        &self,
        load: usize,
        interval: &Interval,
        warms_up: Option<usize>,
        elapsed_s: f64,
    ) {
        if let Some(words) = self.in_words(load, interval, warms_up) {
            self.progress.show(&words, elapsed_s);
        }
    }

    /// From now on, shows the answers by the batches so far, with the time in which the servers were loaded. The decision
    /// has a line of its own, which stays.
    pub(super) fn judged(&mut self, answers: &[Answer], are_decided: bool, loaded_s: f64) {
        let Some(answer) = interim_answer(answers) else {
            return;
        };
        let loaded = Duration::try_from_secs_f64(loaded_s).unwrap_or_default();
        let answer = format!("{answer}, {}", units::span(loaded));
        if are_decided {
            // The count of several says it already.
            let decided = if answers.len() == 1 { ", decided" } else { "" };
            self.progress.step.note(&format!("{answer}{decided}"));
        }
        self.answer = Some(answer);
    }

    /// `run 1-2 of 4 side by side: warming up flush=1`, then
    /// `slice 12 of 60, flush=2 1.2k/s, run 1-2 of 4 side by side`, behind the answer so far; `None` for a load that has no
    /// turn.
    fn in_words(
        &self,
        load: usize,
        interval: &Interval,
        warms_up: Option<usize>,
    ) -> Option<String> {
        let (label, combination) = (&self.progress.label, &self.combinations[load]);
        if let Some(slice) = interval.slice {
            let per_s = units::per_s(interval.succeeded() as f64 / interval.length_s);
            let most = self.slices_at_most;
            // First, because a narrow terminal cuts off the end.
            let answer = self.answer.as_ref();
            let answer = answer.map_or_else(String::new, |answer| format!("{answer}; "));
            return Some(format!(
                "{answer}slice {slice} of {most}, {combination} {per_s}, {label}"
            ));
        }
        let has_turn = interval.phase == Phase::WarmUp && warms_up == Some(load);
        has_turn.then(|| format!("{label}: warming up {combination}"))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use stats::compare_pairs;
    use verdict::Decision;

    use crate::listener::Step;

    use super::*;

    /// What the step said.
    #[derive(Default)]
    struct Said(RefCell<Vec<String>>);

    impl Step for Said {
        fn reach(&self, position: u64) {
            self.0.borrow_mut().push(format!("at {position}"));
        }
        fn lengthen(&self, _: u64) {}
        fn say(&self, what: &str) {
            self.0.borrow_mut().push(what.to_owned());
        }
        fn say_with(&self, what: &str, left: Duration) {
            self.0.borrow_mut().push(format!("{what} ({left:?} left)"));
        }
        fn announce(&self, _: &str, _: Duration) {}
        fn note(&self, line: &str) {
            self.0.borrow_mut().push(format!("line: {line}"));
        }
    }

    fn interval(phase: Phase, slice: Option<u32>) -> Interval {
        let phase = serde_json::to_string(&phase).unwrap();
        let line = format!(r#"{{"t_s":0.0,"length_s":0.5,"phase":{phase},"operations":[]}}"#);
        Interval {
            slice,
            ..serde_json::from_str(&line).unwrap()
        }
    }

    fn progress_of(said: &Said) -> SessionProgress<'_> {
        let progress = RunProgress {
            step: said,
            label: "run 3-4 of 4 side by side".to_owned(),
            runs_before: 2,
            runs: 2,
            left: Duration::from_secs(90),
            expected_s: 80.0,
        };
        let combinations = vec!["flush=1".to_owned(), "flush=2".to_owned()];
        SessionProgress::new(progress, combinations, 60)
    }

    /// A comparison of pairs that differ by about 23 %.
    fn answer(decision: Decision, pairs: usize) -> Answer {
        let pairs = [(100.0, 122.0), (100.0, 124.0), (100.0, 123.0)][..pairs].to_vec();
        Answer {
            within: Vec::new(),
            levels: vec![("flush".to_owned(), "2".to_owned())],
            of_batches: true,
            means: None,
            decision,
            comparison: compare_pairs(&pairs, 0.95),
            paired: true,
            p_value: None,
            executions_needed: None,
            effect: 0.02,
            smallest_effect: None,
            looks: None,
            short_slices: None,
        }
    }

    #[test]
    fn the_answer_so_far_is_first_on_the_line_and_the_decision_is_printed() {
        let said = Said::default();
        let mut progress = progress_of(&said);
        let slice = interval(Phase::Measurement, Some(12));
        let last = |progress: &SessionProgress<'_>| {
            progress.interval(1, &slice, None, 40.0);
            said.0.borrow_mut().split_off(0)[0].clone()
        };
        let rest = format!(
            "slice 12 of 60, flush=2 {}, run 3-4 of 4 side by side (50s left)",
            units::per_s(0.0)
        );
        // A single pair is no answer yet.
        progress.judged(&[answer(Decision::Inconclusive, 1)], false, 31.0);
        assert_eq!(last(&progress), rest);
        progress.judged(&[answer(Decision::Inconclusive, 3)], false, 41.4);
        let difference = "+23 % (+20.5 % to +25.5 %)";
        assert_eq!(last(&progress), format!("{difference}, 41 s; {rest}"));
        progress.judged(&[answer(Decision::Faster, 3)], true, 75.0);
        assert_eq!(
            said.0.borrow_mut().split_off(0),
            [format!("line: {difference}, 1 min 15 s, decided")]
        );
        let three = [Decision::Faster, Decision::Slower, Decision::Inconclusive];
        let three = three.map(|decision| answer(decision, 3));
        progress.judged(&three, false, 80.0);
        assert_eq!(
            last(&progress),
            format!("2 of 3 decided, 1 min 20 s; {rest}")
        );
        progress.judged(&three[..2], true, 81.0);
        assert_eq!(
            said.0.borrow_mut().split_off(0),
            ["line: 2 of 2 decided, 1 min 21 s"]
        );
    }

    #[test]
    fn the_load_that_has_its_turn_is_shown() {
        let said = Said::default();
        let mut progress = progress_of(&said);
        progress.connected(0, 1, 4);
        progress.connected(1, 2, 4);
        let warm_up = interval(Phase::WarmUp, None);
        progress.interval(0, &warm_up, Some(1), 10.0);
        progress.interval(1, &warm_up, Some(1), 10.0);
        let slice = interval(Phase::Measurement, Some(12));
        progress.interval(1, &slice, None, 40.0);
        progress.interval(0, &interval(Phase::Pause, None), None, 41.0);
        let said = said.0.into_inner();
        let per_s = units::per_s(0.0);
        assert_eq!(
            said,
            [
                "run 3-4 of 4 side by side: 1 of 4 connected",
                "run 3-4 of 4 side by side: 3 of 8 connected",
                "run 3-4 of 4 side by side: warming up flush=2 (80s left)",
                "at 2250",
                &format!("slice 12 of 60, flush=2 {per_s}, run 3-4 of 4 side by side (50s left)"),
                "at 3000",
            ]
        );
    }
}
