//! Errors that applications have to survive: number, SQLSTATE and text as servers send them.

/// Number, SQLSTATE, text; sorted by number.
const KNOWN: [(u16, &str, &str); 24] = [
    (
        1021,
        "HY000",
        "Disk full; waiting for someone to free some space...",
    ),
    (1036, "HY000", "Table is read only"),
    (1040, "08004", "Too many connections"),
    (1044, "42000", "Access denied for user to database"),
    (1045, "28000", "Access denied for user"),
    (1053, "08S01", "Server shutdown in progress"),
    (1062, "23000", "Duplicate entry for key"),
    (1064, "42000", "You have an error in your SQL syntax"),
    (1105, "HY000", "Unknown error"),
    (1114, "HY000", "The table is full"),
    (
        1129,
        "HY000",
        "Host is blocked because of many connection errors",
    ),
    (1142, "42000", "Command denied to user for table"),
    (
        1153,
        "08S01",
        "Got a packet bigger than 'max_allowed_packet' bytes",
    ),
    (1158, "08S01", "Got an error reading communication packets"),
    (1159, "08S01", "Got timeout reading communication packets"),
    (
        1203,
        "42000",
        "User already has more than 'max_user_connections' active connections",
    ),
    (
        1205,
        "HY000",
        "Lock wait timeout exceeded; try restarting transaction",
    ),
    (
        1213,
        "40001",
        "Deadlock found when trying to get lock; try restarting transaction",
    ),
    (
        1227,
        "42000",
        "Access denied; you need more privileges for this operation",
    ),
    (
        1290,
        "HY000",
        "The server is running with the --read-only option so it cannot execute this statement",
    ),
    (1317, "70100", "Query execution was interrupted"),
    (1836, "HY000", "Running in read-only mode"),
    (
        1969,
        "70100",
        "Query execution was interrupted (max_statement_time exceeded)",
    ),
    (
        3024,
        "HY000",
        "Query execution was interrupted, maximum statement execution time exceeded",
    ),
];

/// The SQLSTATE and the text of an error's number; `None` if they are not known here.
pub(super) fn known(number: u16) -> Option<(&'static str, &'static str)> {
    let at = KNOWN.binary_search_by_key(&number, |error| error.0).ok()?;
    Some((KNOWN[at].1, KNOWN[at].2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_found_and_has_a_sqlstate() {
        assert!(KNOWN.is_sorted_by(|a, b| a.0 < b.0));
        for (number, sqlstate, text) in KNOWN {
            assert_eq!(known(number), Some((sqlstate, text)));
            assert_eq!(sqlstate.len(), 5, "{number}");
        }
        assert_eq!(known(1), None);
    }
}
