//! What performance_schema says about an execution of the own session.

use serde_json::{Value, json};
use units::{count, seconds};

use super::session::{Failure, Session};

/// Amounts of an event, by the names of their columns.
const AMOUNTS: [&str; 7] = [
    "rows_examined",
    "rows_sent",
    "rows_affected",
    "created_tmp_tables",
    "created_tmp_disk_tables",
    "sort_merge_passes",
    "no_index_used",
];
/// Those that are shown when they are 0, too.
const ALWAYS: [&str; 2] = ["rows_examined", "rows_sent"];

/// Picoseconds of a second, the unit of the times.
const PER_S: f64 = 1e12;

/// One execution of a statement, as `events_statements_history` has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StatementEvent {
    /// Time in the server, seconds.
    time_s: f64,
    /// Time in which it waited for the locks of tables, seconds.
    lock_s: f64,
    /// In the order of [`AMOUNTS`].
    amounts: Vec<i64>,
}

impl StatementEvent {
    /// The execution of a statement before the last `skipped` statements of the session, or why performance_schema does
    /// not have it.
    pub(super) async fn read(
        session: &mut Session,
        statement: &[u8],
        skipped: u32,
    ) -> Result<Result<Self, String>, Failure> {
        // A statement within a function ends before the one that calls it.
        let sql = format!(
            "SELECT sql_text, timer_wait, lock_time, {} FROM performance_schema.events_statements_history WHERE thread_id = \
             (SELECT thread_id FROM performance_schema.threads WHERE processlist_id = CONNECTION_ID()) \
             ORDER BY end_event_id DESC, event_id LIMIT {skipped}, 1",
            AMOUNTS.join(", ")
        );
        let answer = session.rows(&sql).await;
        let sets = match answer {
            Ok(sets) => sets,
            Err(failure) if failure.is_of_statement() => {
                return Ok(Err(failure.server_message().unwrap_or_default()));
            }
            Err(failure) => return Err(failure),
        };
        let mut rows = sets.iter().flat_map(|set| &set.rows);
        if let Some([Some(text), numbers @ ..]) = rows.next().map(Vec::as_slice)
            && is_beginning(text, statement)
        {
            let number = |value: &Option<Vec<u8>>| {
                let text = value.as_deref().map(String::from_utf8_lossy);
                text.and_then(|it| it.parse::<i64>().ok()).unwrap_or(0)
            };
            let numbers: Vec<i64> = numbers.iter().map(number).collect();
            if let [time, lock, amounts @ ..] = numbers.as_slice() {
                return Ok(Ok(Self {
                    time_s: *time as f64 / PER_S,
                    lock_s: *lock as f64 / PER_S,
                    amounts: amounts.to_vec(),
                }));
            }
        }
        let sets = session.rows("SELECT @@performance_schema").await?;
        let mut values = sets.iter().flat_map(|set| &set.rows).flatten().flatten();
        let is_on = values.next().is_some_and(|value| value.as_slice() == b"1");
        let why = if is_on {
            format!(
                "its consumer events_statements_history or events_statements_current is off, a statement instrument \
                 is off, or performance_schema_events_statements_history_size is below {}",
                skipped + 1
            )
        } else {
            "it is off (option performance_schema=ON)".to_owned()
        };
        Ok(Err(why))
    }

    /// The event in a line: `1.20 ms in the server, lock time 3 µs, rows examined 8.00k, rows sent 1, no index used`.
    pub(super) fn sentence(&self) -> String {
        let mut parts = vec![
            format!("{} in the server", seconds(self.time_s)),
            format!("lock time {}", seconds(self.lock_s)),
        ];
        for (name, amount) in AMOUNTS.iter().zip(&self.amounts) {
            let words = name.replace('_', " ");
            if *name == "no_index_used" {
                parts.extend((*amount > 0).then_some(words));
            } else if *amount > 0 || ALWAYS.contains(name) {
                parts.push(format!("{words} {}", count(*amount as f64)));
            }
        }
        parts.join(", ")
    }

    /// Times in seconds, and the amounts by their names.
    pub(super) fn json(&self) -> Value {
        let mut value = json!({ "time_s": self.time_s, "lock_time_s": self.lock_s });
        for (name, amount) in AMOUNTS.iter().zip(&self.amounts) {
            value[*name] = json!(amount);
        }
        value
    }
}

/// Whether the text of an event is that of a statement. The server cuts long ones, and letters beyond ASCII can come in
/// another character set, so that the part before the first of them counts.
fn is_beginning(text: &[u8], statement: &[u8]) -> bool {
    let ascii = |text: &[u8]| text.iter().take_while(|it| it.is_ascii()).count();
    let length = ascii(text).min(ascii(statement));
    length > 0 && text[..length] == statement[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_belongs_to_the_statement_that_it_begins() {
        let statement = "select /* Q1 */ 'é', a from t".as_bytes();
        for (text, expected) in [
            (statement, true),
            (&b"select /* Q1 */ '\xe9', a from t"[..], true),
            (&b"select /* Q"[..], true),
            (&b"SHOW SESSION STATUS"[..], false),
            (&b"select /* Q2 */ 'x'"[..], false),
            (&b""[..], false),
        ] {
            assert_eq!(is_beginning(text, statement), expected, "{text:?}");
        }
    }

    #[test]
    fn an_event_is_a_line_without_amounts_of_0() {
        let event = StatementEvent {
            time_s: 0.0012,
            lock_s: 3e-6,
            amounts: vec![8000, 0, 0, 1, 0, 0, 1],
        };
        assert_eq!(
            event.sentence(),
            "1.20 ms in the server, lock time 3.00 µs, rows examined 8.00k, rows sent 0, created tmp tables 1, no index used"
        );
        assert_eq!(event.json()["rows_examined"], 8000);
    }
}
