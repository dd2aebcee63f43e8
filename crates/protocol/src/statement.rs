//! Prepared statements.

use crate::{
    channel::Channel, connection::Connection, error::Error, fetched::Fetched, lenenc::Fields,
    replies::server_error, skim::Outcome, value::Value,
};

const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;

/// A statement that the server has prepared; of use only on the connection that prepared it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statement {
    id: u32,
    parameters: u16,
}

impl Statement {
    /// Number of its placeholders.
    pub fn parameters(&self) -> usize {
        usize::from(self.parameters)
    }
}

impl Connection {
    /// Has the server prepare a statement with `?` for its parameters.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        self.begin(COM_STMT_PREPARE)?;
        self.channel.out.extend_from_slice(sql.as_bytes());
        let result = prepared(&mut self.channel, self.deprecate_eof).await;
        self.settle(result)
    }

    /// Runs a prepared statement and reads all its results, keeping none.
    pub async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, Error> {
        self.begin_execute(statement, values)?;
        self.exchange(None, None).await
    }

    fn begin_execute(&mut self, statement: &Statement, values: &[Value<'_>]) -> Result<(), Error> {
        if values.len() != statement.parameters() {
            return Err(Error::Parameters {
                expected: statement.parameters(),
                given: values.len(),
            });
        }
        self.begin(COM_STMT_EXECUTE)?;
        put_execute(statement.id, values, &mut self.channel.out);
        Ok(())
    }

    /// Runs a prepared statement and keeps its rows in `fetched`, whose memory is used again; of several sets of
    /// rows the last one is kept.
    ///
    /// Beyond 64 MiB the connection is given up.
    pub async fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        fetched: &mut Fetched,
    ) -> Result<Outcome, Error> {
        self.begin_execute(statement, values)?;
        fetched.clear();
        self.exchange(None, Some(fetched)).await
    }

    /// Has the server forget a statement. The server does not answer.
    pub async fn close_statement(&mut self, statement: Statement) -> Result<(), Error> {
        self.begin(COM_STMT_CLOSE)?;
        self.channel
            .out
            .extend_from_slice(&statement.id.to_le_bytes());
        let result = self.channel.send("closing a prepared statement").await;
        self.settle(result)
    }
}

fn put_execute(id: u32, values: &[Value<'_>], out: &mut Vec<u8>) {
    out.extend_from_slice(&id.to_le_bytes());
    // No cursor; one iteration.
    out.extend_from_slice(&[0, 1, 0, 0, 0]);
    if values.is_empty() {
        return;
    }
    for eight in values.chunks(8) {
        let bits = eight.iter().enumerate();
        out.push(bits.fold(0, |byte, (bit, value)| {
            byte | u8::from(*value == Value::Null) << bit
        }));
    }
    // The types follow.
    out.push(1);
    for value in values {
        out.extend_from_slice(&value.wire_type());
    }
    for value in values {
        value.put(out);
    }
}

/// Sends the statement and reads what the server prepared, skipping what it says of parameters and columns.
async fn prepared(channel: &mut Channel, deprecate_eof: bool) -> Result<Statement, Error> {
    const DURING: &str = "preparing a statement";
    channel.send(DURING).await?;
    let range = channel.packet(DURING).await?;
    let payload = channel.packets.payload(range);
    if payload.first() == Some(&0xff) {
        return Err(server_error(payload));
    }
    let (statement, columns) = parse_prepared(payload).ok_or(Error::Malformed {
        what: "prepared statement",
    })?;
    for definitions in [statement.parameters, columns] {
        if definitions > 0 {
            let end = u32::from(!deprecate_eof);
            for _ in 0..u32::from(definitions) + end {
                channel.packet(DURING).await?;
            }
        }
    }
    Ok(statement)
}

fn parse_prepared(payload: &[u8]) -> Option<(Statement, u16)> {
    let mut fields = Fields(payload);
    (fields.u8()? == 0).then_some(())?;
    let id = fields.u32()?;
    let columns = fields.u16()?;
    let parameters = fields.u16()?;
    Some((Statement { id, parameters }, columns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn execute_with_one_integer_is_known_byte_by_byte() {
        let mut out = Vec::new();
        put_execute(3, &[Value::Int(0x0102)], &mut out);
        let expected = [
            3, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0, 2, 1, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn nulls_are_bits() {
        let mut out = Vec::new();
        let mut values = [Value::Null; 10];
        values[1] = Value::Bytes(b"x");
        values[9] = Value::Uint(1);
        put_execute(1, &values, &mut out);
        assert_eq!(out[9..11], [0b1111_1101, 0b01]);
        assert_eq!(out[12 + 20..], [1, b'x', 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn without_parameters_nothing_follows() {
        let mut out = Vec::new();
        put_execute(1, &[], &mut out);
        assert_eq!(out, [1, 0, 0, 0, 0, 1, 0, 0, 0]);
    }
}
