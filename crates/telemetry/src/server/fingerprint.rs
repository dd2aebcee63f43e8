//! A statement without its values, so that statements of one kind can be added up.

use sqltext::{Quoting, Scanner, TokenKind};

/// Maximum length of a fingerprint, bytes.
const LENGTH_AT_MOST: usize = 1000;

/// The statement in lower case with `?` for every value, one blank between words, no comments, and lists of values as
/// `(?+)`; cut after 1,000 bytes.
///
/// ```text
/// SELECT c FROM sbtest1 WHERE id IN (5, 7, 9)   ->   select c from sbtest1 where id in (?+)
/// ```
pub fn fingerprint(sql: &str) -> String {
    let words = joined(&words(sql));
    match words.char_indices().find(|(at, _)| *at >= LENGTH_AT_MOST) {
        Some((at, _)) => words[..at].to_owned(),
        None => words,
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    /// A string or a number.
    Value,
    /// Several of them in parentheses.
    Values,
    /// A keyword, a name, an operator.
    Text(String),
}

fn words(sql: &str) -> Vec<Word> {
    let sql = sql.trim_end_matches([';', ' ', '\n', '\t', '\r']);
    let mut words = Vec::new();
    for token in Scanner::new(sql.as_bytes(), Quoting::default()) {
        words.push(match token.kind {
            TokenKind::Space | TokenKind::Comment | TokenKind::ServerComment => continue,
            TokenKind::Text | TokenKind::Number => Word::Value,
            TokenKind::Word if token.is_word("null") => Word::Value,
            _ => Word::Text(sql[token.range()].to_lowercase()),
        });
        fold(&mut words);
    }
    words
}

/// Makes one word of `(?, ?)`, and one of `(?+), (?+)`; a sign before a value is part of it.
fn fold(words: &mut Vec<Word>) {
    let text = |text: &str| Word::Text(text.to_owned());
    if let [.., before, sign, Word::Value] = words.as_slice()
        && (*sign == text("-") || *sign == text("+"))
        && ["(", ",", "=", "<", ">", "values", "between", "and", "limit"]
            .iter()
            .any(|it| *before == text(it))
    {
        words.truncate(words.len() - 2);
        words.push(Word::Value);
    }
    if words.last() == Some(&text(")")) {
        let open = words.iter().rposition(|word| *word == text("("));
        let Some(open) = open else { return };
        let inside = &words[open + 1..words.len() - 1];
        let alternate = inside.iter().enumerate().all(|(at, word)| match at % 2 {
            0 => *word == Word::Value,
            _ => *word == text(","),
        });
        // A single value in parentheses may be a function's argument and is clearer unchanged.
        let is_list = inside.len() > 1 && alternate;
        if is_list {
            words.truncate(open);
            words.push(Word::Values);
        }
    }
    if let [.., Word::Values, comma, Word::Values] = words.as_slice()
        && *comma == text(",")
    {
        words.truncate(words.len() - 2);
    }
}

fn joined(words: &[Word]) -> String {
    let mut text = String::new();
    let mut glued = true;
    for word in words {
        let word = match word {
            Word::Value => "?",
            Word::Values => "(?+)",
            Word::Text(word) => word,
        };
        let glues = matches!(word, "," | ")" | "." | "(" | ";");
        if !glued && !glues {
            text.push(' ');
        }
        text.push_str(word);
        glued = matches!(word, "(" | "." | "@");
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_go_and_the_rest_stays() {
        let cases = [
            (
                "SELECT c FROM sbtest1 WHERE id=5;",
                "select c from sbtest1 where id = ?",
            ),
            (
                "SELECT c FROM t WHERE id IN (5, 7,9)",
                "select c from t where id in (?+)",
            ),
            (
                "INSERT INTO t (a,b) VALUES (1,'x'),(2,'it''s'),\n(3,\"\\\"\")",
                "insert into t(a, b) values (?+)",
            ),
            (
                "select /* a comment */ 1.5e10, 0xff -- rest\n, .5",
                "select ?, ?, ?",
            ),
            (
                "UPDATE t SET a = -1, b=b-1 WHERE c = NULL",
                "update t set a = ?, b = b - ? where c = ?",
            ),
            (
                "SELECT `A b` FROM `db`.`t` LIMIT 10",
                "select `a b` from `db`.`t` limit ?",
            ),
            ("SELECT sleep(0.3)", "select sleep(?)"),
            ("SELECT 1e-3, a FROM 1st.t", "select ?, a from 1st.t"),
            ("SELECT 'broken", "select ?"),
            (
                "SELECT * FROM t1 WHERE 名前 = 'あ'",
                "select * from t1 where 名前 = ?",
            ),
        ];
        for (sql, expected) in cases {
            assert_eq!(fingerprint(sql), expected, "{sql}");
        }
    }

    #[test]
    fn long_ones_are_cut_between_characters() {
        let long = fingerprint(&format!("select {}", "あ".repeat(1000)));
        assert!(long.len() >= LENGTH_AT_MOST && long.len() < LENGTH_AT_MOST + 3);
    }

    proptest! {
        #[test]
        fn any_text_has_one(sql in ".{0,200}") {
            fingerprint(&sql);
        }

        #[test]
        fn the_values_make_no_difference(a in 0..100_000_u32, b in "[a-z '\\\\]{0,20}") {
            let quoted = b.replace('\\', "\\\\").replace('\'', "''");
            let statement = format!("SELECT c FROM t WHERE a = {a} AND b = '{quoted}'");
            prop_assert_eq!(fingerprint(&statement), "select c from t where a = ? and b = ?");
        }
    }
}
