//! Splitting SQL into tokens, by the rules of MySQL Proxy's tokenizer.

use std::sync::LazyLock;

use super::keywords;

/// A token: its number, and its text without quotes and marks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) id: usize,
    pub(crate) text: Vec<u8>,
}

/// Names of the tokens that are no words, each at the place of its number.
const NAMES: [&str; keywords::FIRST] = [
    "UNKNOWN",
    "LE",
    "GE",
    "LT",
    "GT",
    "EQ",
    "NE",
    "STRING",
    "COMMENT",
    "LITERAL",
    "FUNCTION",
    "INTEGER",
    "FLOAT",
    "DOT",
    "COMMA",
    "ASSIGN",
    "OBRACE",
    "CBRACE",
    "SEMICOLON",
    "STAR",
    "PLUS",
    "MINUS",
    "DIV",
    "BITWISE_AND",
    "BITWISE_OR",
    "BITWISE_XOR",
    "LOGICAL_AND",
    "LOGICAL_OR",
];

pub(super) const UNKNOWN: usize = 0;
pub(crate) const STRING: usize = 7;
pub(crate) const COMMENT: usize = 8;
pub(crate) const LITERAL: usize = 9;
pub(crate) const FUNCTION: usize = 10;
pub(crate) const INTEGER: usize = 11;
pub(crate) const FLOAT: usize = 12;
pub(super) const DOT: usize = 13;
pub(crate) const COMMENT_MYSQL: usize = keywords::FIRST + keywords::WORDS.len();

/// Operators; of those that begin alike, the longer is first.
const OPERATORS: [(&[u8], usize); 22] = [
    (b"<=", 1),
    (b">=", 2),
    (b"!=", 6),
    (b"<>", 6),
    (b":=", 15),
    (b"&&", 26),
    (b"||", 27),
    (b"<", 3),
    (b">", 4),
    (b"=", 5),
    (b".", DOT),
    (b",", 14),
    (b"(", 16),
    (b")", 17),
    (b";", 18),
    (b"*", 19),
    (b"+", 20),
    (b"-", 21),
    (b"/", 22),
    (b"&", 23),
    (b"|", 24),
    (b"^", 25),
];

/// Most parts of a name with dots, such as `db.table.column`.
const NAME_PARTS_MAX: usize = 3;

/// The names of all numbers, each at its place.
static ALL_NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let plain = NAMES.iter().map(|name| format!("TK_{name}"));
    let words = keywords::WORDS.iter().map(|word| format!("TK_SQL_{word}"));
    let last = std::iter::once("TK_COMMENT_MYSQL".to_owned());
    plain.chain(words).chain(last).collect()
});

/// The name of a token's number.
pub(super) fn name(id: usize) -> &'static str {
    ALL_NAMES.get(id).map_or("TK_UNKNOWN", String::as_str)
}

/// The tokens of a text, which can be any bytes.
pub(crate) fn tokenize(text: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        at += next(&text[at..], &mut tokens);
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'@'
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn count(text: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    text.iter().take_while(|&&byte| is_part(byte)).count()
}

/// Appends the tokens at the beginning of a text that is not empty; returns their length in the text, at least 1.
pub(crate) fn next(text: &[u8], tokens: &mut Vec<Token>) -> usize {
    let mut push = |id, text: &[u8]| {
        let text = text.to_vec();
        tokens.push(Token { id, text });
    };
    match text[0] {
        byte if is_space(byte) => 1,
        quote @ (b'\'' | b'"' | b'`') => {
            let (inner, length) = quoted(text, quote);
            let id = if quote == b'`' { LITERAL } else { STRING };
            push(id, &inner);
            length
        }
        b'/' if text.starts_with(b"/*") => {
            let (id, mark) = if text.get(2) == Some(&b'!') {
                (COMMENT_MYSQL, 3)
            } else {
                (COMMENT, 2)
            };
            let inner = &text[mark..];
            let end = inner.windows(2).position(|pair| pair == b"*/");
            push(id, &inner[..end.unwrap_or(inner.len())]);
            mark + end.map_or(inner.len(), |end| end + 2)
        }
        b'-' if text.starts_with(b"--") && text.get(2).is_none_or(|&byte| is_space(byte)) => {
            let line = count(text, |byte| byte != b'\n');
            push(COMMENT, text.get(3..line).unwrap_or_default());
            line
        }
        b'0'..=b'9' | b'.' => match number(text) {
            Some((id, length)) => {
                push(id, &text[..length]);
                length
            }
            None if text[0] == b'.' => {
                push(DOT, b".");
                1
            }
            None => words(text, tokens),
        },
        byte if is_word(byte) => words(text, tokens),
        _ => {
            let operator = OPERATORS.iter().find(|(mark, _)| text.starts_with(mark));
            let (mark, id) = operator.copied().unwrap_or((&text[..1], UNKNOWN));
            push(id, mark);
            mark.len()
        }
    }
}

/// The inside of a quoted text, with doubled quotes as one, and its length with the quotes. A text that is not closed
/// extends to the end.
fn quoted(text: &[u8], quote: u8) -> (Vec<u8>, usize) {
    let mut inner = Vec::new();
    let mut at = 1;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte == quote {
            if text.get(at) != Some(&quote) {
                break;
            }
            at += 1;
        }
        inner.push(byte);
        // In a name, a backslash is a character like any other.
        if byte == b'\\'
            && quote != b'`'
            && let Some(&escaped) = text.get(at)
        {
            inner.push(escaped);
            at += 1;
        }
    }
    (inner, at)
}

/// The kind and the length of a number; `None` if letters make it a word, or if it is none.
fn number(text: &[u8]) -> Option<(usize, usize)> {
    let digits = |at: usize| count(&text[at..], |byte| byte.is_ascii_digit());
    let whole = digits(0);
    let mut length = whole;
    let mut id = INTEGER;
    if text.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
        id = FLOAT;
    }
    if length == 0 {
        return None;
    }
    if matches!(text.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(length + 1), Some(b'+' | b'-')));
        let exponent = text
            .get(length + 1 + sign..)
            .map_or(0, |rest| count(rest, |byte| byte.is_ascii_digit()));
        let end = length + 1 + sign + exponent;
        if exponent > 0 && !text.get(end).is_some_and(|&byte| is_word(byte)) {
            return Some((FLOAT, end));
        }
    }
    let is_word_after = text.get(length).is_some_and(|&byte| is_word(byte));
    if id == INTEGER && is_word_after {
        return None;
    }
    Some((id, length))
}

/// Appends a word, and further ones that dots join to it; returns their length.
fn words(text: &[u8], tokens: &mut Vec<Token>) -> usize {
    let mut at = 0;
    for part in 1..=NAME_PARTS_MAX {
        let end = at + count(&text[at..], is_word);
        let word = &text[at..end];
        let id = if text.get(end) == Some(&b'(') {
            FUNCTION
        } else {
            keywords::number(word).unwrap_or(LITERAL)
        };
        tokens.push(Token {
            id,
            text: word.to_vec(),
        });
        at = end;
        let goes_on =
            text.get(at) == Some(&b'.') && text.get(at + 1).is_some_and(|&byte| is_word(byte));
        if part == NAME_PARTS_MAX || !goes_on {
            break;
        }
        tokens.push(Token {
            id: DOT,
            text: b".".to_vec(),
        });
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tokens as `NAME:text`, joined by blanks.
    fn shown(text: &str) -> String {
        let tokens = tokenize(text.as_bytes());
        let shown: Vec<String> = tokens
            .iter()
            .map(|token| {
                let name = name(token.id);
                format!("{}:{}", &name[3..], String::from_utf8_lossy(&token.text))
            })
            .collect();
        shown.join(" ")
    }

    #[test]
    fn each_rule_of_the_reference_holds() {
        let cases = [
            ("select a", "SQL_SELECT:select LITERAL:a"),
            ("IN (1)", "SQL_IN:IN OBRACE:( INTEGER:1 CBRACE:)"),
            (
                "IN(values(",
                "FUNCTION:IN OBRACE:( FUNCTION:values OBRACE:(",
            ),
            ("a.b.c", "LITERAL:a DOT:. LITERAL:b DOT:. LITERAL:c"),
            ("@x @@y", "LITERAL:@x LITERAL:@@y"),
            ("a$b", "LITERAL:a UNKNOWN:$ LITERAL:b"),
            ("1e", "LITERAL:1e"),
            ("1 1.1 .5 1e+1", "INTEGER:1 FLOAT:1.1 FLOAT:.5 FLOAT:1e+1"),
            ("1.", "INTEGER:1 DOT:."),
            ("-1 +1", "MINUS:- INTEGER:1 PLUS:+ INTEGER:1"),
            ("'a''b' \"c\"\"d\"", "STRING:a'b STRING:c\"d"),
            ("`na``me`", "LITERAL:na`me"),
            (r"'a\'b\\'", r"STRING:a\'b\\"),
            ("'open", "STRING:open"),
            ("/* a */ /*!40000 b*/", "COMMENT: a  COMMENT_MYSQL:40000 b"),
            ("/* open", "COMMENT: open"),
            ("-- text\n1", "COMMENT:text INTEGER:1"),
            ("--\n1", "COMMENT: INTEGER:1"),
            ("--y", "MINUS:- MINUS:- LITERAL:y"),
            ("#", "UNKNOWN:#"),
            (
                ":= != <> && ||",
                "ASSIGN::= NE:!= NE:<> LOGICAL_AND:&& LOGICAL_OR:||",
            ),
            ("<=> <<", "LE:<= GT:> LT:< LT:<"),
            (
                ": ~ % ? !",
                "UNKNOWN:: UNKNOWN:~ UNKNOWN:% UNKNOWN:? UNKNOWN:!",
            ),
            ("<= >= < > =", "LE:<= GE:>= LT:< GT:> EQ:="),
            (
                ", ( ) ; * / & | ^",
                "COMMA:, OBRACE:( CBRACE:) SEMICOLON:; STAR:* DIV:/ BITWISE_AND:& BITWISE_OR:| BITWISE_XOR:^",
            ),
            ("div DIV", "SQL_DIV:div SQL_DIV:DIV"),
            ("start transaction", "LITERAL:start LITERAL:transaction"),
            ("\t\r\n ", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected, "{text}");
        }
        assert_eq!(tokenize("ä".as_bytes()).len(), 2);
        assert_eq!(COMMENT_MYSQL, 261);
    }

    /// A text without what the tokenizer drops.
    fn kept(text: &[u8]) -> Vec<u8> {
        let dropped = |byte: u8| is_space(byte) || b"'\"`-/*!".contains(&byte);
        text.iter()
            .copied()
            .filter(|&byte| !dropped(byte))
            .collect()
    }

    proptest! {
        #[test]
        fn texts_joined_lose_only_space_quotes_and_marks(text: Vec<u8>) {
            let joined: Vec<u8> = tokenize(&text).into_iter().flat_map(|token| token.text).collect();
            prop_assert_eq!(kept(&joined), kept(&text));
        }

        #[test]
        fn also_where_marks_are_dense(text in r#"[-/*!'"`\\a1.e+( \n]{0,60}"#) {
            let tokens = tokenize(text.as_bytes());
            let joined: Vec<u8> = tokens.into_iter().flat_map(|token| token.text).collect();
            prop_assert_eq!(kept(&joined), kept(text.as_bytes()));
        }
    }
}
