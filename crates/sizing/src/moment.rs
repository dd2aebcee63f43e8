//! Times as other programs write them, in seconds since 1970 of the clock on the wall.

use std::time::Duration;

use jiff::{SignedDuration, civil};

/// Seconds of a day.
pub(crate) const DAY_S: u32 = 86_400;

/// The formats of sysstat's times, and of CloudWatch's.
///
/// A year of two digits comes first: its format refuses one of four.
const FORMATS: [&str; 10] = [
    "%Y-%m-%dT%H:%M:%S%z",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
    "%m/%d/%y %I:%M:%S %p",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
];

fn epoch() -> civil::DateTime {
    civil::date(1970, 1, 1).at(0, 0, 0, 0)
}

/// A date and a time of day; `None` if it is none, or if its format is not known.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    let mut parsed = FORMATS
        .iter()
        .filter_map(|format| civil::DateTime::strptime(format, text).ok());
    let moment = parsed.find(|it| (1970..=2999).contains(&it.year()))?;
    Some(moment.duration_since(epoch()).as_secs())
}

/// A time within an aligned day: `02:10`, with seconds if they are not zero.
pub(crate) fn clock(second_of_day: u32) -> String {
    let (hours, minutes) = (second_of_day / 3600, second_of_day / 60 % 60);
    match second_of_day % 60 {
        0 => format!("{hours:02}:{minutes:02}"),
        seconds => format!("{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

/// A length of time without parts that are zero: `10 min`, `2 d 3 h`.
pub(crate) fn span(seconds: u64) -> String {
    let span = units::span(Duration::from_secs(seconds));
    let zeros = [" 0 s", " 0 min", " 0 h"];
    let shortened = zeros
        .iter()
        .fold(span.as_str(), |span, zero| span.trim_end_matches(*zero));
    shortened.to_owned()
}

/// The date of a day that is counted from 1970-01-01.
pub(crate) fn date(day: i64) -> String {
    let moment = epoch().checked_add(SignedDuration::from_secs(day.saturating_mul(DAY_S.into())));
    moment.map_or_else(|_| day.to_string(), |moment| moment.date().to_string())
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The weekday of a day that is counted from 1970-01-01, a Thursday; 0 is Monday.
pub(crate) fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// The name of a weekday.
pub(crate) fn weekday_name(weekday: i64) -> &'static str {
    WEEKDAYS[weekday.rem_euclid(7) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_all_formats_are_read() {
        // date -u -d '2026-11-20 02:10:05' +%s
        const TIME: i64 = 1_795_140_605;
        for text in [
            "2026-11-20 02:10:05",
            "2026-11-20T02:10:05",
            "2026-11-20T02:10:05Z",
            "2026-11-20T02:10:05+0100",
            "2026/11/20 02:10:05",
            "11/20/26 02:10:05",
            "11/20/2026 02:10:05",
            "11/20/2026 02:10:05 AM",
            "11/20/26 02:10:05 AM",
            "20.11.2026 02:10:05",
        ] {
            assert_eq!(parse(text), Some(TIME), "{text}");
        }
        assert_eq!(parse("11/20/2026 02:10:05 PM"), Some(TIME + 12 * 3600));
        for text in [
            "",
            "02:10:05",
            "20/11/2026 02:10:05",
            "2026-13-20 02:10:05",
            "tomorrow",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn days_have_dates_and_weekdays() {
        let day = 1_795_140_605 / i64::from(DAY_S);
        assert_eq!(date(day), "2026-11-20");
        assert_eq!(weekday_name(weekday(day)), "Fri");
        assert_eq!(weekday_name(weekday(0)), "Thu");
        assert_eq!(clock(7800), "02:10");
        assert_eq!(clock(7805), "02:10:05");
        assert_eq!(
            [span(45), span(600), span(7200), span(183_600)],
            ["45 s", "10 min", "2 h", "2 d 3 h"]
        );
    }
}
