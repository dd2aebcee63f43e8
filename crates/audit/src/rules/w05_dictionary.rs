//! Rule W05: the stride of a dictionary misses keys.

use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, missing, no_subject},
    rule::{Judge, Rule},
    run::Run,
};

/// Smallest share of the keys that has to be drawn.
const USED: f64 = 0.5;

pub(super) const RULE: Rule = Rule {
    id: "W05",
    name: "each dictionary returns all of its keys",
    found: "a dictionary does not return all of its keys",
    measures: "For each dictionary of a .smack file: the number of words that the dictionary returns, as a share of the words in its source.",
    threshold: "fail if a dictionary returns less than half of the words. Note if it returns at least half but not all of them",
    source: "HP Japan, MySQL Server 5.0 sizing information, appendix 1: Super Smack's examples set file_size_equiv \"45000\", so only every n-th line of a larger file is used: 818 of 9,000 keys remain",
    consequence: "The same few rows are requested repeatedly: caches look better than they are, whatever the data size.",
    remedy: "Set file_size_equiv \"0\", which uses every line.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let counted = run.record.keys.iter().filter_map(|keys| {
        let (used, offered) = (keys.used?, keys.offered.filter(|offered| *offered > 0)?);
        Some((
            used as f64 / offered as f64,
            used,
            offered,
            &keys.dictionary,
        ))
    });
    let least = counted.min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((share, used, offered, dictionary)) = least else {
        let source = run.record.dataset.as_ref().map(|data| data.source.as_str());
        let has_dictionary = source.is_some_and(|source| source.ends_with(".smack"));
        return Err(if has_dictionary && run.record.keys.is_empty() {
            missing("the keys that the dictionaries return")
        } else {
            no_subject("no dictionary returns keys")
        });
    };
    let level = match share {
        share if share < USED => Level::Fail,
        share if share < 1.0 => Level::Note,
        _ => Level::Pass,
    };
    let evidence = format!(
        "the dictionary {dictionary} returns {used} of {offered} words ({})",
        percent(share)
    );
    Ok(Finding::new(level, evidence).with("used_share", share))
}

#[cfg(test)]
mod tests {
    use samples::{KeyOrder, Keys};

    use super::*;
    use crate::fixture::*;

    fn using(used: u64, offered: u64) -> Outcome {
        judged(&RULE, |record| {
            record.keys = vec![Keys {
                dictionary: "word".to_owned(),
                drawn: KeyOrder::Random,
                used: Some(used),
                offered: Some(offered),
                ..Keys::default()
            }];
        })
    }

    #[test]
    fn found() {
        let outcome = using(818, 9_000);
        assert_found(&outcome, Level::Fail, "returns 818 of 9000 words (9.1 %)");
        assert_found(&using(8_000, 9_000), Level::Note, "89 %");
    }

    #[test]
    fn passes() {
        assert_found(&using(9_000, 9_000), Level::Pass, "9000 of 9000 words");
    }

    #[test]
    fn a_record_of_before_they_were_counted_is_not_evaluated() {
        assert_missing(&judged(&RULE, |_| {}), "keys that the dictionaries return");
        assert_no_subject(&judged(&RULE, |record| record.dataset = None));
    }
}
