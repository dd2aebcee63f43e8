//! Rule H03: the disk may acknowledge flushes that it did not perform.

use units::{count, seconds};

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Shortest flush of any device that writes to its medium, seconds.
const FLUSH_AT_LEAST_S: f64 = 10e-6;
/// Rotations per second of a disk at 7,200 rpm, plus 20 %.
const FLUSHES_OF_A_DISK_PER_S: f64 = 1.2 * 7200.0 / 60.0;
/// Number of flushes below which the rule is not evaluated.
const FLUSHES_AT_LEAST: u64 = 100;

pub(super) const RULE: Rule = Rule {
    id: "H03",
    name: "the disk cannot have lied about its flushes",
    found: "the disk may lie about its flushes",
    measures: "How long the disk of the data directory took for a flush of its cache while the run was measured, and how \
        many it answered per second.",
    threshold: "a mean below 10 us: fail; more than 144 per second from a real disk with a moving head (1.2 turns at \
        7,200 per minute): fail",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 1 and 2; power cuts by us",
    consequence: "The disk acknowledges what it has not written: commits that cost nothing here are lost with the power, \
        and a disk that keeps its word is slower by orders of magnitude.",
    remedy: "Switch the disk's volatile cache off, or name the battery or capacitor behind it; for a virtual disk, ask how \
        the host caches it.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let samples = run.samples()?;
    let disks: Vec<_> = samples
        .iter()
        .filter_map(|sample| sample.disk.as_ref())
        .collect();
    let device = disks
        .first()
        .ok_or_else(|| missing("the disk of the data directory"))?;
    let counted = disks.iter().filter_map(|disk| {
        let requests = disk.requests?;
        Some((requests.flushes?, requests.flush_s?))
    });
    let counted: Vec<_> = counted.collect();
    if counted.is_empty() {
        return Err(missing(format!(
            "flushes of {} (the kernel counts none)",
            device.device
        )));
    }
    let flushes: u64 = counted.iter().map(|(flushes, _)| flushes).sum();
    if flushes < FLUSHES_AT_LEAST {
        return Err(no_subject(format!(
            "{} was flushed {flushes} times only",
            device.device
        )));
    }
    let flush_s: f64 = counted.iter().map(|(_, flush_s)| flush_s).sum();
    let length_s: f64 = samples.iter().map(|sample| sample.length_s).sum();
    let (mean_s, per_s) = (flush_s / flushes as f64, flushes as f64 / length_s);
    let is_virtual = run.machine().is_ok_and(|machine| machine.virtualised);
    let storage = run
        .record
        .storage
        .iter()
        .flat_map(|storage| &storage.devices);
    let rotates = storage
        .into_iter()
        .any(|it| it.name == device.device && it.rotational == Some(true));
    let is_too_fast = mean_s < FLUSH_AT_LEAST_S;
    // Under a hypervisor the rotational flag of a disk is not reliable.
    let is_impossible = rotates && !is_virtual && per_s > FLUSHES_OF_A_DISK_PER_S;
    let level = if is_too_fast || is_impossible {
        Level::Fail
    } else {
        Level::Pass
    };
    let kind = if is_impossible {
        ", a disk with a moving head"
    } else {
        ""
    };
    let evidence = format!(
        "{}{kind} answered {} flushes per second, each in {} in the mean",
        device.device,
        count(per_s),
        seconds(mean_s)
    );
    Ok(Finding::new(level, evidence)
        .with("flush_mean_us", mean_s * 1e6)
        .with("flushes_per_s", per_s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        let outcome = judged(&RULE, |record| {
            each_sample(record, |sample| {
                let disk = sample.disk.as_mut().unwrap();
                disk.requests.as_mut().unwrap().flush_s = Some(0.0009);
            });
        });
        assert_found(&outcome, Level::Fail, "each in 3.00 µs");
        let outcome = judged(&RULE, |record| {
            record.storage[0].devices[0].rotational = Some(true)
        });
        assert_found(&outcome, Level::Fail, "a moving head answered 300 flushes");
    }

    #[test]
    fn passes() {
        assert_found(&judged(&RULE, |_| {}), Level::Pass, "each in 66.7 µs");
        let outcome = judged(&RULE, |record| {
            record.storage[0].devices[0].rotational = Some(true);
            record.machines[0].virtualised = true;
        });
        assert_eq!(level(&outcome), Level::Pass);
    }

    #[test]
    fn without_flushes_there_is_nothing_to_judge() {
        let without = |flushes| {
            judged(&RULE, |record| {
                each_sample(record, |sample| {
                    let disk = sample.disk.as_mut().unwrap();
                    disk.requests.as_mut().unwrap().flushes = flushes;
                });
            })
        };
        assert_missing(&without(None), "flushes of nvme0n1");
        assert_no_subject(&without(Some(0)));
    }
}
