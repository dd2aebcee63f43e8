//! The opening of a load's connections before its start, and the conditions under which it must not begin.

use std::time::Duration;

use reactor::Instant;
use settings::OnRefusal;

use crate::{outcome::Error, user::Failure};

/// Time for which a load that must not begin waits for its other connections, in order to report their number.
const COUNT_FOR: Duration = Duration::from_secs(2);

/// The number of open connections, and the first failure.
#[derive(Debug)]
pub(crate) struct Opening {
    asked: u64,
    on_refusal: OnRefusal,
    open: u64,
    refused: u64,
    first: Option<Refusal>,
}

#[derive(Debug)]
struct Refusal {
    failure: Failure,
    /// Time of the first check after the first failure.
    since: Option<Instant>,
}

impl Opening {
    /// Before the first of `asked` connections.
    pub(crate) fn new(asked: u64, on_refusal: OnRefusal) -> Self {
        Self {
            asked,
            on_refusal,
            open: 0,
            refused: 0,
            first: None,
        }
    }

    /// Adds the result for one connection.
    pub(crate) fn add(&mut self, result: Result<(), Failure>) {
        match result {
            Ok(()) => self.open += 1,
            Err(failure) => {
                self.refused += 1;
                self.first.get_or_insert(Refusal {
                    failure,
                    since: None,
                });
            }
        }
    }

    pub(crate) fn open(&self) -> u64 {
        self.open
    }

    /// The reason why the load must not begin, once all connections were tried or that has taken too long.
    pub(crate) fn failed(&mut self, now: Instant) -> Option<Error> {
        let first = self.first.as_mut()?;
        let since = *first.since.get_or_insert(now);
        let are_all_tried = self.open + self.refused == self.asked;
        let must_not_begin = self.on_refusal == OnRefusal::Stop || self.open == 0;
        let was_long = self.on_refusal == OnRefusal::Stop && now >= since + COUNT_FOR;
        (must_not_begin && (are_all_tried || was_long)).then(|| Error::Connect {
            open: self.open,
            asked: self.asked,
            failure: first.failure.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal() -> Result<(), Failure> {
        Err(Failure {
            number: 1040,
            sqlstate: "08004".to_owned(),
            message: "Too many connections".to_owned(),
            lost: false,
            retryable: false,
            outcome_unknown: false,
            is_of_input: false,
        })
    }

    fn told(opening: &mut Opening, at_ms: u64) -> Option<String> {
        let now = Instant::from_ns(at_ms * 1_000_000);
        opening.failed(now).map(|error| error.to_string())
    }

    #[test]
    fn a_load_that_needs_all_counts_those_that_open() {
        let mut opening = Opening::new(4, OnRefusal::Stop);
        opening.add(Ok(()));
        assert_eq!(told(&mut opening, 0), None);
        opening.add(refusal());
        assert_eq!(told(&mut opening, 5_000), None, "two are on their way");
        opening.add(Ok(()));
        opening.add(Ok(()));
        let text = "3 of 4 connections can be opened: Too many connections";
        assert_eq!(told(&mut opening, 5_001).as_deref(), Some(text));
    }

    #[test]
    fn it_does_not_wait_for_the_others_for_ever() {
        let mut opening = Opening::new(3, OnRefusal::Stop);
        opening.add(Ok(()));
        opening.add(refusal());
        assert_eq!(told(&mut opening, 1_000), None);
        assert_eq!(told(&mut opening, 2_999), None);
        assert!(told(&mut opening, 3_000).is_some());
    }

    #[test]
    fn a_load_that_goes_on_with_fewer_needs_one() {
        let mut opening = Opening::new(2, OnRefusal::GoOn);
        opening.add(refusal());
        assert_eq!(told(&mut opening, 0), None);
        assert_eq!(told(&mut opening, 9_000), None, "the other one may open");
        opening.add(Ok(()));
        assert_eq!(told(&mut opening, 9_001), None);
        let mut none = Opening::new(2, OnRefusal::GoOn);
        none.add(refusal());
        none.add(refusal());
        let text = "none of 2 connections can be opened: Too many connections";
        assert_eq!(told(&mut none, 0).as_deref(), Some(text));
    }
}
