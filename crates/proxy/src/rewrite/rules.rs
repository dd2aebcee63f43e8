//! All rules of a file, and which one applies to a statement.

use std::collections::HashMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use regex::bytes::{RegexSet, RegexSetBuilder};

use super::rule::Rule;
use crate::{digest::digest_up_to, faults::even};

/// Memory of the automaton over all patterns, bytes.
const AUTOMATON_MAX: usize = 256 << 20;

#[derive(Debug)]
pub(super) struct Rules {
    pub(super) all: Vec<Rule>,
    patterns: RegexSet,
    /// The rule of each pattern, by the pattern's number.
    of_pattern: Vec<usize>,
    /// The rules of each digest; of one with a pattern, too.
    of_digest: HashMap<Vec<u8>, Vec<usize>>,
    /// Length of the longest digest.
    longest: usize,
    /// Rules without pattern and digest.
    plain: Vec<usize>,
}

/// What a rule's conditions are about, apart from the text.
pub(super) struct Facts<'a> {
    /// The command is `COM_STMT_PREPARE`, else `COM_QUERY`.
    pub(super) is_prepare: bool,
    pub(super) user: &'a [u8],
    pub(super) database: &'a [u8],
    /// No transaction is open and autocommit is on.
    pub(super) may_move: bool,
}

impl Rules {
    /// The rules; an error if their patterns are too large together.
    pub(super) fn new(all: Vec<Rule>) -> Result<Self, String> {
        let mut of_pattern = Vec::new();
        let mut of_digest: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
        let mut plain = Vec::new();
        for (index, rule) in all.iter().enumerate() {
            match (&rule.digest, &rule.pattern) {
                (Some(digest), _) => of_digest.entry(digest.clone()).or_default().push(index),
                (None, Some(_)) => of_pattern.push(index),
                (None, None) => plain.push(index),
            }
        }
        let texts = of_pattern
            .iter()
            .filter_map(|index| all[*index].pattern.as_ref())
            .map(regex::bytes::Regex::as_str);
        let patterns = RegexSetBuilder::new(texts)
            .size_limit(AUTOMATON_MAX)
            .build()
            .map_err(|error| format!("the patterns together: {error}"))?;
        Ok(Self {
            all,
            patterns,
            of_pattern,
            longest: of_digest.keys().map(Vec::len).max().unwrap_or(0),
            of_digest,
            plain,
        })
    }

    /// Puts the places of the rules from place `from` whose text fits into `places`, in their order.
    pub(super) fn fitting(&self, text: &[u8], from: usize, places: &mut Vec<usize>) {
        places.clear();
        places.extend_from_slice(&self.plain);
        if !self.of_pattern.is_empty() {
            let matches = self.patterns.matches(text);
            places.extend(matches.iter().map(|number| self.of_pattern[number]));
        }
        if !self.of_digest.is_empty()
            && let Some(same) = self.of_digest.get(&digest_up_to(text, self.longest))
        {
            let fits = |place: &&usize| {
                let pattern = self.all[**place].pattern.as_ref();
                pattern.is_none_or(|pattern| pattern.is_match(text))
            };
            places.extend(same.iter().filter(fits));
        }
        places.retain(|place| *place >= from);
        places.sort_unstable();
    }
}

impl Rule {
    /// Whether the conditions hold that are not about the text.
    pub(super) fn applies(&self, facts: &Facts<'_>, random: &mut Xoshiro256PlusPlus) -> bool {
        let is_command = if facts.is_prepare {
            self.to_prepares
        } else {
            self.to_queries
        };
        let same =
            |wanted: &Option<Vec<u8>>, is: &[u8]| wanted.as_deref().is_none_or(|it| it == is);
        is_command
            && same(&self.user, facts.user)
            && same(&self.database, facts.database)
            && (self.route.is_none() || facts.may_move)
            // Drawn last, so that only commands to which the rule applies take a number.
            && self.share.is_none_or(|share| even(random) < share)
    }
}
