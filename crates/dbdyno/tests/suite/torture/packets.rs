//! Detection of the kind of reply in a server's packet, from both sides' packets of one connection.

use std::collections::VecDeque;

const DEPRECATE_EOF: u32 = 1 << 24;
/// Capability flags in the greeting that would make the packets unreadable: TLS and compression.
const HIDING: u16 = 0x0800 | 0x0020;
const MORE_RESULTS: u16 = 8;

/// A kind of reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Greeting,
    AuthSwitch,
    AuthMore,
    LoginOk,
    Ok,
    Error,
    ColumnCount,
    Column,
    EndOfColumns,
    TextRow,
    BinaryRow,
    EndOfRows,
    PrepareOk,
    FileRequest,
}

/// The next packet of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Greeting,
    Login,
    /// The reply to the next command.
    Reply,
    /// In the result of a command: the remaining column definitions.
    Columns {
        command: u8,
        left: u64,
    },
    EndOfColumns {
        command: u8,
    },
    Rows {
        command: u8,
    },
    /// Another result, or the reply after a file.
    More {
        command: u8,
    },
    /// Definitions after a prepared statement: of parameters, then of columns.
    Prepared {
        parameters: u64,
        columns: u64,
        is_end: bool,
    },
}

/// State of both sides of one connection.
pub(crate) struct Conversation {
    next: Next,
    commands: VecDeque<u8>,
    deprecate_eof: bool,
    cached_metadata: bool,
    has_logged_in: bool,
    is_sending_file: bool,
}

impl Conversation {
    pub(crate) fn new() -> Self {
        Self {
            next: Next::Greeting,
            commands: VecDeque::new(),
            deprecate_eof: false,
            cached_metadata: false,
            has_logged_in: false,
            is_sending_file: false,
        }
    }

    /// True if the next packet of the server begins a reply.
    pub(crate) fn is_beginning(&self) -> bool {
        matches!(self.next, Next::Reply | Next::Greeting)
    }

    /// Processes a packet of the client.
    pub(crate) fn sent(&mut self, payload: &[u8]) {
        if self.is_sending_file {
            self.is_sending_file = !payload.is_empty();
            return;
        }
        if !self.has_logged_in {
            self.log_in(payload);
            return;
        }
        match payload.first() {
            // Commands without a reply: quit, long data, close.
            Some(0x01 | 0x18 | 0x19) | None => {}
            Some(command) => self.commands.push_back(*command),
        }
    }

    fn log_in(&mut self, payload: &[u8]) {
        let word = |at: usize| {
            let bytes = payload.get(at..at + 4)?;
            Some(u32::from_le_bytes(bytes.try_into().expect("they are four")))
        };
        if self.next == Next::Login
            && let (Some(flags), Some(of_mariadb)) = (word(0), word(28))
            && payload.len() > 32
        {
            self.deprecate_eof = flags & DEPRECATE_EOF != 0;
            self.cached_metadata = flags & 1 == 0 && of_mariadb & (1 << 4) != 0;
            // Later packets of a login are authentication data.
            self.has_logged_in = false;
        }
    }

    /// Processes a packet of the server; returns the kind of its reply.
    pub(crate) fn received(&mut self, payload: &[u8]) -> Reply {
        match self.next {
            Next::Greeting => {
                self.next = Next::Login;
                match payload.first() {
                    Some(0xff) => Reply::Error,
                    _ => Reply::Greeting,
                }
            }
            Next::Login => match payload.first() {
                Some(0x00) => {
                    self.has_logged_in = true;
                    self.next = Next::Reply;
                    Reply::LoginOk
                }
                Some(0xff) => Reply::Error,
                Some(0x01) => Reply::AuthMore,
                _ => Reply::AuthSwitch,
            },
            Next::Reply => {
                let command = self.commands.pop_front().unwrap_or(0x03);
                self.begin(command, payload)
            }
            Next::More { command } => self.begin(command, payload),
            Next::Columns { command, left } => {
                self.next = match left {
                    0 | 1 => self.after_columns(command),
                    _ => Next::Columns {
                        command,
                        left: left - 1,
                    },
                };
                Reply::Column
            }
            Next::EndOfColumns { command } => {
                self.next = Next::Rows { command };
                Reply::EndOfColumns
            }
            Next::Rows { command } => self.row(command, payload),
            Next::Prepared {
                parameters,
                columns,
                is_end,
            } => self.definition(parameters, columns, is_end),
        }
    }

    /// Processes the first packet of a result.
    fn begin(&mut self, command: u8, payload: &[u8]) -> Reply {
        self.next = Next::Reply;
        match payload.first() {
            Some(0x00) if command == 0x16 => {
                let short = |at: usize| match payload.get(at..at + 2) {
                    Some(bytes) => u64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
                    None => 0,
                };
                self.prepared(short(7), short(5), false);
                Reply::PrepareOk
            }
            Some(0xff) => Reply::Error,
            Some(0x00) | None => {
                // The low byte of the status follows two numbers.
                let mut rest = payload.get(1..).unwrap_or_default();
                let more = number(&mut rest).and(number(&mut rest)).is_some()
                    && rest
                        .first()
                        .is_some_and(|status| u16::from(*status) & MORE_RESULTS != 0);
                if more {
                    self.next = Next::More { command };
                }
                Reply::Ok
            }
            Some(0xfb) if command == 0x03 => {
                self.is_sending_file = true;
                self.next = Next::More { command };
                Reply::FileRequest
            }
            // For example the answer to COM_STATISTICS or to a change of user.
            Some(0xfe) => Reply::Ok,
            Some(_) => {
                let mut rest = payload;
                let count = number(&mut rest).unwrap_or(0);
                let is_cached = self.cached_metadata && rest.first() == Some(&0);
                self.next = if is_cached {
                    self.after_columns(command)
                } else {
                    Next::Columns {
                        command,
                        left: count,
                    }
                };
                Reply::ColumnCount
            }
        }
    }

    fn after_columns(&self, command: u8) -> Next {
        if self.deprecate_eof {
            Next::Rows { command }
        } else {
            Next::EndOfColumns { command }
        }
    }

    fn row(&mut self, command: u8, payload: &[u8]) -> Reply {
        let is_end = payload.first() == Some(&0xfe) && payload.len() < 0xff_ffff;
        match payload.first() {
            Some(0xff) => {
                self.next = Next::Reply;
                Reply::Error
            }
            _ if is_end && (self.deprecate_eof || payload.len() < 9) => {
                let status = if !self.deprecate_eof {
                    payload.get(3..5)
                } else {
                    // Same format as an OK packet.
                    let mut rest = &payload[1..];
                    let _ = number(&mut rest).and(number(&mut rest));
                    rest.get(..2)
                };
                let more = status.is_some_and(|status| u16::from(status[0]) & MORE_RESULTS != 0);
                self.next = if more {
                    Next::More { command }
                } else {
                    Next::Reply
                };
                Reply::EndOfRows
            }
            _ if command == 0x03 => Reply::TextRow,
            _ => Reply::BinaryRow,
        }
    }

    fn definition(&mut self, parameters: u64, columns: u64, is_end: bool) -> Reply {
        if is_end {
            self.prepared(parameters, columns, false);
            return Reply::EndOfColumns;
        }
        match parameters {
            0 => self.prepared(0, columns - 1, columns == 1),
            _ => self.prepared(parameters - 1, columns, parameters == 1),
        }
        Reply::Column
    }

    /// Sets the state after a prepared statement or one of its definitions.
    fn prepared(&mut self, parameters: u64, columns: u64, is_over: bool) {
        let is_end = is_over && !self.deprecate_eof;
        self.next = match (parameters, columns) {
            (0, 0) if !is_end => Next::Reply,
            _ => Next::Prepared {
                parameters,
                columns,
                is_end,
            },
        };
    }
}

/// Reads a length-encoded integer.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let (first, after) = rest.split_first()?;
    let width = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        _ => {
            *rest = after;
            return Some(u64::from(*first));
        }
    };
    let (bytes, after) = after.split_at_checked(width)?;
    *rest = after;
    let shifted = bytes.iter().enumerate();
    Some(shifted.fold(0, |sum, (at, byte)| sum | u64::from(*byte) << (8 * at)))
}

/// A packet: header and payload.
pub(crate) fn framed(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len().min(0xff_ffff) as u32).to_le_bytes();
    [&length[..3], &[sequence], payload].concat()
}

/// Removes a complete packet from the beginning: its sequence number and its payload.
pub(crate) fn take_packet(bytes: &mut Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let header = bytes.first_chunk::<4>()?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize;
    let sequence = header[3];
    if bytes.len() < 4 + length {
        return None;
    }
    let rest = bytes.split_off(4 + length);
    let payload = std::mem::replace(bytes, rest).split_off(4);
    Some((sequence, payload))
}

/// Removes TLS and compression from a greeting.
pub(crate) fn plain_greeting(payload: &mut [u8]) {
    let Some(end) = payload.iter().skip(1).position(|byte| *byte == 0) else {
        return;
    };
    // After the version: the connection id, 8 bytes of the nonce, and a zero.
    let at = 1 + end + 1 + 4 + 8 + 1;
    if let Some(flags) = payload.get_mut(at..at + 2) {
        let plain = u16::from_le_bytes([flags[0], flags[1]]) & !HIDING;
        flags.copy_from_slice(&plain.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged_in(deprecate_eof: bool) -> Conversation {
        let mut conversation = Conversation::new();
        assert_eq!(conversation.received(b"\x0a8.0"), Reply::Greeting);
        let mut login = vec![0; 40];
        login[0] = 1;
        login[3] = u8::from(deprecate_eof);
        conversation.sent(&login);
        assert_eq!(conversation.received(b"\xfeplugin\0"), Reply::AuthSwitch);
        conversation.sent(b"proof");
        assert_eq!(conversation.received(b"\x01\x04"), Reply::AuthMore);
        assert_eq!(conversation.received(b"\0\0\0\x02\0\0\0"), Reply::LoginOk);
        conversation
    }

    #[test]
    fn every_reply_is_told() {
        use Reply::*;
        let eof: &[u8] = b"\xfe\0\0\x02\0";
        for deprecate_eof in [true, false] {
            let mut conversation = logged_in(deprecate_eof);
            let mut expect = |sent: &[u8], replies: &[(&[u8], Reply)]| {
                conversation.sent(sent);
                for (payload, reply) in replies {
                    if *reply == EndOfColumns && deprecate_eof {
                        continue;
                    }
                    assert_eq!(conversation.received(payload), *reply, "{payload:?}");
                }
                assert!(conversation.is_beginning());
            };
            let end: &[u8] = if deprecate_eof {
                b"\xfe\0\0\x02\0\0\0"
            } else {
                eof
            };
            expect(b"\x03SET x", &[(b"\0\0\0\x02\0\0\0", Ok)]);
            expect(b"\x03bad", &[(b"\xff\0\0", Error)]);
            let rows = [
                (&b"\x01"[..], ColumnCount),
                (b"def", Column),
                (eof, EndOfColumns),
                (b"\x01a", TextRow),
                (end, EndOfRows),
            ];
            expect(b"\x03SELECT", &rows);
            let prepared = [
                (&b"\0\x01\0\0\0\x01\0\x02\0\0\0\0"[..], PrepareOk),
                (b"def", Column),
                (b"def", Column),
                (eof, EndOfColumns),
                (b"def", Column),
                (eof, EndOfColumns),
            ];
            expect(b"\x16SELECT ?, ?", &prepared);
            let rows = rows.map(|(payload, reply)| match reply {
                TextRow => (&b"\0\0a"[..], BinaryRow),
                _ => (payload, reply),
            });
            expect(b"\x17\x01\0\0\0", &rows);
            conversation.sent(b"\x03LOAD DATA LOCAL");
            assert_eq!(conversation.received(b"\xfbfile"), FileRequest);
            for part in [&b"rows"[..], b""] {
                conversation.sent(part);
            }
            assert_eq!(conversation.received(b"\0\0\0\x02\0\0\0"), Ok);
            assert!(conversation.is_beginning() && conversation.commands.is_empty());
        }
    }
}
