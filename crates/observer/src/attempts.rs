//! Limits how often one address may send a wrong secret.

use std::{collections::BTreeMap, net::IpAddr, time::Duration};

use reactor::Instant;

/// Maximum number of wrong secrets from one address in [`WINDOW`].
const ALLOWED: usize = 5;

/// Time after which a wrong secret is forgotten.
const WINDOW: Duration = Duration::from_secs(60);

/// Maximum number of addresses remembered; beyond it every address waits until the first are forgotten.
const ADDRESSES_AT_MOST: usize = 1024;

/// Wrong secrets by the address that sent them.
#[derive(Debug, Default)]
pub(crate) struct Attempts {
    failed: BTreeMap<IpAddr, Vec<Instant>>,
}

impl Attempts {
    /// Time that an address has to wait before its next attempt; `None` when it may try now.
    pub(crate) fn wait(&mut self, from: IpAddr, now: Instant) -> Option<Duration> {
        self.failed.retain(|_, times| {
            times.retain(|time| now - *time < WINDOW);
            !times.is_empty()
        });
        let until_forgotten = |time: &Instant| WINDOW.saturating_sub(now - *time);
        match self.failed.get(&from) {
            Some(times) if times.len() >= ALLOWED => {
                times.get(times.len() - ALLOWED).map(until_forgotten)
            }
            Some(_) => None,
            None if self.failed.len() < ADDRESSES_AT_MOST => None,
            None => {
                let all = self.failed.values().flatten();
                all.map(until_forgotten).min()
            }
        }
    }

    /// Records a wrong secret from an address.
    pub(crate) fn failed(&mut self, from: IpAddr, now: Instant) {
        self.failed.entry(from).or_default().push(now);
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn address(number: u32) -> IpAddr {
        Ipv4Addr::from(0x0a00_0000 + number).into()
    }

    fn at(seconds: u64) -> Instant {
        Instant::from_ns(seconds * 1_000_000_000)
    }

    #[test]
    fn five_wrong_secrets_in_a_minute_are_too_many() {
        let mut attempts = Attempts::default();
        for second in 0..5 {
            assert_eq!(attempts.wait(address(1), at(100 + second)), None);
            attempts.failed(address(1), at(100 + second));
        }
        assert_eq!(
            attempts.wait(address(1), at(105)),
            Some(Duration::from_secs(55))
        );
        assert_eq!(attempts.wait(address(2), at(105)), None, "another one");
        assert_eq!(attempts.wait(address(1), at(160)), None, "one is forgotten");
        attempts.failed(address(1), at(160));
        assert_eq!(
            attempts.wait(address(1), at(160)),
            Some(Duration::from_secs(1))
        );
        assert_eq!(attempts.wait(address(1), at(300)), None);
        assert!(attempts.failed.is_empty(), "nothing is remembered for ever");
    }

    #[test]
    fn no_more_is_remembered_than_a_limit() {
        let mut attempts = Attempts::default();
        for number in 0..ADDRESSES_AT_MOST as u32 {
            assert_eq!(attempts.wait(address(number), at(10)), None);
            attempts.failed(address(number), at(10));
        }
        let new = address(u32::from(u16::MAX));
        assert_eq!(attempts.wait(new, at(40)), Some(Duration::from_secs(30)));
        assert_eq!(attempts.wait(address(3), at(40)), None, "it is known");
        assert_eq!(attempts.wait(new, at(70)), None);
    }
}
