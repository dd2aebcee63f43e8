//! Rule: InnoDB does not take its list of data files or its page size.

use crate::assignment::Assignment;
use crate::rule::{Level, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "innodb-files",
    title: "Data files and page size of InnoDB",
    reason: "InnoDB reads the list of its data files and checks its page size only when it starts; if they are wrong, the server stops. The server's own validator does not detect this.",
    source: "MySQL Reference Manual, \"innodb_data_file_path\", \"innodb_temp_data_file_path\" and \"innodb_page_size\"; the \
        errors \"syntax error in file path or size specified is less than 1 megabyte\" and \"Invalid page size\" at startup",
    check,
};

const LISTS: [&str; 2] = ["innodb_data_file_path", "innodb_temp_data_file_path"];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    if subject.is_without_innodb() {
        return Vec::new();
    }
    let lists = LISTS
        .into_iter()
        .filter_map(|name| wrong_list(subject, name));
    lists.chain(wrong_page_size(subject)).collect()
}

fn wrong_list(subject: &Subject<'_>, name: &str) -> Option<RuleFinding> {
    let line = subject.set(name)?;
    // The version may have no such option.
    line.option?;
    let list = line.entry.value.as_deref()?;
    if is_well_formed(list, subject.is_mariadb()) {
        return None;
    }
    let what = "not a list of data files, or a file of less than 1M, so InnoDB does not start";
    let fix = "write each file as NAME:SIZE, such as ibdata1:12M:autoextend, with a semicolon between two files; only the \
               last file can have :autoextend";
    Some(RuleFinding::on(line, Level::Refused, what).fix(fix))
}

fn wrong_page_size(subject: &Subject<'_>) -> Option<RuleFinding> {
    let line = subject.set("innodb_page_size")?;
    let bytes: u64 = line.value()?.parse().ok()?;
    if bytes.is_power_of_two() {
        return None;
    }
    let what = "not a page size of InnoDB, so InnoDB does not start";
    let fix = "write 4K, 8K or 16K; MySQL 5.7 and MariaDB also have 32K and 64K";
    Some(RuleFinding::on(line, Level::Refused, what).fix(fix))
}

/// Whether InnoDB reads a list: `ibdata1:1G;/big/ibdata2:12M:autoextend:max:5G`.
///
/// Source: `SysTablespace::parse_params` in fsp0sysspace.cc; only MariaDB knows `:autoshrink`.
fn is_well_formed(list: &str, has_autoshrink: bool) -> bool {
    let mut rest = list;
    while !rest.is_empty() {
        let Some(after) = behind_path(rest).and_then(behind_size) else {
            return false;
        };
        if let Some(end) = after.strip_prefix(":autoextend") {
            let end = match end.strip_prefix(":max:") {
                Some(maximum) => behind_size(maximum),
                None => Some(end),
            };
            return end == Some("") || (has_autoshrink && end == Some(":autoshrink"));
        }
        let raw = after.strip_prefix("newraw");
        let after = raw.or_else(|| after.strip_prefix("raw")).unwrap_or(after);
        rest = match after.strip_prefix(';') {
            Some(next) => next,
            None if after.is_empty() => after,
            None => return false,
        };
    }
    true
}

/// What follows the colon behind a path; a path of Windows can contain `:\`, `:/` and `::`.
fn behind_path(text: &str) -> Option<&str> {
    let mut colons = text.match_indices(':').map(|(at, _)| &text[at + 1..]);
    colons.find(|rest| !rest.starts_with(['\\', '/', ':']))
}

/// What follows a size of at least 1M.
fn behind_size(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let number: u64 = text[..text.len() - rest.len()].parse().ok()?;
    let (bytes, rest) = match rest.chars().next() {
        Some('K' | 'k') => (1 << 10, &rest[1..]),
        Some('M' | 'm') => (1 << 20, &rest[1..]),
        Some('G' | 'g') => (1 << 30, &rest[1..]),
        _ => (1, rest),
    };
    (number.saturating_mul(bytes) >= 1 << 20).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn lists_that_innodb_does_not_read() {
        let refused = "refused: innodb_data_file_path=ibdata1:12M:autoextnd: not a list of data files, or a file of less \
                       than 1M, so InnoDB does not start; write each file as NAME:SIZE, such as \
                       ibdata1:12M:autoextend, with a semicolon between two files; only the last file can have \
                       :autoextend";
        let line = "innodb_data_file_path=ibdata1:12M:autoextnd";
        assert_found(&RULE, "mysql-8.0.33", line, &[refused]);
        for list in [
            "ibdata1",
            "ibdata1:",
            "ibdata1:12",
            "ibdata1:12X",
            "ibdata1:512K:autoextend",
            "ibdata1:10M,ibdata2:10M:autoextend",
            "ibdata1:10M:autoextend;ibdata2:10M",
            "ibdata1:10M:autoextend:max:5T",
            "ibdata1:10M:max:5G",
            "ibdata1:10M:autoextend:autoshrink",
        ] {
            let line = format!("innodb_data_file_path={list}");
            assert_found(&RULE, "mysql-5.7", &line, &["refused: "]);
        }
        let temporary = "innodb_temp_data_file_path=ibtmp1:12M:autoextend:5G";
        assert_found(&RULE, "mariadb-10.11", temporary, &["refused: "]);
    }

    #[test]
    fn lists_that_innodb_reads() {
        for list in [
            "ibdata1:12M",
            "ibdata1:12M;",
            "ibdata1:12582912:autoextend",
            "ibdata1:12288K:autoextend",
            "ibdata1:10m;/big/ibdata2:1g:autoextend:max:500G",
            "/dev/hdd1:3Gnewraw;/dev/hdd2:2Graw",
            "C:/data/ibdata1:10M;C:\\data\\ibdata2:10M",
            "",
        ] {
            let line = format!("innodb_data_file_path={list}");
            assert_found(&RULE, "mysql-5.7", &line, &[]);
        }
        for (version, line) in [
            (
                "mariadb-11.8",
                "innodb_data_file_path=ibdata1:10M:autoextend:autoshrink",
            ),
            // No such option, or no InnoDB.
            ("mysql-5.6", "innodb_temp_data_file_path=ibtmp1"),
            ("mysql-5.6", "skip_innodb\ninnodb_data_file_path=ibdata1"),
            ("mysql-8.0.33", ""),
        ] {
            assert_found(&RULE, version, line, &[]);
        }
    }

    #[test]
    fn page_sizes_are_powers_of_two() {
        let refused = "refused: innodb_page_size=10k: not a page size of InnoDB, so InnoDB does not start; write 4K, 8K or";
        assert_found(&RULE, "mysql-8.0.33", "innodb_page_size=10k", &[refused]);
        assert_found(
            &RULE,
            "mariadb-10.11",
            "innodb_page_size=16384000",
            // The server lowers it to the greatest page size.
            &[],
        );
        for line in ["innodb_page_size=4k", "innodb_page_size=16384"] {
            assert_found(&RULE, "mysql-5.6", line, &[]);
        }
        assert_found(&RULE, "mysql-5.5", "innodb_page_size=10k", &[]);
    }
}
