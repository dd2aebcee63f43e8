//! Why slow figures may not be those of the disk: other programs had the CPUs, or commits waited for a CPU.

use samples::{CommitResult, Disturbance, MeasurementCpu, PatternResult};
use units::duration;

use super::readings::DepthCourse;
use crate::sentences::disturbances::disturbance_in_words;

/// What to do, whatever the reason.
pub(super) const REMEDY: &str = "measure again on an idle machine";
/// A single writer does nothing but write and flush its two logs: the rest of a commit's time is the CPU's.
const COMMIT_PER_FLUSHES: f64 = 1.5;

/// What slowed a measurement down besides the disk.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Doubt {
    /// Other programs or the hypervisor had more of the CPUs than rule H14 allows.
    Disturbance(Disturbance),
    /// Commits took longer than their flushes; mean times.
    SlowCpu { commit_ns: f64, flushes_ns: f64 },
}

impl Doubt {
    /// The doubt about some patterns, of which the most disturbed one decides.
    pub(super) fn of_patterns<'r>(
        results: impl IntoIterator<Item = &'r PatternResult>,
    ) -> Option<Self> {
        let cpus = results.into_iter().flat_map(|it| &it.machine_cpu);
        Self::of_cpus(cpus)
    }

    /// The doubt about a course: a depth that was disturbed may be the best one.
    pub(super) fn of_course(course: &DepthCourse<'_>) -> Option<Self> {
        Self::of_patterns(course.results.iter().copied())
    }

    /// The doubt about commits of one writer.
    pub(super) fn of_commits(probe: &CommitResult) -> Option<Self> {
        let commit_ns = probe.commit.mean_ns;
        let flushes_ns = probe.redo.mean_ns + probe.binlog.mean_ns;
        let is_slow = probe.writers == 1 && commit_ns > flushes_ns * COMMIT_PER_FLUSHES;
        let slow = is_slow.then_some(Self::SlowCpu {
            commit_ns,
            flushes_ns,
        });
        Self::of_cpus(&probe.machine_cpu).or(slow)
    }

    fn of_cpus<'c>(cpus: impl IntoIterator<Item = &'c MeasurementCpu>) -> Option<Self> {
        let greatest = Disturbance::greatest(cpus);
        let above = greatest.filter(|it| it.is_above(Disturbance::OTHERS, Disturbance::STEAL));
        above.map(Self::Disturbance)
    }

    /// The other load; `None` for another reason.
    pub(super) fn disturbance(&self) -> Option<&Disturbance> {
        match self {
            Self::Disturbance(disturbance) => Some(disturbance),
            Self::SlowCpu { .. } => None,
        }
    }

    /// `other programs used 93 % of the CPU (rustc)`.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Disturbance(disturbance) => disturbance_in_words(disturbance),
            Self::SlowCpu {
                commit_ns,
                flushes_ns,
            } => format!(
                "a commit takes {} and its two flushes only {}, so the CPU is slow and not the disk",
                duration(*commit_ns),
                duration(*flushes_ns)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::readings::testing::*, *};

    #[test]
    fn other_programs_are_in_doubt_above_the_limit_of_h14() {
        let mut result = result("a", 4096, 100, 1, 100.0);
        assert_eq!(Doubt::of_patterns([&result]), None, "nothing is known");
        result.machine_cpu = Some(machine_cpu(0.04));
        assert_eq!(Doubt::of_patterns([&result]), None);
        let mut other = result.clone();
        other.machine_cpu = Some(machine_cpu(0.93));
        let doubt = Doubt::of_patterns([&result, &other]).unwrap();
        assert_eq!(
            doubt.in_words(),
            "other programs used 93 % of the CPU (rustc)"
        );
    }

    #[test]
    fn a_commit_that_takes_far_longer_than_its_flushes_waits_for_the_cpu() {
        let mut probe = record().commits[0].clone();
        assert_eq!(Doubt::of_commits(&probe), None);
        probe.commit.mean_ns = 900e3;
        let doubt = Doubt::of_commits(&probe).unwrap();
        assert_eq!(
            doubt.in_words(),
            "a commit takes 900 µs and its two flushes only 350 µs, so the CPU is slow and not the disk"
        );
        // Writers that wait for the flushes of others take longer than their own.
        probe.writers = 8;
        assert_eq!(Doubt::of_commits(&probe), None);
    }
}
