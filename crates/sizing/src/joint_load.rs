//! The use of one resource by several systems at the same times.

use crate::{alignment::AlignedDays, resource::Resource};

/// The use of one resource by all systems, in the slots in which each of them has a value.
#[derive(Debug)]
pub(crate) struct JointLoad {
    pub(crate) resource: Resource,
    /// In order.
    pub(crate) slots: Vec<usize>,
    /// By system: its use in each of these slots.
    pub(crate) uses: Vec<Vec<f64>>,
}

/// The highest sum of some systems.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Peak {
    pub(crate) value: f64,
    pub(crate) slot: usize,
}

impl JointLoad {
    /// `None` if there is no slot in which all systems have a value.
    pub(crate) fn of(resource: Resource, days: &AlignedDays) -> Option<Self> {
        let mut slots = Vec::new();
        let mut uses = vec![Vec::new(); days.systems()];
        for slot in 0..days.slots() {
            let values = (0..days.systems()).map(|it| days.highest(it, slot)[resource.index()]);
            let Some(values) = values.collect::<Option<Vec<f64>>>() else {
                continue;
            };
            slots.push(slot);
            for (uses, value) in uses.iter_mut().zip(values) {
                uses.push(value);
            }
        }
        (!slots.is_empty()).then_some(Self {
            resource,
            slots,
            uses,
        })
    }

    /// The highest sum of these systems, and the first slot that has it.
    pub(crate) fn peak(&self, systems: &[usize]) -> Peak {
        let sum = |at: usize| systems.iter().map(|it| self.uses[*it][at]).sum::<f64>();
        let mut peak = Peak {
            value: sum(0),
            slot: self.slots[0],
        };
        for (at, slot) in self.slots.iter().enumerate().skip(1) {
            let value = sum(at);
            if value > peak.value {
                peak = Peak { value, slot: *slot };
            }
        }
        peak
    }

    /// The sum of the peaks that each of these systems has by itself.
    pub(crate) fn sum_of_peaks(&self, systems: &[usize]) -> f64 {
        systems.iter().map(|it| self.peak(&[*it]).value).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_peak_of_the_sum_is_at_most_the_sum_of_the_peaks(
            uses in (1..20_usize).prop_flat_map(|slots| {
                prop::collection::vec(prop::collection::vec(0.0..1e6_f64, slots), 1..5)
            }),
        ) {
            let all: Vec<usize> = (0..uses.len()).collect();
            let slots = (0..uses[0].len()).collect();
            let joint = JointLoad { resource: Resource::Writes, slots, uses };
            let sum_of_peaks = joint.sum_of_peaks(&all);
            // Sums in another order differ in the last digits.
            prop_assert!(joint.peak(&all).value <= sum_of_peaks * (1.0 + 1e-12));
        }
    }

    #[test]
    fn peaks_at_different_times_are_less_than_their_sum() {
        let joint = JointLoad {
            resource: Resource::Writes,
            slots: vec![3, 4, 5],
            uses: vec![vec![10.0, 90.0, 20.0], vec![80.0, 5.0, 30.0]],
        };
        assert_eq!(
            joint.peak(&[0, 1]),
            Peak {
                value: 95.0,
                slot: 4
            }
        );
        assert_eq!(joint.sum_of_peaks(&[0, 1]), 170.0);
    }
}
