//! What a move does with lines of a file that contradict each other.

use crate::migrations::{line, moved};

#[test]
fn the_maximum_of_background_writing_is_at_least_the_normal_rate() {
    let text = "[mysqld]\ninnodb_io_capacity_max=1000\ninnodb_io_capacity=4000\n";
    for to in ["mysql-8.0.33", "mysql-9.7", "mariadb-10.11"] {
        let (new, open) = moved(text, "percona-5.7", to);
        line(
            &new,
            "innodb_io_capacity_max = 4000    # was innodb_io_capacity_max=1000 in percona-5.7, below innodb_io_capacity",
        );
        line(&new, "innodb_io_capacity=4000");
        assert!(open.is_empty(), "{to}: {open:?}");
    }
    let equal = "[mysqld]\ninnodb_io_capacity_max=4000\ninnodb_io_capacity=4000\n";
    let (new, _) = moved(equal, "percona-5.7", "mysql-8.0.33");
    assert_eq!(
        line(&new, "innodb_io_capacity_max"),
        "innodb_io_capacity_max=4000"
    );
}

/// A file with the maximum alone contradicts nothing in the old version. MySQL 8.4 has a normal rate of 10000.
#[test]
fn a_new_default_does_not_exceed_the_maximum_of_the_file() {
    for (max, pin) in [
        (
            "1000",
            Some(
                "innodb_io_capacity = 200    # as in mysql-8.0.33; the default of mysql-8.4 is 10000",
            ),
        ),
        ("10000", None),
    ] {
        let text = format!("[mysqld]\ninnodb_io_capacity_max={max}\n");
        let (new, open) = moved(&text, "mysql-8.0.33", "mysql-8.4");
        let mut lines = new.lines();
        let rate = lines.find(|line| line.starts_with("innodb_io_capacity ="));
        assert_eq!(rate, pin, "{max}");
        line(&new, &format!("innodb_io_capacity_max={max}"));
        assert!(open.is_empty(), "{max}: {open:?}");
    }
}

/// InnoDB rejects all writes, also in the old version. No rule can tell which of the two lines is wrong.
#[test]
fn what_a_statement_based_log_refuses_is_to_decide() {
    let text = |format: &str| {
        format!(
            "[mysqld]\nserver_id=1\nlog_bin=b\nbinlog_format={format}\ntransaction_isolation=READ-COMMITTED\n"
        )
    };
    for (from, to, fix) in [
        ("percona-5.7", "mysql-8.0.33", "set binlog_format = ROW"),
        ("mysql-5.7", "mariadb-10.11", "set binlog_format = ROW"),
        (
            "mysql-8.0.33",
            "mysql-8.4",
            "remove binlog_format: ROW is the default",
        ),
    ] {
        let (new, open) = moved(&text("STATEMENT"), from, to);
        let what = format!(
            "with this isolation level and a statement-based binary log, InnoDB rejects statements that change data \
             (error 1665); {fix}"
        );
        assert_eq!(
            open,
            [format!("transaction_isolation=READ-COMMITTED: {what}")],
            "{from} to {to}"
        );
        line(&new, &format!("# to decide: {what}"));
        let interleaved = "[mysqld]\nserver_id=1\nlog_bin=b\nbinlog_format=STATEMENT\ninnodb_autoinc_lock_mode=2\n";
        let (_, open) = moved(interleaved, from, to);
        let [one] = &open[..] else {
            panic!("{from} to {to}: {open:?}");
        };
        assert!(one.starts_with("innodb_autoinc_lock_mode=2: "), "{one}");
        for format in ["ROW", "MIXED"] {
            let (_, open) = moved(&text(format), from, to);
            assert!(open.is_empty(), "{from} to {to}, {format}: {open:?}");
        }
    }
}
