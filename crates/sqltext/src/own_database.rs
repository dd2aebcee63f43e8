//! A statement whose names are not qualified with its own database: `t` for `shop`.`t`.

use std::ops::Range;

use super::{
    Quoting,
    executed_tokens::ExecutedTokens,
    token::{Token, TokenKind},
};

/// Words before the name of a table, a view, a sequence or a routine.
const BEFORE_OBJECTS: [&str; 15] = [
    "CALL",
    "EVENT",
    "EXISTS",
    "FOR",
    "FROM",
    "FUNCTION",
    "INTO",
    "JOIN",
    "PROCEDURE",
    "REFERENCES",
    "SEQUENCE",
    "TABLE",
    "TRIGGER",
    "UPDATE",
    "VIEW",
];

const SEQUENCE_FUNCTIONS: [&str; 3] = ["NEXTVAL", "LASTVAL", "SETVAL"];

/// The statement without this database before names, so that it holds in any other one; `None` where it names it nowhere.
/// Of an INSERT only what stands before its rows is read.
///
/// `shop.id` can also be a column of a table or an alias `shop`. Where the statement has such a name, only what can be
/// nothing else is a database: the first of three parts, or a name behind `FROM`, `TRIGGER` and the like.
pub fn without_database(text: &[u8], database: &str, quoting: Quoting) -> Option<Vec<u8>> {
    let escaped = database.replace('`', "``");
    memchr::memmem::find(text, escaped.as_bytes())?;
    let quoted = format!("`{escaped}`");
    let tokens = Tokens {
        all: head(text, quoting),
        names: [database.as_bytes(), quoted.as_bytes()],
    };
    let is_ambiguous = tokens.have_namesake();
    let mut out = Vec::new();
    let mut copied = 0;
    for at in 0..tokens.all.len() {
        let Some((qualifier, name)) = tokens.qualified(at, is_ambiguous) else {
            continue;
        };
        out.extend_from_slice(&text[copied..qualifier.start]);
        let is_quoted = text[name.start] == b'`';
        // Behind a point any word is a name.
        let mark: &[u8] = if is_quoted { b"" } else { b"`" };
        for part in [mark, &text[name.clone()], mark] {
            out.extend_from_slice(part);
        }
        copied = name.end;
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(&text[copied..]);
    Some(out)
}

/// The tokens, of an INSERT those before its rows.
fn head(text: &[u8], quoting: Quoting) -> Vec<Token<'_>> {
    let mut has_rows = false;
    let mut tokens = Vec::new();
    for token in ExecutedTokens::of(text, quoting) {
        if tokens.is_empty() {
            has_rows = token.is_word("INSERT") || token.is_word("REPLACE");
        }
        if has_rows && (token.is_word("VALUES") || token.is_word("VALUE")) {
            break;
        }
        tokens.push(token);
    }
    tokens
}

struct Tokens<'t> {
    all: Vec<Token<'t>>,
    /// The database without and with quotation marks.
    names: [&'t [u8]; 2],
}

impl Tokens<'_> {
    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.all.get(at).is_some_and(|token| token.is_sign(sign))
    }

    fn is_database(&self, at: usize) -> bool {
        self.name(at)
            .is_some_and(|token| self.names.contains(&token.text))
    }

    fn name(&self, at: usize) -> Option<&Token<'_>> {
        let token = self.all.get(at)?;
        matches!(token.kind, TokenKind::Word | TokenKind::Name).then_some(token)
    }

    /// Whether a table, an alias or a column has the database's name. An account is none of them.
    fn have_namesake(&self) -> bool {
        (0..self.all.len()).any(|at| {
            let is_of_account = self.is_sign(at + 1, b'@') || self.is_behind_sign(at, b'@');
            self.is_database(at) && !self.is_sign(at + 1, b'.') && !is_of_account
        })
    }

    fn is_behind_sign(&self, at: usize, sign: u8) -> bool {
        at.checked_sub(1)
            .is_some_and(|before| self.is_sign(before, sign))
    }

    /// The places of the database that begins at a token and of the name behind its point.
    fn qualified(&self, at: usize, is_ambiguous: bool) -> Option<(Range<usize>, Range<usize>)> {
        let is_later = self.is_behind_sign(at, b'.') || self.is_behind_sign(at, b'@');
        if is_later || !self.is_database(at) || !self.is_sign(at + 1, b'.') {
            return None;
        }
        let name = self.name(at + 2)?.range();
        let is_certain = self.is_sign(at + 3, b'.') || self.is_sign(at + 3, b'(');
        if is_ambiguous && !is_certain && !self.is_behind_object_word(at) {
            return None;
        }
        Some((self.name(at)?.range(), name))
    }

    fn is_behind_object_word(&self, at: usize) -> bool {
        let word = |at: Option<usize>| {
            let word = self.all.get(at?)?;
            (word.kind == TokenKind::Word)
                .then(|| String::from_utf8_lossy(word.text).to_uppercase())
        };
        let Some(before) = word(at.checked_sub(1)) else {
            let function = word(at.checked_sub(2)).unwrap_or_default();
            return SEQUENCE_FUNCTIONS.contains(&function.as_str());
        };
        // Of a trigger: BEFORE INSERT ON shop.orders.
        let is_of_trigger = before == "ON"
            && word(at.checked_sub(3)).is_some_and(|it| it == "BEFORE" || it == "AFTER");
        is_of_trigger || BEFORE_OBJECTS.contains(&before.as_str())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn without(text: &str) -> Option<String> {
        let changed = without_database(text.as_bytes(), "shop", Quoting::default())?;
        Some(String::from_utf8(changed).unwrap())
    }

    #[test]
    fn names_lose_their_own_database() {
        for (text, expected) in [
            // As mysqldump, mariadb-dump and mysqlpump write them.
            (
                "/*!50003 CREATE*/ /*!50017 DEFINER=`shop`@`%`*/ /*!50003 TRIGGER `shop`.`tr` BEFORE INSERT ON shop.orders FOR EACH ROW \
                 BEGIN SET @a = 'shop.x'; -- shop.y\n INSERT INTO shop.log VALUES (NEW.id); END */",
                "/*!50003 CREATE*/ /*!50017 DEFINER=`shop`@`%`*/ /*!50003 TRIGGER `tr` BEFORE INSERT ON `orders` FOR EACH ROW \
                 BEGIN SET @a = 'shop.x'; -- shop.y\n INSERT INTO `log` VALUES (NEW.id); END */",
            ),
            (
                "CREATE TABLE `t` (`a` int DEFAULT nextval(`shop`.`s1`), `b` int DEFAULT (next value for `shop`.`s2`))",
                "CREATE TABLE `t` (`a` int DEFAULT nextval(`s1`), `b` int DEFAULT (next value for `s2`))",
            ),
            (
                "CREATE VIEW `v1` AS select `shop`.`orders`.`id` AS `id`,`shop`.`f1`(1) AS `f` from (`shop`.`orders` join `shop`.`u`)",
                "CREATE VIEW `v1` AS select `orders`.`id` AS `id`,`f1`(1) AS `f` from (`orders` join `u`)",
            ),
            (
                "INSERT INTO `shop`.`t` (`a`) VALUES ('`shop`.`t`'),(`shop`.`x`)",
                "INSERT INTO `t` (`a`) VALUES ('`shop`.`t`'),(`shop`.`x`)",
            ),
            // A reserved word.
            ("select * from shop . group", "select * from `group`"),
            // A table, an alias or a column of that name.
            (
                "select shop.id, shop.shop.id from shop.shop join shop.b on shop.id = b.id",
                "select shop.id, `shop`.id from `shop` join `b` on shop.id = b.id",
            ),
            (
                "select shop.id from shop.orders as shop where shop.f1(shop.id)",
                "select shop.id from `orders` as shop where `f1`(shop.id)",
            ),
            (
                "CREATE TABLE `shop` (`a` int DEFAULT nextval(`shop`.`s`), CHECK (`shop`.`a` > 0))",
                "CREATE TABLE `shop` (`a` int DEFAULT nextval(`s`), CHECK (`shop`.`a` > 0))",
            ),
            (
                "CREATE TRIGGER tr AFTER INSERT ON shop.shop FOR EACH ROW UPDATE shop.shop SET a = shop.b",
                "CREATE TRIGGER tr AFTER INSERT ON `shop` FOR EACH ROW UPDATE `shop` SET a = shop.b",
            ),
        ] {
            assert_eq!(without(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_names_no_database_stays() {
        for text in [
            "INSERT INTO t VALUES ('shop.x', 1)",
            "SET @shop.x = @@shop.key_buffer_size",
            "select a.shop.x, workshop.x, shop2.y from t",
            "select shop from t",
            "/* shop.x */ select 1",
            "select 'shop.x",
        ] {
            assert_eq!(without(text), None, "{text}");
        }
    }

    #[test]
    fn a_database_may_have_any_name() {
        let change = |text: &str, database| {
            let changed = without_database(text.as_bytes(), database, Quoting::default());
            changed.map(|it| String::from_utf8(it).unwrap())
        };
        let changed = change("select 1 from `shop-1.0`.`t`", "shop-1.0");
        assert_eq!(changed.as_deref(), Some("select 1 from `t`"));
        let changed = change("select 1 from `a``b`.`t`", "a`b");
        assert_eq!(changed.as_deref(), Some("select 1 from `t`"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_and_only_loses_names(text in "(shop|x|[.]|`|'|\"|/[*]!50003 |[*]/|@|[(]|[)]| |from ){0,30}") {
            let once = without_database(text.as_bytes(), "shop", Quoting::default());
            if let Some(once) = once {
                prop_assert!(once.len() <= text.len());
            }
        }
    }
}
