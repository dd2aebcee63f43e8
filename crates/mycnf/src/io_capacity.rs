//! The rates of background writing that suit a disk.

/// The lines `innodb_io_capacity` and `innodb_io_capacity_max` for a disk, writes of pages per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoCapacity {
    /// Half of what the disk does, so that background writes leave capacity for other work.
    pub normal: u64,
    /// What the disk does: urgent flushing may use all of it.
    pub max: u64,
}

impl IoCapacity {
    /// The highest value of `innodb_io_capacity_max` that follows from the disk alone.
    ///
    /// At a higher rate, InnoDB writes pages earlier than it has to, which costs writes. Whether a higher rate helps is
    /// known only from a measurement of the server.
    pub const MAX_AT_MOST: u64 = 20_000;
    /// The least that InnoDB takes.
    const AT_LEAST: u64 = 100;

    /// The lines for a disk that does this many random writes of pages per second, rounded down to two digits: more would
    /// claim to be exact.
    pub fn of_disk(writes_per_s: f64) -> Self {
        let (least, most) = (Self::AT_LEAST as f64, Self::MAX_AT_MOST as f64);
        let max = writes_per_s.clamp(least, most);
        Self {
            normal: two_digits((max / 2.0).max(least)),
            max: two_digits(max),
        }
    }

    /// Whether a disk does more than the highest value.
    pub fn is_exceeded_by(writes_per_s: f64) -> bool {
        writes_per_s > Self::MAX_AT_MOST as f64
    }
}

/// A value of at least 1, rounded down to two digits.
fn two_digits(value: f64) -> u64 {
    let unit = 10_f64.powf((value.log10().floor() - 1.0).max(0.0));
    ((value / unit).floor() * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacities_follow_from_the_writes_of_the_disk() {
        for (writes_per_s, normal, max) in [
            (40.0, 100, 100),
            (150.0, 100, 150),
            (3_100.0, 1_500, 3_100),
            (18_739.0, 9_300, 18_000),
            (20_000.0, 10_000, 20_000),
            (37_500.0, 10_000, 20_000),
        ] {
            let found = IoCapacity::of_disk(writes_per_s);
            assert_eq!(found, IoCapacity { normal, max }, "{writes_per_s}");
        }
        assert!(!IoCapacity::is_exceeded_by(20_000.0));
        assert!(IoCapacity::is_exceeded_by(20_001.0));
    }

    #[test]
    fn two_digits_are_kept() {
        for (value, rounded) in [(18_739.0, 18_000), (199.0, 190), (100.0, 100), (99.0, 99)] {
            assert_eq!(two_digits(value), rounded);
        }
    }
}
