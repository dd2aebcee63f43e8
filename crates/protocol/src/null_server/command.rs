//! Parsing of a client's command packet.

use crate::lenenc::Fields;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command<'a> {
    Quit,
    InitDb(&'a [u8]),
    Query(&'a [u8]),
    FieldList,
    Statistics,
    Ping,
    ChangeUser,
    Prepare(&'a [u8]),
    /// Executes the statement with this number; its values do not matter.
    Execute(u32),
    /// A part of a value, which is not answered.
    LongData,
    CloseStatement(u32),
    ResetStatement(u32),
    /// 0 allows several statements in one query, 1 forbids it.
    SetOption(u16),
    ResetConnection,
    /// The packet is too short for its command.
    Malformed,
    Unknown,
}

impl<'a> Command<'a> {
    pub(super) fn of(payload: &'a [u8]) -> Self {
        let Some((&kind, argument)) = payload.split_first() else {
            return Self::Malformed;
        };
        let mut fields = Fields(argument);
        let mut numbered = |command: fn(u32) -> Self| fields.u32().map_or(Self::Malformed, command);
        match kind {
            0x01 => Self::Quit,
            0x02 => Self::InitDb(argument),
            0x03 => Self::Query(argument),
            0x04 => Self::FieldList,
            0x09 => Self::Statistics,
            0x0e => Self::Ping,
            0x11 => Self::ChangeUser,
            0x16 => Self::Prepare(argument),
            0x17 => numbered(Self::Execute),
            0x18 => Self::LongData,
            0x19 => numbered(Self::CloseStatement),
            0x1a => numbered(Self::ResetStatement),
            0x1b => fields.u16().map_or(Self::Malformed, Self::SetOption),
            0x1f => Self::ResetConnection,
            _ => Self::Unknown,
        }
    }

    /// The name in the log.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Execute(_) => "execute",
            _ => "query",
        }
    }
}
