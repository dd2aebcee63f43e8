//! Rule C06: the lock of the query cache may serialise the statements.

use units::{mean_bytes, percent};

use crate::{
    finding::{Finding, Level, Outcome, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Connections waiting for the lock, as a share of the connections that executed a statement.
const WAITING: f64 = 0.1;
/// Connections from which they can block each other.
const CONNECTIONS: u32 = 4;
/// CPU usage of the machine that is neither busy nor idle.
const HALF_BUSY: std::ops::RangeInclusive<f64> = 0.3..=0.6;
const IOWAIT: f64 = 0.05;

pub(super) const RULE: Rule = Rule {
    id: "C06",
    name: "the query cache's lock does not serialise statements",
    found: "the query cache's lock may serialise statements",
    measures: "The settings query_cache_type and query_cache_size. The share of sampled statements that waited for the query cache's lock. The CPU utilisation.",
    threshold: "note if the query cache is on. With 4 or more connections, warn if at least 10 % of the sampled statements waited for the cache's lock. With 4 or more connections, also warn if the CPUs were only 30 to 60 % busy and waited for I/O less than 5 % of the time",
    source: "HP Japan, MySQL Server 5.0 sizing information: SELECTs without updates ran slower than SELECTs mixed with updates, with the CPU at 40 to 50 %; without the cache, throughput was four times as high",
    consequence: "A single mutex limits the server. More CPUs or connections do not help, and the throughput says nothing about the rest of the server.",
    remedy: "Set query_cache_type = OFF and query_cache_size = 0, and measure again: the difference is the cost of the lock.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    run.server()?;
    let Some(kind) = run.variable("query_cache_type") else {
        return Err(no_subject("this server has no query cache"));
    };
    let size = run.number("query_cache_size").unwrap_or(0.0);
    let is_on = !kind.eq_ignore_ascii_case("off") && kind != "0" && size > 0.0;
    if !is_on {
        return Ok(Finding::new(
            Level::Pass,
            format!("query_cache_type={kind}, query_cache_size={size}"),
        ));
    }
    let connections = run.connections();
    let (waiting, active) = seen(run)?;
    let share = waiting / f64::max(active, 1.0);
    let cpu = run
        .figures
        .server_cpu
        .ok_or_else(|| crate::finding::missing("the CPU utilisation of the server's machine"))?;
    let busy = cpu.busy();
    let is_half_busy = HALF_BUSY.contains(&busy) && cpu.iowait < IOWAIT;
    let evidence = format!(
        "the query cache is on ({}); {} of the sampled statements waited for its lock; the CPUs were {} busy and waited for I/O {} of the time",
        mean_bytes(size),
        percent(share),
        percent(busy),
        percent(cpu.iowait)
    );
    let level = if connections >= CONNECTIONS && (share >= WAITING || is_half_busy) {
        Level::Warn
    } else {
        Level::Note
    };
    Ok(Finding::new(level, evidence)
        .with("waiting_share", share)
        .with("cpu_busy_share", busy))
}

/// Connections seen waiting for the lock, and connections seen executing a statement, summed over all readings.
fn seen(run: &Run<'_>) -> Result<(f64, f64), crate::finding::SkipReason> {
    let (mut waiting, mut active) = (0.0, 0.0);
    for reading in run.status()? {
        for (state, count) in &reading.processes {
            let state = state.to_lowercase();
            if state.starts_with("sleep") {
                continue;
            }
            active += f64::from(*count);
            if state.contains("query cache lock") {
                waiting += f64::from(*count);
            }
        }
    }
    Ok((waiting, active))
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::fixture::*;

    fn switch_on(record: &mut Record) {
        set(record, "query_cache_type", "ON");
        set(record, "query_cache_size", "67108864");
    }

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            switch_on(record);
            for reading in &mut record.server_status {
                let processes = [
                    ("Query: Waiting for query cache lock".to_owned(), 6),
                    ("Query: Sending data".to_owned(), 2),
                ];
                reading.processes = processes.into();
            }
        });
        assert_found(
            &outcome,
            Level::Warn,
            "75 % of the sampled statements waited for its lock",
        );
        let outcome = judged(&RULE, |record| {
            switch_on(record);
            each_sample(record, |sample| {
                let machine = sample.machine.as_mut().unwrap();
                (machine.user_s, machine.idle_s) = (2.5, 4.5);
            });
        });
        assert_found(&outcome, Level::Warn, "CPUs were 44 % busy");
        assert_eq!(level(&judged(&RULE, switch_on)), Level::Note);
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "query_cache_type=OFF");
        let outcome = judged(&RULE, |record| {
            record.servers[0].variables.remove("query_cache_type");
        });
        assert_no_subject(&outcome);
    }

    #[test]
    fn counters_that_nobody_read_are_not_evaluated() {
        let outcome = judged(&RULE, |record| {
            switch_on(record);
            record.server_status.clear();
        });
        assert_missing(&outcome, "counters");
    }
}
