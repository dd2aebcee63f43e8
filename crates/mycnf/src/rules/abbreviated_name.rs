//! Rule: the name is an abbreviation.

use crate::assignment::Assignment;
use crate::rule::{Level, Rewrite, Rule, RuleFinding};
use crate::subject::Subject;

pub(super) const RULE: Rule = Rule {
    id: "abbreviated-name",
    title: "Abbreviated name",
    reason: "MySQL 5.7 and later reject abbreviated option names. In other versions, an abbreviation becomes ambiguous if a new option begins with the same letters.",
    source: "MySQL 5.7 rejects key_buffer, which MySQL 5.6 accepts as key_buffer_size",
    check,
};

fn check(subject: &Subject<'_>) -> Vec<RuleFinding> {
    let mut remarks = Vec::new();
    for line in subject.read() {
        let Some(full) = full_name(subject, line) else {
            continue;
        };
        let new = match &line.entry.value {
            Some(value) => format!("{full} = {value}"),
            None => full.to_owned(),
        };
        let what = format!("abbreviation of {full}");
        let remark = RuleFinding::on(line, Level::Note, what).fix(format!("write {full}"));
        remarks.push(remark.rewrite(Rewrite::Replace(new)));
    }
    remarks
}

/// The whole name of an option whose name a line abbreviates; `None` for any other line.
pub(crate) fn full_name(subject: &Subject<'_>, line: &Assignment<'_>) -> Option<&'static str> {
    let option = line.option?;
    let spellings = line.entry.name.spellings();
    let mut all = spellings.iter();
    let is_whole =
        spellings.contains(&option.name) || all.any(|name| subject.catalogue.row(name).is_some());
    (!is_whole).then_some(option.name)
}

#[cfg(test)]
mod tests {
    use super::{super::fixture::*, *};

    #[test]
    fn an_abbreviation_is_spelt_out() {
        assert_found(
            &RULE,
            "mysql-5.6",
            "key_buffer=32M",
            &["abbreviation of key_buffer_size; write key_buffer_size"],
        );
        assert_found(
            &RULE,
            "mariadb-10.11",
            "thread_cache=8",
            &["thread_cache_size"],
        );
        // With its prefix, it is no abbreviation of `log_bin`.
        assert_found(&RULE, "mariadb-10.11", "Skip-Log-Bin", &[]);
        assert_found(
            &RULE,
            "mysql-5.7",
            "key_buffer=32M\nkey_buffer_size=1M\nskip-log-bin",
            &[],
        );
    }
}
