//! The tables that a statement creates, changes or drops, by its first words.

use super::{
    SqlStatement,
    token::{Token, TokenKind},
};

/// Tokens of a statement that are read for it.
const TOKENS_AT_MOST: usize = 400;

/// A table as a statement names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// The database before the name, if any.
    pub database: Option<String>,
    pub table: String,
}

/// What a statement does to tables, as far as its words say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// It creates this table.
    Creates(TableName),
    /// It changes, fills or drops these tables and nothing else.
    Changes(Vec<TableName>),
    /// It changes only its own session.
    Session,
    /// It names the database of the statements behind it: `USE shop`.
    Database(String),
    /// It does, or may do, something else.
    Other,
}

impl SqlStatement {
    pub fn target(&self) -> Target {
        let tokens: Vec<_> = self.tokens().take(TOKENS_AT_MOST).collect();
        let target = Reader {
            tokens: &tokens,
            at: 0,
        }
        .target()
        .unwrap_or(Target::Other);
        match target {
            // The words of a hidden part are not those that were read.
            Target::Database(_) => target,
            _ if self.hidden_part().is_some() => Target::Other,
            Target::Changes(_) if ["rename", "exchange"].iter().any(|it| self.has_word(it)) => {
                Target::Other
            }
            Target::Session
                if ["global", "persist", "persist_only", "password"]
                    .iter()
                    .any(|it| self.has_word(it)) =>
            {
                Target::Other
            }
            target => target,
        }
    }
}

/// Reads the tokens of a statement one after the other.
struct Reader<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
}

impl Reader<'_> {
    fn target(&mut self) -> Option<Target> {
        let verb = self.any_word()?;
        match verb.as_str() {
            "CREATE" => {
                if self.word("OR") && !self.word("REPLACE") {
                    return None;
                }
                if self.word("TABLE") {
                    self.if_exists();
                    return Some(Target::Creates(self.name()?));
                }
                let kinds = ["UNIQUE", "FULLTEXT", "SPATIAL"];
                let _ = kinds.iter().any(|kind| self.word(kind));
                self.word("INDEX").then_some(())?;
                self.on()
            }
            "DROP" if self.word("TABLE") => {
                self.if_exists();
                let mut tables = vec![self.name()?];
                while self.sign(b',') {
                    tables.push(self.name()?);
                }
                Some(Target::Changes(tables))
            }
            "DROP" if self.word("INDEX") => self.on(),
            "ALTER" if self.word("TABLE") => Some(Target::Changes(vec![self.name()?])),
            "INSERT" | "REPLACE" => {
                let modifiers = ["LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE"];
                while modifiers.iter().any(|modifier| self.word(modifier)) {}
                self.word("INTO");
                Some(Target::Changes(vec![self.name()?]))
            }
            "UPDATE" => {
                let table = self.name()?;
                self.word("SET").then(|| Target::Changes(vec![table]))
            }
            "DELETE" => {
                self.word("FROM").then_some(())?;
                let table = self.name()?;
                let is_alone = self.is_at_end() || self.word("WHERE");
                is_alone.then(|| Target::Changes(vec![table]))
            }
            "USE" => Some(Target::Database(self.name()?.table)),
            "BEGIN" => {
                self.word("WORK");
                // BEGIN NOT ATOMIC begins a block of any statements.
                self.is_at_end().then_some(Target::Session)
            }
            "START" => self.word("TRANSACTION").then_some(Target::Session),
            "COMMIT" | "ROLLBACK" => Some(Target::Session),
            "SET" => self.sets_session().then_some(Target::Session),
            _ => None,
        }
    }

    /// Behind SET: whether a variable, the character set or the transactions of the session are set. The rest, such as
    /// SET DEFAULT ROLE and SET STATEMENT ... FOR, changes or may change more.
    fn sets_session(&mut self) -> bool {
        if self.sign(b'@') {
            return true;
        }
        let kinds = [
            "NAMES",
            "CHARACTER",
            "CHARSET",
            "TRANSACTION",
            "SESSION",
            "LOCAL",
        ];
        if kinds.iter().any(|kind| self.word(kind)) {
            return true;
        }
        self.plain_name().is_some() && (self.sign(b'=') || self.sign(b':'))
    }

    fn is_at_end(&self) -> bool {
        self.at == self.tokens.len()
    }

    fn any_word(&mut self) -> Option<String> {
        let word = self.tokens.get(self.at)?;
        (word.kind == TokenKind::Word).then(|| {
            self.at += 1;
            String::from_utf8_lossy(word.text).to_uppercase()
        })
    }

    fn word(&mut self, expected: &str) -> bool {
        self.pass(|token| token.is_word(expected))
    }

    fn sign(&mut self, expected: u8) -> bool {
        self.pass(|token| token.is_sign(expected))
    }

    fn pass(&mut self, is_it: impl Fn(&Token<'_>) -> bool) -> bool {
        let is_it = self.tokens.get(self.at).is_some_and(is_it);
        self.at += usize::from(is_it);
        is_it
    }

    fn if_exists(&mut self) {
        if self.word("IF") {
            self.word("NOT");
            self.word("EXISTS");
        }
    }

    /// The table behind the next ON.
    fn on(&mut self) -> Option<Target> {
        while !self.word("ON") {
            self.tokens.get(self.at)?;
            self.at += 1;
        }
        Some(Target::Changes(vec![self.name()?]))
    }

    fn name(&mut self) -> Option<TableName> {
        let first = self.plain_name()?;
        if !self.sign(b'.') {
            return Some(TableName {
                database: None,
                table: first,
            });
        }
        Some(TableName {
            database: Some(first),
            table: self.plain_name()?,
        })
    }

    fn plain_name(&mut self) -> Option<String> {
        let name = self.tokens.get(self.at)?;
        matches!(name.kind, TokenKind::Word | TokenKind::Name).then(|| {
            self.at += 1;
            String::from_utf8_lossy(&name.unquoted()).into_owned()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statements_of;

    #[test]
    fn tables_are_found_by_the_first_words() {
        let name = |text: &str| {
            let (database, table) = text.split_once('.').unwrap_or(("", text));
            TableName {
                database: (!database.is_empty()).then(|| database.to_owned()),
                table: table.to_owned(),
            }
        };
        let changes = |names: &[&str]| Target::Changes(names.iter().map(|it| name(it)).collect());
        for (text, target) in [
            ("create table a (id int)", Target::Creates(name("a"))),
            (
                "CREATE TABLE IF NOT EXISTS `a b`.c LIKE d",
                Target::Creates(name("a b.c")),
            ),
            (
                "create or replace table x as select 1",
                Target::Creates(name("x")),
            ),
            ("create temporary table x (id int)", Target::Other),
            ("create view v as select 1", Target::Other),
            ("create unique index i on t (a)", changes(&["t"])),
            ("drop table if exists a, shop.b", changes(&["a", "shop.b"])),
            ("drop database shop", Target::Other),
            ("alter table t add key (a)", changes(&["t"])),
            ("alter table t rename to u", Target::Other),
            ("insert ignore into t values (1)", changes(&["t"])),
            ("insert t values (1)", changes(&["t"])),
            ("update t set a = 1", changes(&["t"])),
            ("update t, u set a = 1", Target::Other),
            ("delete from t where a = 1", changes(&["t"])),
            ("delete from t using t join u", Target::Other),
            ("truncate t", Target::Other),
            ("set names utf8mb4", Target::Session),
            ("set sql_mode = '', @a := 1", Target::Session),
            ("SET @@session.sql_mode = ''", Target::Session),
            ("set session transaction read only", Target::Session),
            ("start transaction read only", Target::Session),
            ("begin work", Target::Session),
            ("begin not atomic drop table t; end", Target::Other),
            ("start slave", Target::Other),
            ("START GROUP_REPLICATION", Target::Other),
            ("set default role r to a", Target::Other),
            ("set role r", Target::Other),
            ("set password = 'x'", Target::Other),
            (
                "set statement max_statement_time = 1 for drop database d",
                Target::Other,
            ),
            ("set @a = 1, @@persist.read_only = 1", Target::Other),
            ("set global read_only = 1", Target::Other),
            ("set @@global.read_only = 1", Target::Other),
            ("/*!50003 create table t (a int) */", Target::Other),
            (
                "create table t (a int) /*!50100 engine = x */",
                Target::Other,
            ),
            ("use `shop`", Target::Database("shop".to_owned())),
        ] {
            let statements = statements_of("x", text.as_bytes().to_vec()).unwrap();
            assert_eq!(statements[0].target(), target, "{text}");
        }
    }
}
