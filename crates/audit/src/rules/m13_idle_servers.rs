//! Rule M13: a server works while other servers have their turns.

use samples::IdleActivity;
use units::{bytes_per_s, count, mean_bytes, percent};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// CPU time of an idle server, as a share of one core.
const CPU: f64 = 0.02;
/// Bytes written per second by an idle server, as a share of those in its slices.
const WRITTEN: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    id: "M13",
    name: "servers side by side are idle between their slices",
    found: "a server works while other servers have their turns",
    measures: "For runs side by side, the activity of the server between its slices: the CPU time of its process as a share of one core, and the bytes that it writes per second as a share of those in its slices. The settling times before and after each slice are left out, and so is every sample that overlaps a slice or a settling time. With `quiet = true`, the pause after each turn is left out, too.",
    threshold: "warn if the CPU time is more than 2 % of one core. Warn if the server writes more than 64 KiB per second and more than 5 % of the rate in its slices",
    source: "the assumption of the design that each server works only in its own turns (docs/methodology.md)",
    consequence: "The work takes time of CPU and disk from the slices of the other servers. A setting that postpones work, such as flushing, then looks faster than it is, at the expense of the others.",
    remedy: "If the experiment does not have it yet, write `quiet = true` (`dbdyno ab --wait-until-quiet`): the next turn then begins when the server has flushed, at most 2 s later. Or use longer slices (`slice`), so that more of the work is done in the server's own slices, or compare with design = \"classical\".",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let Some(turns) = &run.record.side_by_side else {
        return Err(no_subject("the servers did not run side by side"));
    };
    if turns.on_one_server {
        return Err(no_subject("the loads took turns on one server"));
    }
    let idle = IdleActivity::of(run.record);
    let idle = idle.ok_or_else(|| missing("samples of the server between its slices"))?;
    let mut evidence = format!(
        "between its slices, the server used {} of a core",
        percent(idle.cpu_share)
    );
    let mut is_busy = idle.cpu_share > CPU;
    if let Some(written) = idle.written {
        evidence.push_str(&format!(" and wrote {}", bytes_per_s(written.idle_per_s)));
        if let Some(share) = written.idle_share() {
            evidence.push_str(&format!(" ({} of the rate in its slices)", percent(share)));
            is_busy |= share > WRITTEN && written.idle_per_s > IdleActivity::WRITTEN_BYTES_PER_S;
        }
    }
    let level = if is_busy {
        evidence.push_str(&format!(": {}", work(&idle)));
        Level::Warn
    } else {
        Level::Pass
    };
    let mut finding = Finding::new(level, evidence).with("idle_cpu_share", idle.cpu_share);
    if let Some(share) = idle.written.and_then(|written| written.idle_share()) {
        finding = finding.with("idle_written_share", share);
    }
    Ok(finding)
}

/// What the server does, as far as its counters show it.
fn work(idle: &IdleActivity) -> String {
    let mut parts = Vec::new();
    if let Some(pages_per_s) = idle.pages_flushed_per_s.filter(|it| *it >= 1.0) {
        let pages = count(pages_per_s);
        parts.push(format!("flushing ({pages} pages per second)"));
    }
    if let Some(change) = idle.history_list_change.filter(|it| *it <= -1.0) {
        let purged = count(-change);
        parts.push(format!("purge (history list shorter by {purged})"));
    }
    if let Some(change) = idle.checkpoint_age_change_bytes.filter(|it| *it <= -1.0) {
        let fell = mean_bytes(-change);
        parts.push(format!("checkpoints (age lower by {fell})"));
    }
    if parts.is_empty() {
        "the counters do not show the kind of work".to_owned()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::fixture::*;

    /// A server side by side that uses this CPU time in each second between its slices, and writes these bytes.
    fn between_slices(record: &mut Record, cpu_s: f64, written_bytes: u64) {
        in_turns(record);
        let slices = record.measured().expect("it was measured").parts_s();
        let has_begun = |t_s: f64| slices.iter().any(|slice| slice.0 == t_s);
        for sample in &mut record.telemetry {
            let is_idle = !has_begun(sample.t_s);
            let server = sample.server.as_mut().expect("it is observed");
            server.written_bytes = Some(10 << 20);
            if is_idle {
                (server.user_s, server.system_s) = (cpu_s, 0.0);
                server.written_bytes = Some(written_bytes);
            }
        }
    }

    fn with_idle(cpu_s: f64, written_bytes: u64) -> Outcome {
        judged(&RULE, |record| between_slices(record, cpu_s, written_bytes))
    }

    #[test]
    fn found() {
        assert_found(
            &with_idle(0.12, 0),
            Level::Warn,
            "between its slices, the server used 12 % of a core and wrote 0 B/s (0 % of the rate in its slices): the \
             counters do not show the kind of work",
        );
        let outcome = with_idle(0.01, 1 << 20);
        assert_found(&outcome, Level::Warn, "(10 % of the rate in its slices)");
        let figures = outcome.unwrap().figures;
        assert_eq!(figures["idle_written_share"], 0.1);
    }

    #[test]
    fn the_work_is_named() {
        let outcome = judged(&RULE, |record| {
            between_slices(record, 0.12, 0);
            let mut history = 100_000.0;
            for reading in &mut record.server_status {
                history -= 100.0;
                reading.values = [("Innodb_history_list_length".to_owned(), history)].into();
            }
            counter(record, "Innodb_buffer_pool_pages_flushed", 300.0);
        });
        let evidence = outcome.unwrap().evidence;
        assert!(
            evidence.contains("flushing (300 pages per second)"),
            "{evidence}"
        );
        assert!(
            evidence.contains("purge (history list shorter by "),
            "{evidence}"
        );
        assert!(!evidence.contains("checkpoints"), "{evidence}");
    }

    #[test]
    fn passes() {
        assert_found(&with_idle(0.01, 1000), Level::Pass, "1 % of a core");
        // Much of little.
        let outcome = judged(&RULE, |record| {
            between_slices(record, 0.0, 40_000);
            each_sample(record, |sample| {
                let server = sample.server.as_mut().expect("it is observed");
                server.written_bytes = Some(40_000);
            });
        });
        assert_eq!(level(&outcome), Level::Pass);
        assert_no_subject(&judged(&RULE, |_| {}));
        // It works for the loads of the others.
        assert_no_subject(&judged(&RULE, |record| {
            between_slices(record, 1.0, 0);
            let turns = record.side_by_side.as_mut().expect("it is side by side");
            turns.on_one_server = true;
        }));
    }

    #[test]
    fn without_samples_nothing_is_known() {
        let outcome = judged(&RULE, |record| {
            in_turns(record);
            record.telemetry.clear();
        });
        assert_missing(&outcome, "samples of the server between its slices");
    }
}
