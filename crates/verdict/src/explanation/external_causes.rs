//! Causes outside the operations: CPU time that was lost to others, and the limits of the server's control group.

use units::percent;

use super::{
    evidence::{Evidence, LostCpu},
    finding::{Finding, Rank, SIDES},
};
use crate::{bottleneck::Resource, costs::Cost, metric::Metric};

/// CPU time that other programs or the hypervisor took on one side.
pub(super) fn taken(
    it: &Evidence<'_>,
    what: &str,
    limit: f64,
    share: fn(&LostCpu) -> f64,
) -> Option<Finding> {
    let shares = it
        .taken
        .filter(|_| it.is_decided())?
        .map(|side| share(&side));
    let side = usize::from(shares[1] > shares[0]);
    let (more, less) = (shares[side], shares[1 - side]);
    (more > limit && more - less > limit).then(|| Finding {
        cost: None,
        sentence: format!(
            "{what} {} of {}'s CPUs and {} of {}'s CPUs",
            percent(more),
            SIDES[side],
            percent(less),
            SIDES[1 - side]
        ),
        explains_us: 0.0,
        side: Some(side),
        // It comes first if it can be the cause; otherwise, a cost that moved is more likely.
        rank: (!can_explain(it, more - less)).then_some(Rank::Particular),
    })
}

/// Whether a side that lacks this share of the CPUs loses at least half as much throughput as it did: a load that the CPU limits
/// loses the share itself, any other less.
fn can_explain(it: &Evidence<'_>, share: f64) -> bool {
    let throughput = it
        .metric(Metric::NewOrders)
        .or_else(|| it.metric(Metric::Throughput));
    throughput.is_none_or(|compared| {
        let [a, b] = compared.means;
        let lost = 1.0 - a.min(b) / a.max(b);
        2.0 * share >= lost
    })
}

pub(super) fn limit(it: &Evidence<'_>, resource: Resource, what: &str) -> Option<Finding> {
    let side = it.limited_by(resource)?;
    let cost = match resource {
        Resource::CpuQuota => Some(Cost::Throttled),
        Resource::DiskQuota => Some(Cost::DiskStall),
        _ => None,
    };
    let waits = cost
        .and_then(|cost| it.moved(cost))
        .filter(|moved| moved.higher() == side);
    let figures = waits
        .map(|moved| format!(" ({})", moved.in_words()))
        .unwrap_or_default();
    Some(Finding {
        cost: waits.map(|moved| moved.cost),
        sentence: format!("{} was limited by {what}{figures}", SIDES[side]),
        explains_us: 0.0,
        side: Some(side),
        rank: None,
    })
}
