//! Execution times of the server's statements: the histogram of MySQL 8.0 and later.

use std::collections::BTreeMap;

use protocol::Error;
use samples::TimesUpTo;

use super::questioner::Questioner;

/// The table; MariaDB and MySQL before 8.0 have none.
const TABLE: &str = "performance_schema.events_statements_histogram_global";
const PS_PER_NS: u64 = 1000;
/// The name of the value if it is missing.
const WHAT: &str = "percentiles";

/// Number of statements by upper limit of their execution time, nanoseconds, since the histogram was emptied.
pub(crate) type Histogram = BTreeMap<u64, u64>;

/// Reads the histogram; `None` if the server has none, which is recorded.
pub(crate) async fn read(
    questioner: &mut Questioner,
    variables: &BTreeMap<String, String>,
) -> Result<Option<Histogram>, Error> {
    match variables.get("performance_schema").map(String::as_str) {
        Some("ON" | "1") => {}
        Some(_) => {
            questioner.miss(WHAT, "performance_schema is off");
            return Ok(None);
        }
        None => {
            questioner.miss(WHAT, "this server has no performance_schema");
            return Ok(None);
        }
    }
    let sql = format!(
        "SELECT BUCKET_TIMER_HIGH AS high, COUNT_BUCKET AS count FROM {TABLE} WHERE COUNT_BUCKET > 0"
    );
    let Ok(answer) = questioner.try_ask(&sql).await? else {
        questioner.miss(WHAT, "from MySQL 8.0 on");
        return Ok(None);
    };
    let buckets = answer.rows().map(|row| {
        let high_ns = row.number("high") / PS_PER_NS;
        (high_ns, row.number("count"))
    });
    Ok(Some(buckets.collect()))
}

/// The growth of a histogram; one that was emptied meanwhile counts from 0.
pub(crate) fn growth(before: &Histogram, now: &Histogram) -> Vec<TimesUpTo> {
    let was_emptied = before
        .iter()
        .any(|(high, count)| now.get(high).is_none_or(|now| now < count));
    let grown = now.iter().map(|(high, count)| {
        let before = if was_emptied {
            0
        } else {
            before.get(high).copied().unwrap_or(0)
        };
        TimesUpTo {
            up_to_ns: *high,
            count: count - before,
        }
    });
    grown.filter(|bucket| bucket.count > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_came_since_counts() {
        let grown = |before: &[(u64, u64)], now: &[(u64, u64)]| -> Vec<(u64, u64)> {
            let histogram = |buckets: &[(u64, u64)]| buckets.iter().copied().collect();
            let grown = growth(&histogram(before), &histogram(now));
            grown.iter().map(|it| (it.up_to_ns, it.count)).collect()
        };
        assert_eq!(grown(&[(10, 5)], &[(10, 5)]), []);
        assert_eq!(grown(&[(10, 5)], &[(10, 7), (20, 1)]), [(10, 2), (20, 1)]);
        // Emptied: its present content was added afterwards.
        assert_eq!(grown(&[(10, 5), (20, 3)], &[(10, 7)]), [(10, 7)]);
    }
}
