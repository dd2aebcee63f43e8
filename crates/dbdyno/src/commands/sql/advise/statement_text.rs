//! The text of a statement with its brackets and clauses, and edits of it.

use std::ops::Range;

use workload::sql_script::{SqlStatement, SqlToken};

/// Words at which the tail of a SELECT begins, behind its WHERE.
const TAIL: [&str; 11] = [
    "group",
    "having",
    "order",
    "limit",
    "window",
    "for",
    "lock",
    "into",
    "procedure",
    "offset",
    "fetch",
];

/// A statement as a list of tokens.
pub(super) struct StatementText<'a> {
    text: &'a str,
    pub(super) parts: Vec<Part<'a>>,
}

/// A token.
pub(super) struct Part<'a> {
    kind: SqlToken,
    pub(super) text: &'a str,
    pub(super) range: Range<usize>,
    /// Number of brackets around it; a bracket itself is outside of its pair.
    pub(super) depth: usize,
}

/// The clauses of a SELECT, as indexes of tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clauses {
    pub(super) select: usize,
    pub(super) from: usize,
    pub(super) condition: Option<usize>,
    /// Where GROUP BY, ORDER BY and the like begin, or the end.
    pub(super) tail: usize,
    pub(super) end: usize,
}

/// A name of a column with what stands before it: `s.t.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnName {
    /// Indexes of its first token, and of the one after its last.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'a> StatementText<'a> {
    /// `None` for a statement that is not UTF-8.
    pub(super) fn of(statement: &'a SqlStatement) -> Option<Self> {
        let text = std::str::from_utf8(statement.text()).ok()?;
        let mut depth = 0_usize;
        let parts = statement.tokens().into_iter().map(|(kind, range)| {
            let part = &text[range.clone()];
            if kind == SqlToken::Sign && part == ")" {
                depth = depth.saturating_sub(1);
            }
            let of_part = depth;
            if kind == SqlToken::Sign && part == "(" {
                depth += 1;
            }
            Part {
                kind,
                text: part,
                range,
                depth: of_part,
            }
        });
        let parts = parts.collect();
        Some(Self { text, parts })
    }

    /// The clauses of the statement, if it is one SELECT with tables.
    pub(super) fn select(&self) -> Option<Clauses> {
        let is_select = self.parts.first()?.is("select");
        is_select
            .then(|| self.clauses(0, self.parts.len()))
            .flatten()
    }

    /// The clauses of a SELECT between two tokens; `None` without tables, and for a UNION.
    pub(super) fn clauses(&self, select: usize, end: usize) -> Option<Clauses> {
        let depth = self.parts.get(select)?.depth;
        let mut own = (select..end).filter(|at| self.parts[*at].depth == depth);
        let is_of_set = |at: &usize| {
            let sets = ["union", "except", "intersect", ";"];
            sets.iter()
                .any(|word| self.parts[*at].is(word) || self.parts[*at].is_sign(word))
        };
        if own.clone().any(|at| is_of_set(&at)) {
            return None;
        }
        let from = own.find(|at| self.parts[*at].is("from"))?;
        // FORCE INDEX FOR ORDER BY (i)
        let is_of_hint = |at: usize| {
            let mut words = ["index", "key", "for"].iter();
            words.any(|word| self.parts[at - 1].is(word))
        };
        let tail = own.clone().find(|at| {
            let mut words = TAIL.iter();
            words.any(|word| self.parts[*at].is(word)) && !is_of_hint(*at)
        });
        let tail = tail.unwrap_or(end);
        let condition = own.find(|at| *at < tail && self.parts[*at].is("where"));
        Some(Clauses {
            select,
            from,
            condition,
            tail,
            end,
        })
    }

    /// The text from a token to the one before another.
    pub(super) fn slice(&self, from: usize, to: usize) -> &'a str {
        if from >= to {
            return "";
        }
        &self.text[self.parts[from].range.start..self.parts[to - 1].range.end]
    }

    /// The closing bracket of an opening one.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let depth = self.parts.get(open)?.depth;
        let mut behind = (open + 1)..self.parts.len();
        behind.find(|at| self.parts[*at].depth == depth && self.parts[*at].is_sign(")"))
    }

    /// Whether a token is this word; false beyond the end.
    pub(super) fn is(&self, at: usize, word: &str) -> bool {
        self.parts.get(at).is_some_and(|part| part.is(word))
    }

    /// Whether a token is this sign; false beyond the end.
    pub(super) fn is_sign(&self, at: usize, sign: &str) -> bool {
        self.parts.get(at).is_some_and(|part| part.is_sign(sign))
    }

    /// Whether one of the tokens of a range at a depth is one of these words.
    pub(super) fn has(&self, range: Range<usize>, depth: usize, words: &[&str]) -> bool {
        let mut own = self.parts[range].iter().filter(|part| part.depth == depth);
        own.any(|part| words.iter().any(|word| part.is(word)))
    }

    /// Every name of a column.
    pub(super) fn names_of(&self, column: &str) -> Vec<ColumnName> {
        let is_name = |at: &usize| {
            let part = &self.parts[*at];
            let is_whole = !self.is_sign(at + 1, ".") && !self.is_sign(at + 1, "(");
            is_whole
                && part
                    .name()
                    .is_some_and(|it| it.eq_ignore_ascii_case(column))
        };
        let ends = (0..self.parts.len()).filter(is_name);
        let names = ends.map(|at| {
            let mut start = at;
            while start >= 2
                && self.is_sign(start - 1, ".")
                && self.parts[start - 2].name().is_some()
            {
                start -= 2;
            }
            ColumnName { start, end: at + 1 }
        });
        names.collect()
    }

    /// The name that ends before a token, whatever column it is.
    pub(super) fn name_before(&self, end: usize) -> Option<ColumnName> {
        let last = end.checked_sub(1)?;
        let column = self.parts[last].name()?;
        let mut names = self.names_of(column).into_iter();
        names.find(|it| it.end == end)
    }

    /// Whether the list of a SELECT has a `*` that stands for all columns.
    pub(super) fn selects_all(&self, clauses: &Clauses) -> bool {
        let depth = self.parts[clauses.select].depth;
        let mut list = clauses.select + 1..clauses.from;
        list.any(|at| {
            let is_first = at == clauses.select + 1 || self.is_sign(at - 1, ",");
            self.parts[at].depth == depth && self.is_sign(at, "*") && is_first
        })
    }

    /// The text with some ranges of bytes replaced; `None` without one.
    pub(super) fn edited(&self, mut edits: Vec<(Range<usize>, String)>) -> Option<String> {
        if edits.is_empty() {
            return None;
        }
        edits.sort_by_key(|(range, _)| range.start);
        let mut text = String::new();
        let mut done = 0;
        for (range, inserted) in edits {
            text.push_str(self.text.get(done..range.start)?);
            text.push_str(&inserted);
            done = range.end;
        }
        text.push_str(&self.text[done..]);
        Some(text)
    }

    /// The bytes from a token to the end of another.
    pub(super) fn bytes(&self, first: usize, last: usize) -> Range<usize> {
        self.parts[first].range.start..self.parts[last].range.end
    }
}

impl Part<'_> {
    /// Whether it is this word, in any case.
    pub(super) fn is(&self, word: &str) -> bool {
        self.kind == SqlToken::Word && self.text.eq_ignore_ascii_case(word)
    }

    pub(super) fn is_sign(&self, sign: &str) -> bool {
        self.kind == SqlToken::Sign && self.text == sign
    }

    /// A value in quotation marks without them, if no mark or backslash is in it.
    pub(super) fn plain_text(&self) -> Option<&str> {
        let inner = self.text.get(1..self.text.len().checked_sub(1)?)?;
        let is_plain = self.kind == SqlToken::Text && !inner.contains(['\'', '"', '\\']);
        is_plain.then_some(inner)
    }

    /// Whether it is a whole number.
    pub(super) fn is_number(&self) -> bool {
        self.kind == SqlToken::Word && self.text.bytes().all(|it| it.is_ascii_digit())
    }

    /// The name that it is or can be, without backticks.
    pub(super) fn name(&self) -> Option<&str> {
        match self.kind {
            SqlToken::Word if !self.text.starts_with(|it: char| it.is_ascii_digit()) => {
                Some(self.text)
            }
            SqlToken::Name => self.text.strip_prefix('`')?.strip_suffix('`'),
            _ => None,
        }
    }
}
