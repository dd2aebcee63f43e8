//! The text of a statement with its brackets and clauses, and edits of it.

use std::ops::Range;

use sqltext::{SqlStatement, TokenKind};

/// Words with which a join begins.
pub(crate) const JOINS: [&str; 7] = [
    "join",
    "inner",
    "cross",
    "left",
    "right",
    "natural",
    "straight_join",
];
/// Words behind a condition, besides those of [`JOINS`] and [`TAIL`].
const BEHIND_CONDITION: [&str; 11] = [
    "and",
    "or",
    "xor",
    "where",
    "union",
    "except",
    "intersect",
    "then",
    "when",
    "else",
    "end",
];
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
pub(crate) struct StatementText<'a> {
    text: &'a str,
    pub(crate) parts: Vec<Part<'a>>,
}

/// A token.
pub(crate) struct Part<'a> {
    kind: TokenKind,
    /// A `.` or `@` right before it: behind a point even a keyword is a name, and behind `@` is a variable.
    prefix: Option<u8>,
    pub(crate) text: &'a str,
    pub(crate) range: Range<usize>,
    /// Number of brackets around it; a bracket itself is outside of its pair.
    pub(crate) depth: usize,
}

/// The clauses of a SELECT, as indexes of tokens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clauses {
    pub(crate) select: usize,
    pub(crate) from: usize,
    pub(crate) condition: Option<usize>,
    /// Where GROUP BY, ORDER BY and the like begin, or the end.
    pub(crate) tail: usize,
    pub(crate) end: usize,
}

/// A column of a table of a statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableColumn<'a> {
    /// Name or alias of the table.
    pub(crate) table: &'a str,
    pub(crate) column: &'a str,
    /// Whether another table of the statement has a column of this name.
    pub(crate) is_shared: bool,
}

/// A name of a column with what stands before it: `s.t.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ColumnName {
    /// Indexes of its first token, and of the one after its last.
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> StatementText<'a> {
    /// `None` for a statement that is not UTF-8.
    pub(crate) fn of(statement: &'a SqlStatement) -> Option<Self> {
        let text = std::str::from_utf8(statement.text()).ok()?;
        let mut depth = 0_usize;
        let parts = statement.tokens().map(|token| {
            let range = token.range();
            if token.is_sign(b')') {
                depth = depth.saturating_sub(1);
            }
            let of_part = depth;
            if token.is_sign(b'(') {
                depth += 1;
            }
            let before = text.as_bytes()[..range.start].last().copied();
            Part {
                kind: token.kind,
                prefix: before.filter(|it| matches!(it, b'.' | b'@')),
                text: &text[range.clone()],
                range,
                depth: of_part,
            }
        });
        let parts = parts.collect();
        Some(Self { text, parts })
    }

    /// The clauses of the statement, if it is one SELECT with tables.
    pub(crate) fn select(&self) -> Option<Clauses> {
        let is_select = self.parts.first()?.is("select");
        is_select
            .then(|| self.clauses(0, self.parts.len()))
            .flatten()
    }

    /// The clauses of a SELECT between two tokens; `None` without tables, and for a UNION.
    pub(crate) fn clauses(&self, select: usize, end: usize) -> Option<Clauses> {
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
        // OFFSET is no reserved word, so that a column can have this name.
        let is_name = |at: usize| {
            let has_number = self.parts.get(at + 1).is_some_and(Part::is_whole_number);
            self.is(at, "offset") && !has_number
        };
        let tail = own.clone().find(|at| {
            let mut words = TAIL.iter();
            words.any(|word| self.parts[*at].is(word)) && !is_of_hint(*at) && !is_name(*at)
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
    pub(crate) fn slice(&self, from: usize, to: usize) -> &'a str {
        if from >= to {
            return "";
        }
        &self.text[self.parts[from].range.start..self.parts[to - 1].range.end]
    }

    /// The closing bracket of an opening one.
    pub(crate) fn closing(&self, open: usize) -> Option<usize> {
        let depth = self.parts.get(open)?.depth;
        let mut behind = (open + 1)..self.parts.len();
        behind.find(|at| self.parts[*at].depth == depth && self.parts[*at].is_sign(")"))
    }

    /// Whether a token is this word; false beyond the end.
    pub(crate) fn is(&self, at: usize, word: &str) -> bool {
        self.parts.get(at).is_some_and(|part| part.is(word))
    }

    /// Whether a token is this sign; false beyond the end.
    pub(crate) fn is_sign(&self, at: usize, sign: &str) -> bool {
        self.parts.get(at).is_some_and(|part| part.is_sign(sign))
    }

    /// Whether a token is the point of a name: `t.c`.
    pub(crate) fn is_point(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|before| self.parts.get(before));
        self.is_sign(at, ".") && before.is_some_and(|it| it.name().is_some())
    }

    /// Whether one of the tokens of a range at a depth is one of these words.
    pub(crate) fn has(&self, range: Range<usize>, depth: usize, words: &[&str]) -> bool {
        let mut own = self.parts[range].iter().filter(|part| part.depth == depth);
        own.any(|part| words.iter().any(|word| part.is(word)))
    }

    /// Whether a condition begins at a token, so that what follows is no operand of something before it.
    pub(crate) fn begins_condition(&self, at: usize) -> bool {
        let Some(before) = at.checked_sub(1) else {
            return false;
        };
        let mut words = ["where", "on", "or", "xor", "not", "having", "when"].iter();
        words.any(|word| self.is(before, word))
            || self.is_sign(before, "(")
            || self.is_double(before, "&")
            || self.is(before, "and") && !self.is_of_between(before)
    }

    /// Whether a condition ends before a token, so that the value before it is whole.
    pub(crate) fn ends_condition(&self, at: usize) -> bool {
        let Some(part) = self.parts.get(at) else {
            return true;
        };
        let mut words = BEHIND_CONDITION.iter().chain(&JOINS).chain(&TAIL);
        words.any(|word| part.is(word))
            || [")", ",", ";"].iter().any(|sign| part.is_sign(sign))
            || self.is_double(at + 1, "&")
    }

    /// Whether a sign ends at a token that is written twice, such as `&&`.
    fn is_double(&self, at: usize, sign: &str) -> bool {
        let first = at.checked_sub(1);
        self.is_sign(at, sign) && first.is_some_and(|first| self.is_sign(first, sign))
    }

    /// Whether an AND is that of `BETWEEN a AND b`.
    fn is_of_between(&self, and: usize) -> bool {
        let depth = self.parts[and].depth;
        let before = (0..and).rev();
        let mut own = before
            .take_while(|at| self.parts[*at].depth >= depth)
            .filter(|at| self.parts[*at].depth == depth);
        let clause = ["between", "and", "or", "xor", "where", "on", "having"];
        let last = own.find(|at| clause.iter().any(|word| self.is(*at, word)));
        last.is_some_and(|at| self.is(at, "between"))
    }

    /// Whether a range has a `|` at a depth: `||` is an OR, or joins texts, by the session's mode.
    pub(crate) fn has_pipe(&self, range: Range<usize>, depth: usize) -> bool {
        let mut own = self.parts[range].iter().filter(|it| it.depth == depth);
        own.any(|it| it.is_sign("|"))
    }

    /// Every name of a column of a table, with the table or without it.
    pub(crate) fn names_of_column(&self, of: &TableColumn<'_>) -> Vec<ColumnName> {
        let mut names = self.names_of(of.column);
        names.retain(|name| match self.column_and_table(*name).1 {
            Some(table) => table.eq_ignore_ascii_case(of.table),
            None => !of.is_shared,
        });
        names
    }

    /// Every name of a column, whatever its table.
    pub(crate) fn names_of(&self, column: &str) -> Vec<ColumnName> {
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
    pub(crate) fn name_before(&self, end: usize) -> Option<ColumnName> {
        let last = end.checked_sub(1)?;
        let column = self.parts[last].name()?;
        let mut names = self.names_of(column).into_iter();
        names.find(|it| it.end == end)
    }

    /// The column of a name, and the table before it.
    pub(crate) fn column_and_table(&self, name: ColumnName) -> (Option<&'a str>, Option<&'a str>) {
        let table = name.end.checked_sub(3).filter(|at| *at >= name.start);
        let [column, table] =
            [Some(name.end - 1), table].map(|at| at.and_then(|at| self.parts[at].name()));
        (column, table)
    }

    /// Whether the list of a SELECT has a `*` that stands for all columns of all tables: no factor follows it.
    pub(crate) fn selects_all(&self, clauses: &Clauses) -> bool {
        let depth = self.parts[clauses.select].depth;
        let mut list = clauses.select + 1..clauses.from;
        list.any(|at| {
            let is_whole = at + 1 == clauses.from || self.is_sign(at + 1, ",");
            let is_of_table = self.is_sign(at - 1, ".");
            self.parts[at].depth == depth && self.is_sign(at, "*") && is_whole && !is_of_table
        })
    }

    /// The text with some ranges of bytes replaced; `None` without one.
    pub(crate) fn edited(&self, mut edits: Vec<(Range<usize>, String)>) -> Option<String> {
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
    pub(crate) fn bytes(&self, first: usize, last: usize) -> Range<usize> {
        self.parts[first].range.start..self.parts[last].range.end
    }
}

impl<'a> Part<'a> {
    /// Whether it is this word, in any case, and no part of a name or variable.
    pub(crate) fn is(&self, word: &str) -> bool {
        let is_word = self.kind == TokenKind::Word && self.prefix.is_none();
        is_word && self.text.eq_ignore_ascii_case(word)
    }

    pub(crate) fn is_sign(&self, sign: &str) -> bool {
        self.kind == TokenKind::Sign && self.text == sign
    }

    /// A value in quotation marks without them, if no mark or backslash is in it.
    pub(crate) fn plain_text(&self) -> Option<&'a str> {
        let inner = self.text.get(1..self.text.len().checked_sub(1)?)?;
        let is_plain = self.kind == TokenKind::Text && !inner.contains(['\'', '"', '\\']);
        is_plain.then_some(inner)
    }

    pub(crate) fn is_number(&self) -> bool {
        self.kind == TokenKind::Number
    }

    pub(crate) fn is_whole_number(&self) -> bool {
        self.is_number() && self.text.bytes().all(|it| it.is_ascii_digit())
    }

    /// The name that it is or can be, without backticks.
    pub(crate) fn name(&self) -> Option<&'a str> {
        match self.kind {
            _ if self.prefix == Some(b'@') => None,
            TokenKind::Word => Some(self.text),
            TokenKind::Name => self.text.strip_prefix('`')?.strip_suffix('`'),
            _ => None,
        }
    }
}

/// The name of a statement: the word in its first comment, or its number from 1.
pub(crate) fn statement_name(statement: &SqlStatement, at: usize) -> String {
    let label = statement.label().map(str::to_owned);
    label.unwrap_or_else(|| (at + 1).to_string())
}
