//! What a command may change that the pool has to know: the current database, and what no reset restores.

use protocol::relay::{Begin, com};
use sqltext::{ExecutedTokens, Quoting, TokenKind, is_word_byte};

use super::{session_end::SessionEnd, sides::Sides};
use crate::{
    session_reset,
    watch::{TooLong, Wait},
};

const DROP_DB: u8 = 0x06;
/// Makes the connection one of a replica.
const REGISTER_SLAVE: u8 = 0x15;
/// Allows or forbids several statements in one text, for good.
const SET_OPTION: u8 = 0x1b;

/// What a command may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct CommandEffects {
    /// The current database is another one after it.
    uses: bool,
    /// That is so only if all went well.
    is_alone: bool,
    /// It prepares a statement that may choose a database.
    prepares_use: bool,
    executes: bool,
    /// It changes what no reset restores and no question finds.
    spoils: bool,
}

impl CommandEffects {
    /// What a command with this payload may change.
    pub(super) fn of(packet: &[u8]) -> Self {
        let Some((command, text)) = packet.split_first() else {
            return Self::default();
        };
        let mut marks = Self::default();
        match *command {
            com::QUERY => marks.read(text),
            com::STMT_PREPARE => {
                marks.prepares_use = has_word(text, b"use");
                marks.spoils = sets_resource_group(text);
            }
            com::STMT_EXECUTE => marks.executes = true,
            DROP_DB => marks.uses = true,
            SET_OPTION
            | REGISTER_SLAVE
            | com::BINLOG_DUMP
            | com::BINLOG_DUMP_GTID
            | com::TABLE_DUMP => marks.spoils = true,
            // What is not known may do anything.
            unknown => {
                marks.spoils = unknown > com::RESET_CONNECTION && unknown != com::STMT_BULK_EXECUTE;
            }
        }
        marks
    }

    fn read(&mut self, text: &[u8]) {
        self.spoils = sets_resource_group(text);
        let (has_use, has_execute) = (has_word(text, b"use"), has_word(text, b"execute"));
        if !has_use && !has_execute && !has_word(text, b"drop") {
            return;
        }
        self.is_alone = !text.contains(&b';');
        let mut words = words(text);
        while let Some((word, is_first)) = words.next() {
            if !is_first {
                continue;
            }
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            if is(b"use") {
                self.uses = true;
            } else if is(b"drop") {
                let what = words.next().map_or(&b""[..], |(what, _)| what);
                self.uses |=
                    what.eq_ignore_ascii_case(b"database") || what.eq_ignore_ascii_case(b"schema");
            } else if is(b"prepare") {
                self.prepares_use |= has_use;
            } else if is(b"execute") {
                // EXECUTE IMMEDIATE has the statement in its text.
                self.uses |= has_use;
                self.executes = true;
            }
        }
    }
}

/// `SET RESOURCE GROUP`, whose effect only an administrator could read.
fn sets_resource_group(text: &[u8]) -> bool {
    has_word(text, b"resource") && has_word(text, b"group")
}

/// Whether a text has this word anywhere, also within strings and comments.
fn has_word(text: &[u8], word: &[u8]) -> bool {
    let mut from = 0;
    while let Some(rest) = text.get(from..) {
        let first = |byte: &u8| byte.eq_ignore_ascii_case(&word[0]);
        let Some(at) = rest.iter().position(first).map(|at| from + at) else {
            return false;
        };
        let end = at + word.len();
        if text
            .get(at..end)
            .is_some_and(|it| it.eq_ignore_ascii_case(word))
            && !(at > 0 && is_word_byte(text[at - 1]))
            && !text.get(end).is_some_and(|next| is_word_byte(*next))
        {
            return true;
        }
        from = at + 1;
    }
    false
}

/// The words of a text outside of strings and comments, each with whether it begins a statement.
fn words(text: &[u8]) -> impl Iterator<Item = (&[u8], bool)> {
    let mut is_first = true;
    ExecutedTokens::of(text, Quoting::default()).filter_map(move |token| match token.kind {
        TokenKind::Word => Some((token.text, std::mem::take(&mut is_first))),
        TokenKind::Sign => {
            is_first |= token.is_sign(b';');
            None
        }
        _ => {
            is_first = false;
            None
        }
    })
}

impl Sides<'_> {
    /// Counts a command that the server gets, and notes what it does to the connection.
    pub(super) fn begin(&mut self, marks: CommandEffects) {
        self.client.thread.metrics.sent_to(self.server.place);
        self.server.is_spoiled |= marks.spoils;
        self.server.has_prepared_use |= marks.prepares_use;
    }

    /// After a command that may have changed the current database: asks for it. The client has its answer already, and what
    /// the server says of the statement before (its warnings, its found rows) is of no statement that chooses a database.
    pub(super) async fn follow_database(
        &mut self,
        marks: CommandEffects,
        begin: Begin,
    ) -> Result<(), SessionEnd> {
        let may_differ = marks.uses && !(marks.is_alone && begin == Begin::Err)
            || marks.executes && self.server.has_prepared_use;
        if !may_differ {
            return Ok(());
        }
        // The limit is for sessions with another one.
        let question = session_reset::ask(self.server, b"\x03SELECT DATABASE() LIMIT 1");
        let answer = match self.client.watch.within(Wait::Read, question).await {
            Ok(answer) => answer.map_err(SessionEnd::of_question)?,
            Err(TooLong) => return Err(SessionEnd::ReadTimeout),
        };
        if let Some(database) = session_reset::database_of(&answer) {
            self.know_database(&database);
        }
        Ok(())
    }

    /// The current database is this.
    pub(super) fn know_database(&mut self, database: &[u8]) {
        self.client.session.borrow_mut().client.default_db = database.to_vec();
        self.change_server_peer(|peer| peer.default_db = database.to_vec());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> CommandEffects {
        CommandEffects::of(&[b"\x03", text.as_bytes()].concat())
    }

    #[test]
    fn a_statement_that_chooses_a_database_is_seen_wherever_it_stands() {
        for text in [
            "use shop",
            "USE `shop`",
            "  /* a */ use shop",
            "-- a\nUse shop",
            "# a\nuse shop",
            "/*!use shop*/",
            "/*!50000 use shop */",
            "/*M!100100 use shop */",
            "select 'a;b'; use shop",
            "select \"it\\\"s\"; use`shop`",
            "drop database shop",
            "DROP SCHEMA IF EXISTS shop",
            "execute immediate 'use shop'",
        ] {
            assert!(of(text).uses, "{text}");
        }
        for text in [
            "select * from t use index (a)",
            "select 'a; use shop'",
            "select 1 /* ; use shop */",
            "select `use`; select 1",
            "insert into used values (1)",
            "drop table t",
            "reuse shop",
            "execute s",
            "",
            "'",
            "/*",
        ] {
            assert!(!of(text).uses, "{text}");
        }
        assert!(of("prepare s from 'use shop'").prepares_use);
        assert!(of("execute s").executes);
        assert!(CommandEffects::of(b"\x16use shop").prepares_use);
        assert!(CommandEffects::of(b"\x06shop").uses);
    }

    #[test]
    fn commands_that_no_reset_takes_back_spoil_their_connection() {
        for packet in [
            &b"\x1b\0\0"[..],
            b"\x15",
            b"\x12",
            b"\x1e",
            b"\x20",
            b"\x99",
            b"\x03set resource group rg",
            b"\x16SET RESOURCE GROUP rg",
        ] {
            assert!(CommandEffects::of(packet).spoils, "{packet:?}");
        }
        for packet in [
            &b""[..],
            b"\x01",
            b"\x03select 1",
            b"\x17\x01\0\0\0",
            b"\x1f",
            b"\x11",
            b"\xfa",
        ] {
            assert!(!CommandEffects::of(packet).spoils, "{packet:?}");
        }
    }
}
