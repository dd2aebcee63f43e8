//! Rule: the version refuses the value, or ignores the line because of it.

use crate::assignment::Assignment;
use crate::catalogue::{Catalogue, Family, Kind, KnownOption, Product};
use crate::exact_words::takes_exact_words;
use crate::fix::Fix;
use crate::judge::{allowed, is_part_of, is_word_of, judge_switch, judge_value};
use crate::judgement::Judgement;
use crate::name::is_switched_on;
use crate::print::option_line;
use crate::rule::{Advice, Level, Rewrite, Rule, RuleFinding, Startup};
use crate::sql_modes::with_parts;
use crate::subject::Subject;
use crate::target::Target;

pub(super) const RULE: Rule = Rule {
    id: "wrong-value",
    title: "Wrong value",
    reason: "If the value has the wrong type or unit, or is an unknown word, the server does not start, or it ignores the line.",
    source: "types, units and allowed words of 15 versions: 11 read from running servers, 4 taken from documentation",
    check,
};

impl Advice {
    /// Whether the version does not start because of the value.
    pub fn refuses_value(&self) -> bool {
        self.rule.is(&RULE) && self.remark.startup() == Startup::Refused
    }
}

/// Switches of MySQL 5.5 that accept 1 and 0 and ignore ON and OFF.
const NUMBERS_ONLY: [&str; 3] = [
    "log_slow_slave_statements",
    "innodb_large_prefix",
    "innodb_stats_on_metadata",
];

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    subject
        .read()
        .filter_map(|line| remark(subject, line))
        .collect()
}

fn remark(subject: &Subject<'_>, line: &Assignment<'_>) -> Option<RuleFinding> {
    let option = line.option?;
    let value = line.entry.value.as_deref()?;
    if option.kind == Kind::Boolean && is_switched_on(&line.entry.name, Some(value)).is_none() {
        if let Some(remark) = taken_since(subject, line, value) {
            return Some(remark);
        }
        return Some(neither_on_nor_off(subject, line, option, value));
    }
    let judged = judge_value(&subject.catalogue, option, &line.entry.name, value);
    if let Some(Judgement::Refused(what)) = judged {
        if let Some(remark) = taken_since(subject, line, value) {
            return Some(remark.if_refused(Startup::Uncertain));
        }
        // The nearest catalogue may be of a version that compares the letter case, too.
        if let Kind::Word(words) = option.kind
            && is_word_of(words, value)
            && !takes_exact_words(subject.target, option.name)
        {
            return None;
        }
        if let (Kind::Word(_) | Kind::Words(_), false) = (option.kind, subject.target.is_covered())
        {
            return Some(by_nearest(subject, line, &what));
        }
        let mut remark = RuleFinding::on(line, Level::Refused, what);
        remark.fix = allowed(&subject.catalogue, &line.entry.name).map(Fix::Text);
        if let Kind::Words(words) = option.kind {
            // A word that no version has is a typing error; removing it would lose the intended word.
            let unknown = words_of_no_version(subject, line, value);
            remark.rewrite = match unknown.first() {
                None => {
                    let is_known = |word: &str| is_part_of(words, word);
                    let list = with_parts(value, is_known);
                    parts_left(line, &list, is_known)
                        .or_else(|| without_old_words(subject, line, value))
                }
                Some(word) => {
                    remark.fix = nearest_word(words, word).or(remark.fix);
                    None
                }
            };
        }
        if let Some(Rewrite::Replace(new)) = &remark.rewrite {
            remark.fix = Some(format!("write {new}").into());
        }
        return Some(remark);
    }
    let is_5_5 =
        subject.target.family() == Family::MySql && subject.target.numbers().starts_with(&[5, 5]);
    let is_word = ["ON", "OFF"]
        .iter()
        .any(|word| value.eq_ignore_ascii_case(word));
    if is_5_5 && is_word && NUMBERS_ONLY.contains(&option.name) {
        let number = u8::from(value.eq_ignore_ascii_case("on"));
        let new = format!("{} = {number}", line.entry.name);
        let what = "MySQL 5.5 ignores the line: the option accepts only 1 and 0";
        let remark = RuleFinding::on(line, Level::Refused, what).if_refused(Startup::Ignoring);
        let remark = remark.fix(format!("write {new}"));
        return Some(remark.rewrite(Rewrite::Replace(new)));
    }
    if option.name == "optimizer_switch" {
        return unknown_flag(subject, line, value);
    }
    None
}

/// A note about a value that the next catalogue of the series accepts.
fn taken_since(subject: &Subject<'_>, line: &Assignment<'_>, value: &str) -> Option<RuleFinding> {
    let later = subject.target.later_in_series()?;
    let name = &line.entry.name;
    let judged = judge_value(&later, later.find(name)?, name, value);
    let is_taken = !matches!(
        judged,
        Some(Judgement::Refused(_) | Judgement::Ignored(_) | Judgement::TakenForOff)
    );
    if !is_taken {
        return None;
    }
    let nearest = Target::of_catalogue(&subject.catalogue);
    let later = Target::of_base_version(&later);
    let what = format!(
        "{later} accepts this value and {nearest} does not: this version may not accept it"
    );
    Some(RuleFinding::on(line, Level::Note, what))
}

/// A switch with another value, which is OFF or leaves the line without effect.
fn neither_on_nor_off(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
    option: &KnownOption,
    value: &str,
) -> RuleFinding {
    let judged = judge_switch(option);
    let is_ignored = matches!(judged, Judgement::Ignored(_));
    if is_ignored && !subject.target.is_covered() {
        // The server starts in either case.
        let remark = by_nearest(subject, line, &judged.what());
        return remark.if_refused(Startup::Ignoring);
    }
    let file = format!("{}_file", option.name);
    let fix = if value.contains(['/', '.']) && subject.has(&file) {
        format!("set {} = 1 and {file} = {value}", option.name)
    } else {
        "set ON or OFF".to_owned()
    };
    let level = if is_ignored {
        Level::Refused
    } else {
        Level::Warning
    };
    let remark = RuleFinding::on(line, level, judged.what()).fix(fix);
    remark.if_refused(Startup::Ignoring)
}

/// A note about a value that the nearest catalogue does not have, but that the version itself may have.
fn by_nearest(subject: &Subject<'_>, line: &Assignment<'_>, what: &str) -> RuleFinding {
    let nearest = Target::of_catalogue(&subject.catalogue);
    let what = format!("{what} (according to {nearest}, the nearest version that dbdyno knows)");
    RuleFinding::on(line, Level::Note, what).if_refused(Startup::Uncertain)
}

/// The words of a list that no version of any product has.
fn words_of_no_version<'v>(
    subject: &Subject<'_>,
    line: &Assignment<'_>,
    list: &'v str,
) -> Vec<&'v str> {
    let Some(option) = line.option else {
        return Vec::new();
    };
    let catalogues: Vec<Catalogue> = Product::ALL.into_iter().flat_map(Catalogue::all).collect();
    let is_known = |word: &str| {
        let mut all = catalogues.iter().chain([&subject.catalogue]);
        all.any(|catalogue| {
            let row = catalogue.row(option.name);
            row.is_some_and(|row| matches!(row.kind, Kind::Words(words) if is_part_of(words, word)))
        })
    };
    let words = list.split(',').map(str::trim);
    words
        .filter(|word| !word.is_empty() && word.parse::<u64>().is_err() && !is_known(word))
        .collect()
}

/// `is ONLY_FULL_GROUP_BY meant?` for a word that differs by one or two letters from one that the version has.
fn nearest_word(words: &str, word: &str) -> Option<Fix> {
    let written = word.to_ascii_uppercase();
    let distance = |known: &str| strsim::damerau_levenshtein(&known.to_ascii_uppercase(), &written);
    let nearest = words.split(',').min_by_key(|known| distance(known))?;
    (distance(nearest) <= 2 && word.len() >= 4).then(|| format!("is {nearest} meant?").into())
}

/// The line with an empty list, if only older versions of the family have its words.
fn without_old_words(subject: &Subject<'_>, line: &Assignment<'_>, list: &str) -> Option<Rewrite> {
    let name = line.option?.name;
    let catalogue = &subject.catalogue;
    let mut older =
        Catalogue::all(catalogue.family()).filter(|older| older.is_older_than(catalogue));
    let knows = |older: Catalogue, word: &str| {
        let option = older.row(name);
        option.is_some_and(
            |option| matches!(option.kind, Kind::Words(words) if is_part_of(words, word)),
        )
    };
    let is_old = older.any(|older| list.split(',').all(|word| knows(older, word.trim())));
    is_old.then(|| Rewrite::Replace(option_line(line.entry.name.as_written(), Some(""))))
}

/// The flags of optimizer_switch that the version's default value does not list.
fn unknown_flag(subject: &Subject<'_>, line: &Assignment<'_>, value: &str) -> Option<RuleFinding> {
    let all = subject.catalogue.default_value("optimizer_switch")?;
    let name = |flag: &'_ str| flag.split('=').next().unwrap_or_default().trim().to_owned();
    let later = subject.target.later_in_series();
    let later = later.and_then(|later| later.default_value("optimizer_switch"));
    let all = all.split(',').chain(later.unwrap_or_default().split(','));
    let known: Vec<String> = all.map(name).collect();
    let is_known = |flag: &str| {
        let flag = name(flag);
        flag.is_empty() || flag == "default" || known.contains(&flag)
    };
    let unknown = value.split(',').filter(|flag| !is_known(flag)).map(name);
    let unknown: Vec<String> = unknown.collect();
    if unknown.is_empty() {
        return None;
    }
    let what = format!("flags unknown to this version: {}", unknown.join(", "));
    if !subject.target.is_covered() {
        return Some(by_nearest(subject, line, &what));
    }
    // Flags that are not listed keep their defaults, so a line without flags can be removed.
    let rewrite = parts_left(line, value, is_known).unwrap_or(Rewrite::Remove);
    let fix = match &rewrite {
        Rewrite::Replace(new) => format!("write {new}"),
        Rewrite::Remove => "remove the line".to_owned(),
    };
    let remark = RuleFinding::on(line, Level::Refused, what).fix(fix);
    Some(remark.rewrite(rewrite))
}

/// The line with those parts of its list that the version accepts; `None` if it accepts none.
fn parts_left(
    line: &Assignment<'_>,
    list: &str,
    is_taken: impl Fn(&str) -> bool,
) -> Option<Rewrite> {
    let parts = list.split(',').map(str::trim);
    let left: Vec<&str> = parts
        .filter(|part| !part.is_empty() && is_taken(part))
        .collect();
    let new = format!("{} = {}", line.entry.name, left.join(","));
    (!left.is_empty()).then_some(Rewrite::Replace(new))
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn words_of_the_nearest_catalogue_refuse_nothing() {
        assert_found(
            &RULE,
            "percona-5.6",
            "innodb_flush_method=ALL_O_DIRECT\nsort_buffer_size=2X\noptimizer_switch=hash_join=on",
            &[
                "note: innodb_flush_method=ALL_O_DIRECT: the value is not one of the allowed words (according to mysql-5.6.24, the nearest version that dbdyno knows)",
                "refused: sort_buffer_size=2X",
                "note: optimizer_switch=hash_join=on: flags unknown to this version: hash_join (according to mysql-5.6.24, the nearest",
            ],
        );
        let own = "innodb_flush_method=ALL_O_DIRECT\nlog_slow_verbosity=full,query_plan";
        assert_found(&RULE, "percona-5.7", own, &[]);
        assert_found(&RULE, "percona-8.0", own, &["refused: innodb_flush_method"]);
    }

    /// InnoDB of these versions aborts its start with any other word, and the server then lacks its default engine.
    #[test]
    fn old_versions_take_only_their_own_flush_methods() {
        for (version, line, part) in [
            (
                "mysql-5.5",
                "fdatasync",
                "O_DSYNC, littlesync, nosync, O_DIRECT",
            ),
            ("mysql-5.5", "O_DIRECT_NO_FSYNC", "refused: "),
            ("mysql-5.7", "o_direct", "refused: "),
            ("mysql-5.7", "4", "refused: "),
            ("mariadb-10.2", "O_DIRET", "refused: "),
            ("mariadb-10.3", "O_DIRET", "note: "),
        ] {
            let line = format!("innodb_flush_method={line}");
            assert_found(&RULE, version, &line, &[part]);
        }
        for version in ["mysql-5.5", "mysql-5.7", "mariadb-10.2"] {
            assert_found(&RULE, version, "innodb_flush_method=O_DIRECT", &[]);
        }
        for version in [
            "mysql-8.0.12",
            "mariadb-10.3",
            "mariadb-10.4",
            "mariadb-10.5",
        ] {
            assert_found(&RULE, version, "innodb_flush_method=o_direct", &[]);
        }
    }

    /// Options of MariaDB that are no variables of the same name.
    #[test]
    fn words_of_options_without_a_variable_are_judged() {
        for version in [
            "mariadb-10.2",
            "mariadb-10.6",
            "mariadb-10.11",
            "mariadb-11.8",
        ] {
            for line in [
                "transaction_isolation=READ_COMMITTED",
                "tc_heuristic_recover=YES",
            ] {
                assert_found(&RULE, version, line, &["refused: "]);
            }
            for line in [
                "transaction-isolation=READ-COMMITTED",
                "tc-heuristic-recover=COMMIT",
            ] {
                assert_found(&RULE, version, line, &[]);
            }
        }
    }

    #[test]
    fn a_later_catalogue_of_the_series_may_accept_the_value() {
        let later = "innodb_doublewrite=DETECT_ONLY\noptimizer_switch=hash_join=off";
        let note = "note: innodb_doublewrite=DETECT_ONLY: mysql-8.0.33 accepts this value and mysql-8.0.12 does not";
        assert_found(&RULE, "mysql-8.0.28", later, &[note]);
        let note = "note: innodb_doublewrite=DETECT_ONLY: percona-8.0.33 accepts this value and percona-8.0.12 does not";
        assert_found(&RULE, "percona-8.0.28", later, &[note]);
        assert_found(
            &RULE,
            "mysql-8.0.12",
            later,
            &["innodb_doublewrite", "flags unknown"],
        );
        assert_found(&RULE, "mysql-8.0.28", "sort_buffer_size=2X", &["refused"]);
    }

    #[test]
    fn units_words_and_switches_are_judged() {
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "sort_buffer_size=2X\nlocal_infile=maybe\nbinlog_format=row\nbinlog_format=rows\nsort_buffer_size=2MB",
            &[
                "not a number with a unit",
                "neither on nor off",
                "allowed: MIXED, STATEMENT, ROW",
            ],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "sql_mode=FOO\nsql_mode=STRICT_TRANS_TABLES,NO_AUTO_CREATE_USER\nsql_mode=NO_AUTO_CREATE_USER\n\
             join_buffer_size=99999999999999999999\nlog_output=FILE,SYSLOG",
            &[
                "does not know FOO; allowed: REAL_AS_FLOAT",
                "does not know NO_AUTO_CREATE_USER; write sql_mode = STRICT_TRANS_TABLES",
                "does not know NO_AUTO_CREATE_USER; write sql_mode = ",
                "larger than 2^64 - 1",
                "does not know SYSLOG; allowed: NONE, FILE, TABLE",
            ],
        );
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "sql_mode=ORACLE",
            &["does not know ORACLE; write sql_mode = PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE"],
        );
        assert_found(&RULE, "mariadb-10.11", "sql_mode=ORACLE", &[]);
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "sql_mode=STRICT_TRANS_TABLES,ONLY_FULL_GROUPBY",
            &["does not know ONLY_FULL_GROUPBY; is ONLY_FULL_GROUP_BY meant?"],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "innodb_flush_method=O_DIRET",
            &["allowed: fsync"],
        );
        let fast = "innodb_doublewrite=fast";
        let ignored = "refused: innodb_doublewrite=fast: the value is neither on nor off: the server ignores the line";
        assert_found(&RULE, "mariadb-10.11", fast, &[ignored]);
        assert_found(&RULE, "mariadb-11.8", fast, &[]);
        let nearest = "note: innodb_doublewrite=fast: the value is neither on nor off";
        assert_found(&RULE, "mariadb-11.2", fast, &[nearest]);
        assert_found(
            &RULE,
            "mysql-5.5",
            "log_slow_slave_statements=ON",
            &["write log_slow_slave_statements = 1"],
        );
        assert_found(&RULE, "mysql-5.6", "log_slow_slave_statements=ON", &[]);
        assert_found(
            &RULE,
            "mysql-8.0.33",
            "slow_query_log=/var/log/slow.log",
            &["uses OFF; set slow_query_log = 1 and slow_query_log_file = /var/log/slow.log"],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "optimizer_switch='derived_merge=off,skip_scan=off,hash_join=on'",
            &[
                "flags unknown to this version: skip_scan, hash_join; write optimizer_switch = derived_merge=off",
            ],
        );
        assert_found(
            &RULE,
            "mysql-5.7",
            "optimizer_switch=hash_join=on",
            &["flags unknown to this version: hash_join; remove the line"],
        );
    }
}
