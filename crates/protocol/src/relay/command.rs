//! The commands of a client, and how the answer to each of them ends.

use crate::lenenc::Fields;

/// Numbers of commands.
pub mod com {
    /// The client leaves.
    pub const QUIT: u8 = 0x01;
    /// Another default database.
    pub const INIT_DB: u8 = 0x02;
    /// Statements as text.
    pub const QUERY: u8 = 0x03;
    /// The columns of a table.
    pub const FIELD_LIST: u8 = 0x04;
    /// A line of figures.
    pub const STATISTICS: u8 = 0x09;
    /// The connections of the server.
    pub const PROCESS_INFO: u8 = 0x0a;
    pub const CHANGE_USER: u8 = 0x11;
    /// The binary log from a position.
    pub const BINLOG_DUMP: u8 = 0x12;
    /// A table's content.
    pub const TABLE_DUMP: u8 = 0x13;
    pub const STMT_PREPARE: u8 = 0x16;
    pub const STMT_EXECUTE: u8 = 0x17;
    /// A piece of a parameter.
    pub const STMT_SEND_LONG_DATA: u8 = 0x18;
    pub const STMT_CLOSE: u8 = 0x19;
    /// Rows of a cursor.
    pub const STMT_FETCH: u8 = 0x1c;
    /// The binary log from a GTID.
    pub const BINLOG_DUMP_GTID: u8 = 0x1e;
    /// The session's state as after the login.
    pub const RESET_CONNECTION: u8 = 0x1f;
    /// MariaDB: runs a prepared statement for many rows.
    pub const STMT_BULK_EXECUTE: u8 = 0xfa;
}

/// The form of the answer to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerKind {
    Nothing,
    /// One packet of any kind.
    Packet,
    /// One or several results.
    Results,
    /// A statement that was prepared runs with a cursor: one or several results, or columns whose rows wait in the cursor.
    Cursor,
    /// Rows or columns without their number.
    Rows,
    Prepared,
    /// The rounds of a login.
    Login,
    /// Events without end, while the client may speak, too.
    Stream,
}

/// Where a prepared statement's wish for a cursor lies in its command, behind the number of the statement.
const CURSOR_AT: usize = 5;

impl AnswerKind {
    /// Bytes of a command by which [`AnswerKind::of_packet`] knows the form of the answer.
    pub const HEAD: usize = CURSOR_AT + 1;

    /// The form of the answer to a command, of which the first [`AnswerKind::HEAD`] bytes suffice.
    pub fn of_packet(packet: &[u8]) -> Self {
        match packet {
            [] => Self::Packet,
            [com::STMT_EXECUTE, ..] if packet.get(CURSOR_AT).is_some_and(|flags| *flags != 0) => {
                Self::Cursor
            }
            [command, ..] => Self::of(*command),
        }
    }

    /// The form of the answer to the command with this number; an unknown one may have results.
    pub fn of(command: u8) -> Self {
        match command {
            com::QUIT | com::STMT_SEND_LONG_DATA | com::STMT_CLOSE => Self::Nothing,
            com::FIELD_LIST | com::STMT_FETCH => Self::Rows,
            com::STMT_PREPARE => Self::Prepared,
            com::CHANGE_USER => Self::Login,
            com::BINLOG_DUMP | com::BINLOG_DUMP_GTID | com::TABLE_DUMP => Self::Stream,
            com::QUERY | com::STMT_EXECUTE | com::STMT_BULK_EXECUTE | com::PROCESS_INFO => {
                Self::Results
            }
            0..=com::RESET_CONNECTION => Self::Packet,
            _ => Self::Results,
        }
    }
}

/// What `COM_CHANGE_USER` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeUser {
    pub user: Vec<u8>,
    pub proof: Vec<u8>,
    /// The default database; empty without one.
    pub database: Vec<u8>,
    pub charset: u16,
    /// The login method of the proof; empty without one.
    pub plugin: Vec<u8>,
    /// Attributes of the connection as the login had them, with their length; empty if they were not agreed on.
    pub attributes: Vec<u8>,
}

impl ChangeUser {
    /// Reads a command; `None` if it is cut short.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let mut fields = Fields(payload);
        fields.u8()?;
        let user = fields.until_nul()?.to_vec();
        let length = fields.u8()?;
        let proof = fields.bytes(usize::from(length))?.to_vec();
        let database = fields.until_nul()?.to_vec();
        let charset = fields.u16().unwrap_or(0);
        let (plugin, attributes) = match fields.until_nul() {
            Some(plugin) => (plugin.to_vec(), fields.0.to_vec()),
            None => (fields.0.to_vec(), Vec::new()),
        };
        Some(Self {
            user,
            proof,
            database,
            charset,
            plugin,
            attributes,
        })
    }

    /// The command's payload; `None` if the proof is too long for it.
    pub fn payload(&self) -> Option<Vec<u8>> {
        let length = u8::try_from(self.proof.len()).ok()?;
        let mut out = vec![com::CHANGE_USER];
        out.extend_from_slice(&self.user);
        out.extend_from_slice(&[0, length]);
        out.extend_from_slice(&self.proof);
        out.extend_from_slice(&self.database);
        out.push(0);
        out.extend_from_slice(&self.charset.to_le_bytes());
        if !self.plugin.is_empty() {
            out.extend_from_slice(&self.plugin);
            out.push(0);
            out.extend_from_slice(&self.attributes);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_prepared_statement_can_wish_a_cursor() {
        let cases: [(&[u8], AnswerKind); 6] = [
            (b"", AnswerKind::Packet),
            (b"\x17\x01\0\0\0\x01\x01\0\0\0", AnswerKind::Cursor),
            (b"\x17\x01\0\0\0\0\x01\0\0\0", AnswerKind::Results),
            (b"\x17\x01\0", AnswerKind::Results),
            (b"\x03select", AnswerKind::Results),
            (b"\x01", AnswerKind::Nothing),
        ];
        for (packet, kind) in cases {
            assert_eq!(AnswerKind::of_packet(packet), kind, "{packet:?}");
        }
    }

    #[test]
    fn a_change_of_user_survives_its_form() {
        let command = ChangeUser {
            user: b"ann".to_vec(),
            proof: vec![7; 20],
            database: b"shop".to_vec(),
            charset: 45,
            plugin: b"mysql_native_password".to_vec(),
            attributes: b"\x04\x01a\x01b".to_vec(),
        };
        let payload = command.payload().unwrap();
        assert_eq!(ChangeUser::parse(&payload), Some(command));
        for cut in 0..30 {
            assert_eq!(ChangeUser::parse(&payload[..cut]), None, "{cut}");
        }
    }
}
