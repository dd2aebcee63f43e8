//! The text of SHOW ENGINE INNODB STATUS, whose wording changes with every version.

use samples::InnodbStatus;

use super::total::total;

/// The values in the text; missing ones are `None`.
///
/// Numbers are found by the words around them, on any line: MySQL and MariaDB have moved, joined and dropped lines over
/// time, but have not changed the meaning of these words.
pub(crate) fn parse(text: &str) -> InnodbStatus {
    let mut status = InnodbStatus::default();
    let mut active = Transactions::default();
    for line in text.lines() {
        let line = line.trim_start();
        take(&mut status, line);
        active.take(line);
    }
    if text.contains("LIST OF TRANSACTIONS") {
        status.active_transactions = Some(active.count);
        status.lock_waits = Some(active.waiting);
        status.longest_transaction_s = Some(active.longest_s);
    }
    status
}

fn take(status: &mut InnodbStatus, line: &str) {
    let after = |words: &str| line.strip_prefix(words).and_then(number);
    let first = [
        ("History list length", &mut status.history_list_length),
        ("Log sequence number", &mut status.lsn),
        ("Log flushed up to", &mut status.flushed_lsn),
        ("Last checkpoint at", &mut status.checkpoint_lsn),
        ("Buffer pool size", &mut status.pool_pages),
        ("Free buffers", &mut status.free_pages),
        ("Modified db pages", &mut status.dirty_pages),
        ("Pending reads", &mut status.pending_reads),
    ];
    for (words, field) in first {
        // The first value is for the whole pool; those of its instances follow.
        if field.is_none() && !line.starts_with("Buffer pool size, bytes") {
            *field = after(words);
        }
    }
    if let Some(rest) = line.strip_prefix("Pending writes:")
        && status.pending_writes.is_none()
    {
        status.pending_writes = Some(total(rest.split(',').filter_map(last_number)));
    }
    if let Some(rest) = line.strip_prefix("Pending flushes (fsync)")
        && status.pending_fsyncs.is_none()
    {
        status.pending_fsyncs = Some(total(rest.split(';').filter_map(last_number)));
    }
    if line.contains("queries inside InnoDB") {
        status.queries_inside = number(line);
        status.queries_queued = line.split(',').nth(1).and_then(number);
    }
    if line.contains("read views open inside InnoDB") {
        status.read_views = number(line);
    }
}

/// Transactions in the list; only the active ones count.
#[derive(Default)]
struct Transactions {
    count: u64,
    waiting: u64,
    longest_s: u64,
    is_active: bool,
}

impl Transactions {
    fn take(&mut self, line: &str) {
        if let Some(head) = line.strip_prefix("---TRANSACTION") {
            let age = head.split_once("ACTIVE");
            self.is_active = age.is_some();
            if let Some((_, age)) = age {
                self.count += 1;
                self.longest_s = self.longest_s.max(number(age).unwrap_or(0));
            }
        } else if self.is_active && line.starts_with("LOCK WAIT") {
            self.waiting += 1;
        }
    }
}

/// The first number of a text.
fn number(text: &str) -> Option<u64> {
    let from = text.find(|c: char| c.is_ascii_digit())?;
    let digits = &text[from..];
    let to = digits.find(|c: char| !c.is_ascii_digit());
    digits[..to.unwrap_or(digits.len())].parse().ok()
}

fn last_number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let from = text
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    text[from..].parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The status of each server under the same small load.
    #[test]
    fn no_number_is_too_large() {
        let most = u64::MAX;
        let text = format!(
            "Pending writes: LRU {most}, flush list {most}, single page 0\nPending flushes (fsync) log: {most}; buffer pool: 1"
        );
        let status = parse(&text);
        assert_eq!(status.pending_writes, Some(most));
        assert_eq!(status.pending_fsyncs, Some(most));
    }

    #[test]
    fn every_version_is_understood() {
        let cases = [
            (
                "mysql-5.5",
                include_str!("../../fixtures/innodb-status/mysql-5.5.txt"),
                2738971,
                169,
                Some(0),
            ),
            (
                "mysql-5.6",
                include_str!("../../fixtures/innodb-status/mysql-5.6.txt"),
                0,
                0,
                Some(0),
            ),
            (
                "mysql-5.7",
                include_str!("../../fixtures/innodb-status/mysql-5.7.txt"),
                106,
                0,
                Some(0),
            ),
            (
                "mysql-8.0.12",
                include_str!("../../fixtures/innodb-status/mysql-8.0.12.txt"),
                2213883,
                13,
                Some(0),
            ),
            (
                "mysql-8.0.33",
                include_str!("../../fixtures/innodb-status/mysql-8.0.33.txt"),
                3248110,
                88,
                Some(0),
            ),
            (
                "mysql-9.7",
                include_str!("../../fixtures/innodb-status/mysql-9.7.txt"),
                3065117,
                268,
                Some(0),
            ),
            (
                "mariadb-10.2",
                include_str!("../../fixtures/innodb-status/mariadb-10.2.txt"),
                2011510,
                0,
                Some(0),
            ),
            (
                "mariadb-10.5",
                include_str!("../../fixtures/innodb-status/mariadb-10.5.txt"),
                2845285,
                216,
                None,
            ),
            (
                "mariadb-10.11",
                include_str!("../../fixtures/innodb-status/mariadb-10.11.txt"),
                3384211,
                519,
                None,
            ),
            (
                "mariadb-11.4",
                include_str!("../../fixtures/innodb-status/mariadb-11.4.txt"),
                4734025,
                593,
                None,
            ),
            (
                "mariadb-11.8",
                include_str!("../../fixtures/innodb-status/mariadb-11.8.txt"),
                4420109,
                664,
                None,
            ),
        ];
        for (version, text, age, dirty, inside) in cases {
            let status = parse(text);
            assert_eq!(status.checkpoint_age_bytes(), Some(age), "{version}");
            assert_eq!(status.dirty_pages, Some(dirty), "{version}");
            assert_eq!(status.queries_inside, inside, "{version}");
            assert!(status.pool_pages > Some(8000), "{version}");
            assert!(status.free_pages > Some(6000), "{version}");
            assert!(status.history_list_length > Some(1), "{version}");
            assert!(status.read_views.is_some(), "{version}");
            assert_eq!(status.pending_writes, Some(0), "{version}");
            assert_eq!(status.pending_fsyncs, Some(0), "{version}");
        }
    }

    #[test]
    fn lists_of_what_waits_are_added_up() {
        let status = parse(
            "Pending flushes (fsync) log: 1; buffer pool: 2\nPending writes: LRU 3, flush list 4, single page 5\n",
        );
        assert_eq!(status.pending_fsyncs, Some(3));
        assert_eq!(status.pending_writes, Some(12));
        assert_eq!(parse("Pending flushes (fsync): 7").pending_fsyncs, Some(7));
    }

    #[test]
    fn the_pool_is_not_one_of_its_instances() {
        let status = parse(
            "Buffer pool size   16384\nBuffer pool size, bytes 268435456\nFree buffers       9000\n---BUFFER POOL 0\n\
             Buffer pool size   8192\nFree buffers       4500\n",
        );
        assert_eq!(
            (status.pool_pages, status.free_pages),
            (Some(16384), Some(9000))
        );
    }

    #[test]
    fn transactions_are_counted_where_they_are_active() {
        let status = parse(
            "LIST OF TRANSACTIONS FOR EACH SESSION:\n---TRANSACTION 0, not started\n\
             ---TRANSACTION 2502, ACTIVE 7 sec starting index read\nmysql tables in use 1, locked 1\n\
             LOCK WAIT 2 lock struct(s), heap size 1136, 1 row lock(s)\n\
             ---TRANSACTION (0x7f46), ACTIVE 0 sec\n0 lock struct(s)\n\
             ---TRANSACTION 421, ACTIVE (PREPARED) 12 sec\n",
        );
        assert_eq!(status.active_transactions, Some(3));
        assert_eq!(status.lock_waits, Some(1));
        assert_eq!(status.longest_transaction_s, Some(12));
    }

    #[test]
    fn nothing_is_made_up() {
        assert_eq!(parse(""), InnodbStatus::default());
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text in "(Pending writes:|Log sequence number|---TRANSACTION|ACTIVE|[ ,;:0-9a-z\n-]){0,40}") {
            parse(&text);
        }
    }
}
