//! Arrivals at a rate: whether the rate, the send lag and the response times are true, on the wall clock.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{
    finished::Finished, progress::Progress, servers::NullServer, statement_log::StatementLog,
    target::Target, tool::Programs, verdict::Bound,
};

/// The rate of the stall, per second, and the length of its run, in seconds.
const STALL_RATE_PER_S: u32 = 1_000;
const STALL_RUN_S: u32 = 6;

/// Per second, and the length of the run in seconds.
const HIGH_RATE_PER_S: u32 = 50_000;
const HIGH_RATE_RUN_S: u32 = 4;

/// What one round found.
#[derive(Debug, Default)]
struct Found {
    rate_percent: Vec<f64>,
    lag_us: Vec<f64>,
    lag_spinning_us: Vec<f64>,
    p95_percent: Vec<f64>,
    p99_percent: Vec<f64>,
}

/// Measures everything `rounds` times, each run on a null server of its own; nothing is pinned.
pub(crate) fn measure(programs: &Programs, work: &Path, rounds: usize) -> Result<Vec<Target>> {
    let bench = Bench { programs, work };
    let mut progress = Progress::new(4 * rounds);
    let mut found = Found::default();
    for _ in 0..rounds {
        progress.step("50,000/s");
        note(&progress, bench.rate(), |percent| {
            found.rate_percent.push(percent)
        });
        progress.step("send lag");
        note(&progress, bench.lag_us(&[]), |us| found.lag_us.push(us));
        progress.step("send lag, spinning");
        note(&progress, bench.lag_us(&["--spin"]), |us| {
            found.lag_spinning_us.push(us)
        });
        progress.step("a server that freezes");
        note(&progress, bench.stall(), |(p95, p99)| {
            found.p95_percent.push(p95);
            found.p99_percent.push(p99);
        });
    }
    progress.finish();
    Ok(targets(&found))
}

fn note<T>(progress: &Progress, measured: Result<T>, mut keep: impl FnMut(T)) {
    match measured {
        Ok(value) => keep(value),
        Err(error) => progress.note(&format!("{error:#}")),
    }
}

fn targets(found: &Found) -> Vec<Target> {
    let lag = "send lag at 5,000/s and 8 connections, median, µs";
    let freeze = "1,000/s over a freeze of 0.5 s in 6 s";
    vec![
        Target::of_values(
            "50,000/s asked of the null server: what its log saw, deviation in %".to_owned(),
            Bound::Within(-0.5, 0.5),
            &found.rate_percent,
        ),
        Target::of_values(lag.to_owned(), Bound::AtMost(25.0), &found.lag_us),
        Target::of_values(
            format!("{lag}, --spin"),
            Bound::AtMost(1.0),
            &found.lag_spinning_us,
        ),
        Target::of_values(
            format!("{freeze}: reported p95 against the truth of schedule and server's log, %"),
            Bound::Within(-5.0, 5.0),
            &found.p95_percent,
        ),
        Target::of_values(
            format!("{freeze}: reported p99 against the same truth, %"),
            Bound::Within(-5.0, 5.0),
            &found.p99_percent,
        ),
    ]
}

struct Bench<'a> {
    programs: &'a Programs,
    work: &'a Path,
}

impl Bench<'_> {
    /// By how much the rate that the server saw differs from the one that was asked for, in percent.
    fn rate(&self) -> Result<f64> {
        let asked = f64::from(HIGH_RATE_PER_S);
        let options = [
            format!("--rate={HIGH_RATE_PER_S}"),
            format!("--duration={HIGH_RATE_RUN_S}"),
            "--connections=64".to_owned(),
        ];
        let (_, log) = self.run(&[], &options)?;
        let seen = log.rate_per_s().context("fewer than two statements")?;
        Ok((seen / asked - 1.0) * 100.0)
    }

    /// The median send lag that the client reports, in microseconds.
    fn lag_us(&self, further: &[&str]) -> Result<f64> {
        let mut options: Vec<String> = ["--rate=5000", "--duration=2", "--connections=8"]
            .map(str::to_owned)
            .into();
        options.extend(further.iter().map(|option| (*option).to_owned()));
        let (report, _) = self.run(&[], &options)?;
        Ok(percentile_ms(&report["send_lag"], 50.0)? * 1e3)
    }

    /// By how much p95 and p99 of the report differ from the truth, in percent.
    fn stall(&self) -> Result<(f64, f64)> {
        let freeze = ["--freeze-at=2s", "--freeze-for=500ms"].map(str::to_owned);
        let options = [
            format!("--rate={STALL_RATE_PER_S}"),
            format!("--duration={STALL_RUN_S}"),
            "--arrivals=constant".to_owned(),
            "--connections=8".to_owned(),
        ];
        let (report, log) = self.run(&freeze, &options)?;
        let mut truth = log.response_ms(f64::from(STALL_RATE_PER_S));
        truth.sort_by(f64::total_cmp);
        let deviation = |percentile: f64| -> Result<f64> {
            let rank = (truth.len() as f64 * percentile / 100.0).ceil() as usize;
            let true_ms = truth.get(rank.saturating_sub(1)).context("no statements")?;
            let reported_ms = percentile_ms(&report["response"], percentile)?;
            Ok((reported_ms / true_ms - 1.0) * 100.0)
        };
        Ok((deviation(95.0)?, deviation(99.0)?))
    }

    /// Runs point selects against a null server of this run; the report, and what the server logged.
    fn run(&self, server: &[String], client: &[String]) -> Result<(Value, StatementLog)> {
        let (socket, log) = (
            self.work.join("open_loop.sock"),
            self.work.join("statements.log"),
        );
        let mut server: Vec<String> = server.to_vec();
        server.push(format!("--log={}", log.display()));
        let null_server = NullServer::start(&self.programs.dbdyno, socket, false, &server)?;
        let mut command: Command = self.programs.oltp("point_select", "run", 1);
        command.arg("--socket").arg(&null_server.address().socket);
        command
            .args(client)
            .args(["--percentile=50,95,99", "--format=json"]);
        // A rate that is not reached is exit code 1, and a result.
        let finished = Finished::run(command)?;
        null_server.stop()?;
        let report = serde_json::from_str(&finished.stdout)
            .with_context(|| format!("{client:?}: {}", finished.stderr.trim()))?;
        let log = fs::read_to_string(&log)?.parse()?;
        Ok((report, log))
    }
}

/// One percentile of `{"percentiles": [{"percentile": 50.0, "ms": 0.021}]}`.
fn percentile_ms(times: &Value, percentile: f64) -> Result<f64> {
    let percentiles = times["percentiles"].as_array();
    percentiles
        .into_iter()
        .flatten()
        .find(|one| one["percentile"].as_f64() == Some(percentile))
        .and_then(|one| one["ms"].as_f64())
        .with_context(|| format!("no percentile {percentile} in {times}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_found() {
        let times: Value =
            serde_json::from_str(r#"{"percentiles": [{"percentile": 50.0, "ms": 0.021}]}"#)
                .unwrap();
        assert_eq!(percentile_ms(&times, 50.0).unwrap(), 0.021);
        assert!(percentile_ms(&times, 99.0).is_err());
        assert!(percentile_ms(&Value::Null, 50.0).is_err());
    }
}
