//! The queue of deliveries that are executed in the background, according to clause 2.7.2.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError},
};

use load::Moment;

use super::{input::Delivery, population::DISTRICTS};

/// Queue of deliveries; couriers take the oldest first. Each is taken by one courier, and a failed delivery returns to
/// the queue with its progress, so that no district is delivered twice.
#[derive(Debug, Default)]
pub struct DeferredDeliveries(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Queued>,
    results: DeliveryResults,
}

/// A delivery and the moment at which it was queued.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    pub(super) delivery: Delivery,
    pub(super) since: Moment,
}

/// Results of the deferred deliveries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryResults {
    /// Deliveries queued by terminals.
    pub queued: u64,
    /// Number of these that were executed.
    pub executed: u64,
    /// Number of these with an unknown outcome: the connection was lost at the commit.
    pub unknown: u64,
    /// Orders delivered, by district from 1.
    pub delivered: [u64; DISTRICTS as usize],
    /// Deliveries without an order to deliver, by district from 1.
    pub skipped: [u64; DISTRICTS as usize],
}

impl DeferredDeliveries {
    /// Results so far.
    pub fn results(&self) -> DeliveryResults {
        self.lock().results
    }

    pub(super) fn put(&self, queued: Queued) {
        let mut queue = self.lock();
        queue.results.queued += 1;
        queue.waiting.push_back(queued);
    }

    pub(super) fn take(&self) -> Option<Queued> {
        self.lock().waiting.pop_front()
    }

    /// Returns a delivery that a courier took and did not finish.
    pub(super) fn put_back(&self, queued: Queued) {
        self.lock().waiting.push_front(queued);
    }

    pub(super) fn executed(&self, delivery: &Delivery) {
        let results = &mut self.lock().results;
        results.executed += 1;
        for district in 0..DISTRICTS as usize {
            let is_delivered = delivery.delivered >> district & 1 == 1;
            let count = if is_delivered {
                &mut results.delivered[district]
            } else {
                &mut results.skipped[district]
            };
            *count += 1;
        }
    }

    pub(super) fn lost(&self) {
        self.lock().results.unknown += 1;
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(warehouse: u32) -> Queued {
        Queued {
            delivery: Delivery {
                warehouse,
                carrier: 1,
                next_district: 1,
                delivered: 0b10_0000_0001,
            },
            since: Moment {
                ns: warehouse.into(),
            },
        }
    }

    #[test]
    fn the_oldest_comes_first_and_what_failed_comes_again() {
        let deferred = DeferredDeliveries::default();
        deferred.put(queued(1));
        deferred.put(queued(2));
        let first = deferred.take().unwrap();
        assert_eq!(first.since.ns, 1);
        deferred.put_back(first);
        let warehouses: Vec<u32> = std::iter::from_fn(|| deferred.take())
            .map(|queued| queued.delivery.warehouse)
            .collect();
        assert_eq!(warehouses, [1, 2]);
        assert_eq!(deferred.results().queued, 2);
    }

    #[test]
    fn results_are_counted_by_district() {
        let deferred = DeferredDeliveries::default();
        deferred.executed(&queued(1).delivery);
        deferred.lost();
        let results = deferred.results();
        assert_eq!((results.executed, results.unknown), (1, 1));
        assert_eq!(results.delivered, [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(results.skipped, [0, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
    }
}
