//! Numbers and times on the command line, with their suffixes.

use std::{str::FromStr, time::Duration};

use load::Drain;
use settings::quantity::DURATION_LIMIT;

/// When a run goes without the events that have not come back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ForcedShutdown {
    Off,
    /// This time after the planned end.
    After(Duration),
    /// This percentage of the planned duration after the planned end.
    Percent(f64),
}

impl ForcedShutdown {
    /// What it makes of a run of this length; `None` where it has no effect, for want of a length.
    pub(super) fn drain(self, time: Option<Duration>) -> Option<Drain> {
        match self {
            Self::Off => Some(Drain::Unlimited),
            Self::After(after) => time.map(|_| Drain::AtMost(after)),
            Self::Percent(percent) => time.map(|time| Drain::AtMost(time.mul_f64(percent / 100.0))),
        }
    }
}

impl FromStr for ForcedShutdown {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || "off, a time such as 5s, or a share of the duration such as 10%".to_owned();
        if text == "off" {
            return Ok(Self::Off);
        }
        match text.strip_suffix('%') {
            None => time(text).map(Self::After).map_err(|_| error()),
            Some(number) => match number.parse::<f64>() {
                Ok(percent) if (0.0..=1000.0).contains(&percent) => Ok(Self::Percent(percent)),
                _ => Err(error()),
            },
        }
    }
}

pub(super) fn count_or_none(text: &str) -> Result<u64, String> {
    match text {
        "0" => Ok(0),
        _ => settings::quantity::count(text)
            .ok_or_else(|| "a number, such as 10000 or 10k".to_owned()),
    }
}

pub(super) fn rate(text: &str) -> Result<f64, String> {
    match text {
        "0" => Ok(0.0),
        _ => settings::quantity::rate(text)
            .ok_or_else(|| "a number of events per second up to 1000000".to_owned()),
    }
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    settings::quantity::seconds(text)
        .ok_or_else(|| format!("seconds, or a time such as 30s, 500ms, 5m; {DURATION_LIMIT}"))
}

pub(super) fn percentile(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(percentile) if (0.0..=100.0).contains(&percentile) => Ok(percentile),
        _ => Err("percentiles are between 0 and 100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forced_shutdown_is_a_time_or_a_part_of_it() {
        let minute = Duration::from_secs(60);
        let cases = [
            ("5", Duration::from_secs(5)),
            ("500ms", Duration::from_millis(500)),
            ("0", Duration::ZERO),
            ("5%", Duration::from_secs(3)),
            ("150%", Duration::from_secs(90)),
        ];
        for (text, after) in cases {
            let forced: ForcedShutdown = text.parse().unwrap();
            let drain = forced.drain(Some(minute));
            assert_eq!(drain, Some(Drain::AtMost(after)), "{text}");
            assert_eq!(forced.drain(None), None, "{text}");
        }
        let off: ForcedShutdown = "off".parse().unwrap();
        assert_eq!(off.drain(None), Some(Drain::Unlimited));
        for wrong in ["on", "", "%", "-5", "5 %", "NaN%", "1e9%"] {
            assert!(wrong.parse::<ForcedShutdown>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn suffixes_are_honoured_and_never_cut() {
        for (text, count) in [
            ("0", Ok(0)),
            ("3000", Ok(3000)),
            ("3K", Ok(3000)),
            ("1.5M", Ok(1_500_000)),
            ("3Q", Err(())),
            ("abc", Err(())),
        ] {
            assert_eq!(count_or_none(text).map_err(drop), count, "{text}");
        }
        for (text, seconds) in [("60", 60.0), ("500ms", 0.5), ("2m", 120.0), ("0", 0.0)] {
            assert_eq!(time(text).unwrap().as_secs_f64(), seconds, "{text}");
        }
        assert!(time("fast").is_err() && percentile("100.1").is_err() && rate("-1").is_err());
    }
}
