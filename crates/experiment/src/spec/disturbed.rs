//! `[disturbed]`: how much other work disturbs a run, and how many disturbed runs are repeated.

use samples::Disturbance;
use settings::quantity;

use crate::{error::Error, file::section::Section};

/// The policy for runs during which other programs used the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DisturbedSpec {
    /// User time of other programs above which a run is disturbed, as a share of the machine's CPUs.
    pub others: f64,
    /// CPU steal above which a run is disturbed, as a share of the machine's CPUs.
    pub steal: f64,
    /// Maximum number of repeated runs, as a share of the plan's; 0 for none.
    pub repeats: f64,
}

impl Default for DisturbedSpec {
    fn default() -> Self {
        Self {
            others: Disturbance::OTHERS,
            steal: Disturbance::STEAL,
            repeats: 0.25,
        }
    }
}

impl DisturbedSpec {
    pub(crate) fn read(section: &Section<'_>) -> Result<Self, Error> {
        section.allow(&["others", "steal", "repeats"])?;
        let usual = Self::default();
        let share = |key, usual| {
            let expected = "a share such as \"5 %\"";
            let given = section.parsed(key, expected, quantity::share)?;
            Ok::<_, Error>(given.unwrap_or(usual))
        };
        let none_or_share = |text: &str| match text.strip_suffix('%').map(str::trim_end) {
            Some("0") => Some(0.0),
            _ => quantity::share(text),
        };
        let repeats = section.parsed("repeats", "a share such as \"25 %\"", none_or_share)?;
        Ok(Self {
            others: share("others", usual.others)?,
            steal: share("steal", usual.steal)?,
            repeats: repeats.unwrap_or(usual.repeats),
        })
    }

    /// Maximum number of repeated runs of a plan until the end of a block: the share of the runs so far, rounded up, so
    /// that disturbances at the start leave some for the later blocks.
    pub fn repeats_until(&self, block: u32, blocks: u32, planned_runs: usize) -> usize {
        let so_far = f64::from(block) / f64::from(blocks.max(1));
        (self.repeats * planned_runs as f64 * so_far).ceil() as usize
    }
}
