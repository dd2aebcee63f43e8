//! Which days of several systems belong together.

use std::collections::BTreeSet;

use crate::{
    days::Day,
    moment::{clock, date, weekday, weekday_name},
    resource::Demand,
};

/// How the days of several systems are put side by side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    /// Each system has all weekdays: Mondays beside Mondays.
    Weekday,
    /// All systems have common dates.
    Date,
    /// Whatever the date.
    TimeOfDay,
}

impl Alignment {
    /// Its name: `weekday`, `date` or `time of day`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Weekday => "weekday",
            Self::Date => "date",
            Self::TimeOfDay => "time of day",
        }
    }
}

/// The days of all systems side by side. A slot is one step of one aligned day.
#[derive(Debug)]
pub(crate) struct AlignedDays {
    pub(crate) alignment: Alignment,
    /// Weekdays from 0 (Monday), dates in days since 1970-01-01, or a single 0.
    keys: Vec<i64>,
    /// By system, then by key: the days that belong to it.
    days: Vec<Vec<Vec<Day>>>,
    pub(crate) steps_per_day: usize,
    step_s: u32,
}

impl AlignedDays {
    /// Aligns by weekday if each system has all seven, else by date if all have a common one, else by time of day.
    pub(crate) fn of(systems: Vec<Vec<Day>>, steps_per_day: usize, step_s: u32) -> Self {
        let (alignment, keys) = alignment_of(&systems);
        let belongs = |day: &Day, key: i64| match alignment {
            Alignment::Weekday => weekday(day.date) == key,
            Alignment::Date => day.date == key,
            Alignment::TimeOfDay => true,
        };
        let of_key = |days: &Vec<Day>, key: i64| -> Vec<Day> {
            let days = days.iter().filter(|day| belongs(day, key));
            days.cloned().collect()
        };
        let by_key = |days: &Vec<Day>| -> Vec<Vec<Day>> {
            keys.iter().map(|key| of_key(days, *key)).collect()
        };
        Self {
            alignment,
            days: systems.iter().map(by_key).collect(),
            keys,
            steps_per_day,
            step_s,
        }
    }

    pub(crate) fn systems(&self) -> usize {
        self.days.len()
    }

    pub(crate) fn slots(&self) -> usize {
        self.keys.len() * self.steps_per_day
    }

    /// The aligned day of a slot, counted from 0.
    pub(crate) fn key_of(&self, slot: usize) -> usize {
        slot / self.steps_per_day
    }

    /// The days of a system that were aligned, for each aligned day.
    pub(crate) fn days_of(&self, system: usize) -> &[Vec<Day>] {
        &self.days[system]
    }

    /// What a system uses in a slot: the highest value of the days that belong to it, for each resource.
    pub(crate) fn highest(&self, system: usize, slot: usize) -> Demand {
        let step = slot % self.steps_per_day;
        let mut highest = Demand::default();
        for day in &self.days[system][self.key_of(slot)] {
            for (highest, value) in highest.iter_mut().zip(day.steps[step]) {
                *highest = match (*highest, value) {
                    (Some(one), Some(other)) => Some(one.max(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        highest
    }

    /// The time of a slot: `02:10`, `Mon 02:10`, or `2026-11-20 02:10`.
    pub(crate) fn time(&self, slot: usize) -> String {
        let step = (slot % self.steps_per_day) as u32;
        let time = clock(step * self.step_s);
        let key = self.keys[self.key_of(slot)];
        match self.alignment {
            Alignment::Weekday => format!("{} {time}", weekday_name(key)),
            Alignment::Date => format!("{} {time}", date(key)),
            Alignment::TimeOfDay => time,
        }
    }
}

fn alignment_of(systems: &[Vec<Day>]) -> (Alignment, Vec<i64>) {
    let weekdays = |days: &Vec<Day>| {
        let weekdays: BTreeSet<i64> = days.iter().map(|day| weekday(day.date)).collect();
        weekdays.len()
    };
    if systems.iter().all(|days| weekdays(days) == 7) {
        return (Alignment::Weekday, (0..7).collect());
    }
    let dates = |days: &Vec<Day>| -> BTreeSet<i64> { days.iter().map(|day| day.date).collect() };
    let all = systems.iter().map(dates);
    let common = all.reduce(|one, other| &one & &other).unwrap_or_default();
    if common.is_empty() {
        (Alignment::TimeOfDay, vec![0])
    } else {
        (Alignment::Date, common.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(dates: impl IntoIterator<Item = i64>) -> Vec<Day> {
        let day = |date| Day {
            date,
            steps: vec![[Some(date as f64); 8]; 2],
        };
        dates.into_iter().map(day).collect()
    }

    fn aligned(systems: Vec<Vec<Day>>) -> AlignedDays {
        AlignedDays::of(systems, 2, 43_200)
    }

    #[test]
    fn weekdays_come_before_dates_and_dates_before_times() {
        // The second system has each weekday; day 4 is a Monday.
        let week = aligned(vec![days(0..7), days(30..44)]);
        assert_eq!(week.alignment, Alignment::Weekday);
        assert_eq!(week.time(1), "Mon 12:00");
        // Mondays are the days 32 and 39: the highest counts.
        assert_eq!(week.highest(1, 0)[0], Some(39.0));
        let dates = aligned(vec![days(0..3), days(2..5)]);
        assert_eq!((dates.alignment, dates.slots()), (Alignment::Date, 2));
        assert_eq!(dates.time(0), "1970-01-03 00:00");
        let times = aligned(vec![days(0..2), days(2..5)]);
        assert_eq!(times.alignment, Alignment::TimeOfDay);
        assert_eq!(
            (times.time(1), times.highest(1, 1)[0]),
            ("12:00".to_owned(), Some(4.0))
        );
    }
}
