//! Dates of the Gregorian calendar as numbers, for ranges of them.

const DAY_S: i64 = 86_400;

/// Seconds from 1970-01-01 of `2024-01-31` or `2024-01-31 12:00:00`; `None` for a text that is neither.
pub(super) fn seconds_of(text: &str) -> Option<i64> {
    let (date, time) = match text.split_once([' ', 'T']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut numbers = date.splitn(3, '-').map(number);
    let (year, month, day) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let days = days_of(year, month, day);
    // A day that the month does not have is one of the next month.
    if date_of(days) != (year, month, day) {
        return None;
    }
    let mut seconds = days * DAY_S;
    if let Some(time) = time {
        let mut numbers = time.splitn(3, ':').map(number);
        let (hours, minutes) = (numbers.next()??, numbers.next()??);
        let rest = numbers.next().unwrap_or(Some(0))?;
        if hours > 23 || minutes > 59 || rest > 59 {
            return None;
        }
        seconds += hours * 3600 + minutes * 60 + rest;
    }
    Some(seconds)
}

fn number(digits: &str) -> Option<i64> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_plain)
}

/// Appends the date, and the time where one is wanted.
pub(super) fn write(seconds: i64, with_time: bool, out: &mut Vec<u8>) {
    let (year, month, day) = date_of(seconds.div_euclid(DAY_S));
    out.extend_from_slice(format!("{year:04}-{month:02}-{day:02}").as_bytes());
    if with_time {
        let rest = seconds.rem_euclid(DAY_S);
        let (hours, minutes) = (rest / 3600, rest / 60 % 60);
        out.extend_from_slice(format!(" {hours:02}:{minutes:02}:{:02}", rest % 60).as_bytes());
    }
}

/// Days from 1970-01-01. Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day. Source: as for [`days_of`], `civil_from_days`.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days - era * 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_lead_to_seconds_and_back() {
        for (text, seconds) in [
            ("1970-01-01", Some(0)),
            ("2000-02-29 12:30:01", Some(951_827_401)),
            ("2024-01-01", Some(1_704_067_200)),
            ("0001-01-01", Some(-62_135_596_800)),
            ("9999-12-31 23:59:59", Some(253_402_300_799)),
            ("2023-02-29", None),
            ("2023-13-01", None),
            ("2023-1", None),
            ("1..5", None),
        ] {
            assert_eq!(seconds_of(text), seconds, "{text}");
            if let Some(seconds) = seconds {
                let mut out = Vec::new();
                write(seconds, text.contains(' '), &mut out);
                assert_eq!(out, text.as_bytes());
            }
        }
    }
}
