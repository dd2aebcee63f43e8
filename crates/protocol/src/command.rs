//! The client commands, by the first byte of their packet.

pub(crate) const COM_QUIT: u8 = 0x01;
pub(crate) const COM_QUERY: u8 = 0x03;
pub(crate) const COM_PING: u8 = 0x0e;
pub(crate) const COM_STMT_PREPARE: u8 = 0x16;
pub(crate) const COM_STMT_EXECUTE: u8 = 0x17;
pub(crate) const COM_STMT_CLOSE: u8 = 0x19;
pub(crate) const COM_SET_OPTION: u8 = 0x1b;
