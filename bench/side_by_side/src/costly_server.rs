//! A transaction with a calibrated cost on the server: with its hashes, throughput is 5 % lower than without them.

use anyhow::{Context, Result, ensure};
use stats::Interval;

use crate::{
    design::Design,
    store::{Store, words},
};

/// Throughput with the cost by throughput without it.
pub(crate) const RATIO: f64 = 0.95;

/// Hashes of the first calibration, which make a transaction about twice as long.
const FIRST_HASHES: u32 = 1000;

/// The work of a transaction: pages in memory and a small log, so that the server's CPU time is the limit.
const WORK: &str = "\
DO BENCHMARK(:hashes, MD5('x'));
\\set id random(1, 25000)
BEGIN;
SELECT c FROM sbtest1 WHERE id = :id;
UPDATE sbtest1 SET k = k + 1 WHERE id = :id;
COMMIT;
";

/// The calibrated cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) hashes: u32,
    /// The measured ratio of throughput with and without the hashes, from two sessions that nothing ended early.
    pub(crate) ratio: Interval,
}

/// Finds the number of hashes, in two steps and with a check.
pub(crate) fn calibrate(store: &mut Store, seed: u64) -> Result<Cost> {
    let doubling = measured(store, "calibration/1", FIRST_HASHES, ONE_SESSION, seed)?;
    let doubling = hashes_for(0.5, FIRST_HASHES, doubling.estimate)?;
    let again = measured(store, "calibration/2", doubling, ONE_SESSION, seed + 1)?;
    let hashes = hashes_for(RATIO, doubling, again.estimate)?;
    let ratio = measured(store, "calibration/check", hashes, TWO_SESSIONS, seed + 2)?;
    Ok(Cost { hashes, ratio })
}

/// Sessions of a calibration, and the time of each server in them.
const ONE_SESSION: (u32, &str) = (1, "30s");
const TWO_SESSIONS: (u32, &str) = (2, "60s");

/// The ratio of throughput with these hashes to that without.
fn measured(
    store: &mut Store,
    name: &str,
    hashes: u32,
    (sessions, duration): (u32, &str),
    seed: u64,
) -> Result<Interval> {
    let repeats = format!("repeats = {sessions}");
    let text = experiment(Design::SideBySide, &repeats, duration, hashes);
    let command = command(store, name, &text, seed)?;
    let outcome = store.required(name, &command)?;
    let ratio = outcome.answer.ratio;
    ratio.with_context(|| format!("{name} has too few batches for a ratio"))
}

/// The number of hashes at which the throughput has the ratio `wanted`, if `hashes` gave `found`.
///
/// The time of a transaction grows in proportion to the number of hashes: the inverse of the ratio is 1 + c * hashes.
fn hashes_for(wanted: f64, hashes: u32, found: f64) -> Result<u32> {
    ensure!(
        found > 0.0 && found < 0.99,
        "{hashes} hashes changed the throughput to {found} of what it was: the server's CPU is not the limit"
    );
    let of_one = (1.0 / found - 1.0) / f64::from(hashes);
    let number = ((1.0 / wanted - 1.0) / of_one).round();
    ensure!(
        (1.0..=1e6).contains(&number),
        "{number} hashes cannot be used"
    );
    Ok(number as u32)
}

/// The command of a comparison with and without the cost, until it is decided.
pub(crate) fn race(
    store: &Store,
    name: &str,
    design: Design,
    hashes: u32,
    budget_minutes: u32,
    seed: u64,
) -> Result<Vec<String>> {
    let repeats = format!(
        "repeats = \"until decided\"\nat_most = {}\ntime_at_most = \"{budget_minutes}m\"",
        design.blocks_at_most(budget_minutes)
    );
    let duration = match design {
        Design::SideBySide => "30s",
        Design::Classical => "10s",
    };
    let text = experiment(design, &repeats, duration, hashes);
    command(store, name, &text, seed)
}

/// Writes the experiment, and returns the command that runs it.
fn command(store: &Store, name: &str, text: &str, seed: u64) -> Result<Vec<String>> {
    let folder = format!("experiments/{}", name.replace('/', "-"));
    store.write(&format!("{folder}/work.sql"), WORK)?;
    let file = store.write(&format!("{folder}/cost.toml"), text)?;
    let file = file.display().to_string();
    Ok(words(&["run", "--seed", &seed.to_string(), &file]))
}

/// The experiment file. Times are those of `dbdyno ab`.
fn experiment(design: Design, repeats: &str, duration: &str, hashes: u32) -> String {
    let design = match design {
        Design::SideBySide => "design = \"side by side\"\n",
        Design::Classical => "",
    };
    format!(
        r#"format = 1
question = "0 or {hashes} hashes in each transaction?"
{repeats}
{design}
[matrix]
hashes = ["0", "{hashes}"]

[server]
set = {{ innodb_buffer_pool_size = "256M", innodb_flush_log_at_trx_commit = "0" }}

[data]
oltp = {{ tables = 1, table_size = "25k" }}

[load]
script = {{ files = ["work.sql"], define = {{ hashes = "{{hashes}}" }} }}
connections = 8
warmup = "5s"
duration = "{duration}"

[verdict]
baseline = {{ hashes = "0" }}
metric = "throughput"
min_effect = "2 %"
"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_is_in_proportion_to_the_hashes() {
        // 1000 hashes double the time of a transaction: a 19th of it is needed for 95 % of the throughput.
        assert_eq!(hashes_for(0.95, 1000, 0.5).unwrap(), 53);
        assert_eq!(hashes_for(0.5, 1000, 0.8).unwrap(), 4000);
        for found in [1.0, 0.99, 0.0, f64::NAN] {
            assert!(hashes_for(0.95, 1000, found).is_err(), "{found}");
        }
    }

    #[test]
    fn an_experiment_has_two_levels_and_its_design() {
        let classical = experiment(Design::Classical, "repeats = 6", "10s", 53);
        assert!(!classical.contains("design"), "{classical}");
        let beside = experiment(Design::SideBySide, "repeats = 1", "30s", 53);
        for line in [
            "repeats = 1\ndesign = \"side by side\"\n",
            "hashes = [\"0\", \"53\"]",
            "define = { hashes = \"{hashes}\" } }",
            "duration = \"30s\"",
            "baseline = { hashes = \"0\" }",
        ] {
            assert!(beside.contains(line), "{line} in {beside}");
        }
    }
}
