//! Whether a disk became steady; undecided if other programs disturbed its rounds.

use samples::StorageRecord;
use stats::STEADY_ROUNDS;
use units::counted;

use super::{doubt::Doubt, readings::steady};

/// The answer of `dbdyno storage steady`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskSteadiness {
    /// The last rounds meet both criteria.
    Reached,
    /// They do not, on a machine without other load.
    NotReached,
    /// It is not known, for this reason.
    Undecided(String),
}

impl DiskSteadiness {
    /// The answer of a record. Rounds that other programs disturbed vary, whatever the disk does.
    pub fn of(record: &StorageRecord) -> Self {
        let Some(window) = steady(record) else {
            let rounds = counted(record.rounds.len(), "round");
            return Self::Undecided(format!("{rounds}, but {STEADY_ROUNDS} are needed"));
        };
        if window.is_steady() {
            return Self::Reached;
        }
        let last = record.rounds.iter().rev().take(STEADY_ROUNDS);
        match Doubt::of_patterns(last.map(|it| &it.result)) {
            Some(doubt) => Self::Undecided(doubt.in_words()),
            None => Self::NotReached,
        }
    }
}

#[cfg(test)]
mod tests {
    use samples::SteadyRound;

    use super::{super::readings::testing::*, *};

    #[test]
    fn rounds_beside_other_programs_do_not_show_that_a_disk_is_not_steady() {
        let mut record = record();
        let uneven = [100.0, 200.0, 100.0, 200.0, 100.0, 200.0];
        record.rounds = (1..)
            .zip(uneven)
            .map(|(round, iops)| SteadyRound {
                round,
                result: result("round", 16 << 10, 0, 16, iops),
            })
            .collect();
        assert_eq!(DiskSteadiness::of(&record), DiskSteadiness::NotReached);
        // The first of six rounds is none of the last five.
        record.rounds[0].result.machine_cpu = Some(machine_cpu(0.93));
        assert_eq!(DiskSteadiness::of(&record), DiskSteadiness::NotReached);
        record.rounds[5].result.machine_cpu = Some(machine_cpu(0.93));
        let why = "other programs used 93 % of the CPU (rustc)".to_owned();
        assert_eq!(DiskSteadiness::of(&record), DiskSteadiness::Undecided(why));
        for it in &mut record.rounds {
            it.result = result("round", 16 << 10, 0, 16, 100.0);
            it.result.machine_cpu = Some(machine_cpu(0.93));
        }
        assert_eq!(DiskSteadiness::of(&record), DiskSteadiness::Reached);
        record.rounds.truncate(3);
        let why = "3 rounds, but 5 are needed".to_owned();
        assert_eq!(DiskSteadiness::of(&record), DiskSteadiness::Undecided(why));
    }
}
