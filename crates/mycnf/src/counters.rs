//! The counters of a running server since its start, as plain values: whoever calls the rules reads them.

use std::collections::BTreeMap;

/// Counters by name, as SHOW GLOBAL STATUS has them, with the time over which they counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counters {
    /// By lower-case name.
    values: BTreeMap<String, u64>,
    uptime_s: u64,
}

impl Counters {
    /// The counters of SHOW GLOBAL STATUS; `None` without an uptime, because a number without its time has no rate. After
    /// FLUSH STATUS some counters start again: the time since then is used for all of them.
    pub fn of_status(status: &BTreeMap<String, String>) -> Option<Self> {
        let numbers = status
            .iter()
            .filter_map(|(name, value)| Some((name.to_ascii_lowercase(), value.parse().ok()?)));
        let values: BTreeMap<String, u64> = numbers.collect();
        let uptime_s = *values.get("uptime")?;
        let since_flush_s = values.get("uptime_since_flush_status");
        let uptime_s = since_flush_s.map_or(uptime_s, |since_s| uptime_s.min(*since_s));
        (uptime_s > 0).then_some(Self { values, uptime_s })
    }

    /// Time over which the counters counted, seconds.
    pub fn uptime_s(&self) -> u64 {
        self.uptime_s
    }

    /// A counter in any case; `None` if the version does not have it.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.values.get(&name.to_ascii_lowercase()).copied()
    }

    /// The sum of counters; `None` if the version has none of them.
    pub(crate) fn sum(&self, names: &[&str]) -> Option<u64> {
        let known = names.iter().filter_map(|name| self.get(name));
        known.reduce(u64::saturating_add)
    }

    /// The average rate of a counter, per second.
    pub(crate) fn per_s(&self, name: &str) -> Option<f64> {
        Some(self.get(name)? as f64 / self.uptime_s as f64)
    }

    /// A counter as a share of the sum of others; `None` if one is unknown, or the sum is 0.
    pub(crate) fn share(&self, part: &str, whole: &[&str]) -> Option<f64> {
        let whole = self.sum(whole).filter(|sum| *sum > 0)?;
        Some(self.get(part)? as f64 / whole as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(status: &[(&str, &str)]) -> Option<Counters> {
        let status = status.iter();
        Counters::of_status(
            &status
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        )
    }

    #[test]
    fn numbers_have_rates_and_other_values_are_left_out() {
        let some = counters(&[
            ("Uptime", "200"),
            ("Uptime_since_flush_status", "100"),
            ("Questions", "50"),
            ("Com_select", "10"),
            ("Rsa_public_key", "-----BEGIN"),
        ])
        .unwrap();
        assert_eq!(some.uptime_s(), 100);
        assert_eq!(some.get("QUESTIONS"), Some(50));
        assert_eq!(some.get("Rsa_public_key"), None);
        assert_eq!(some.per_s("Questions"), Some(0.5));
        assert_eq!(some.share("Com_select", &["Questions", "none"]), Some(0.2));
        assert_eq!(some.share("Com_select", &["none"]), None);
    }

    #[test]
    fn without_time_there_are_no_counters() {
        assert_eq!(counters(&[("Questions", "50")]), None);
        assert_eq!(counters(&[("Questions", "50"), ("Uptime", "0")]), None);
    }
}
