//! Sessions: the runs side by side of one block, whose loads took turns.

use jiff::Timestamp;
use samples::Record;

use crate::run::Run;

/// True for two runs of one session, neither of which was measured before the other.
pub(crate) fn took_turns(one: &Record, other: &Record) -> bool {
    let (a, b) = (&one.header, &other.header);
    let turns = one.side_by_side.as_ref().zip(other.side_by_side.as_ref());
    turns.is_some_and(|(one, other)| one.is_of_session(other))
        && (a.block, &a.experiment_sha256) == (b.block, &b.experiment_sha256)
        && a.combination != b.combination
        && overlap(one, other)
}

/// These runs without those that took turns with an earlier one of them.
pub(crate) fn one_of_each<'s, 'a: 's>(runs: impl Iterator<Item = &'s Run<'a>>) -> Vec<&'s Run<'a>> {
    let mut kept: Vec<&Run<'a>> = Vec::new();
    for run in runs {
        if !kept.iter().any(|it| took_turns(it.record, run.record)) {
            kept.push(run);
        }
    }
    kept
}

/// Begin and end of a run, seconds since 1970; `None` if one of them is not known.
pub(crate) fn span_s(record: &Record) -> Option<(f64, f64)> {
    let began: Timestamp = record.header.started_at.parse().ok()?;
    let began_s = began.as_millisecond() as f64 / 1e3;
    Some((began_s, began_s + record.end.as_ref()?.t_s))
}

/// False for two executions of one experiment, of which one was over before the other began.
fn overlap(one: &Record, other: &Record) -> bool {
    let spans = span_s(one).zip(span_s(other));
    spans.is_none_or(|(one, other)| one.0 <= other.1 && other.0 <= one.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn runs_of_a_session_overlap_and_differ() {
        let run = |number: u32, block: u32, level: &str| {
            let mut record = run_of(number, block, &[("flush", level)]);
            in_turns(&mut record);
            record.header.started_at = format!("2026-11-21T10:0{block}:0{number}Z");
            record
        };
        let (one, two) = (run(1, 1, "1"), run(2, 1, "2"));
        assert!(took_turns(&one, &two));
        assert!(!took_turns(&one, &one), "the same combination");
        assert!(!took_turns(&one, &run(4, 2, "2")), "another block");
        let mut setting = two.clone();
        let turns = setting.side_by_side.as_mut().unwrap();
        let value = ("sync_binlog".to_owned(), "1".to_owned());
        turns.set_global.extend([value]);
        assert!(took_turns(&one, &setting), "SET GLOBAL before each turn");
        let mut later = two.clone();
        later.header.started_at = "2026-11-21T12:00:00Z".to_owned();
        assert!(!took_turns(&one, &later), "another execution");
        let mut classical = two;
        classical.side_by_side = None;
        assert!(!took_turns(&one, &classical));
    }
}
