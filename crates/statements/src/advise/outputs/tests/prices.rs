//! Tests of the prices of indexes.

use super::*;
use crate::compare::WritePrice;

#[test]
fn a_price_that_was_not_measurable_is_no_saving() {
    let times = |ratio| WriteTimes {
        means_s: [0.00115, 0.000_723],
        ratio,
    };
    let price = IndexPrice {
        bytes: None,
        writes: Ok(WritePrice {
            insert: times(None),
            update: Some(times(Some(Interval {
                estimate: 0.95,
                low: 0.8,
                high: 1.2,
            }))),
        }),
    };
    assert_eq!(
        price_sentences(&price),
        [
            "time of an insert, without its commit: 1.15 ms to 723 µs, not measurable: the copies differ by more than the \
          index costs; of an update of its columns 1.15 ms to 723 µs, -5 % (-20 % to +20 %)"
        ]
    );
}
