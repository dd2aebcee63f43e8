//! Prepared statements: preparing, executing and closing them.

use std::time::Duration;

use crate::{
    channel::{Channel, in_time},
    command::{COM_STMT_CLOSE, COM_STMT_EXECUTE, COM_STMT_PREPARE},
    connection::Connection,
    error::Error,
    fetched::{Column, Described, Fetched, name_of_column},
    lenenc::Fields,
    replies::server_error,
    row_sink::COLUMN,
    skim::Outcome,
    value::{Value, WireType},
};

/// A statement prepared by the server; valid only on its connection.
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
    /// Prepares a statement with `?` as placeholders.
    pub async fn prepare(&mut self, sql: &str) -> Result<Statement, Error> {
        self.begin(COM_STMT_PREPARE)?;
        self.channel.out.extend_from_slice(sql.as_bytes());
        let mut defined = Defined::default();
        let deprecate_eof = self.dialect.deprecate_eof;
        let limit = self.answer_limit();
        let exchange = prepared(&mut self.channel, deprecate_eof, &mut defined);
        let result = match limit {
            None => exchange.await,
            Some(limit) => Box::pin(in_time(limit, exchange)).await,
        };
        self.settle(&result);
        if let Ok(statement) = result {
            let known = self.known.of(statement.id);
            known.columns = defined.columns;
            known.names = defined.names;
        }
        result
    }

    /// The same within this time, on a connection whose other statements may take longer.
    pub async fn prepare_within(&mut self, sql: &str, limit: Duration) -> Result<Statement, Error> {
        let usual = self.limit_answers(Some(limit));
        let prepared = self.prepare(sql).await;
        self.limit_answers(usual);
        prepared
    }

    /// The names of the columns of a prepared statement; none for one without rows.
    pub fn column_names(&self, statement: &Statement) -> &[String] {
        self.known.names(statement.id)
    }

    /// Executes a prepared statement and reads all its results without keeping them.
    pub async fn execute(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
    ) -> Result<Outcome, Error> {
        self.run_prepared(statement, values, None).await
    }

    /// Executes a prepared statement and keeps its rows in `fetched`, whose memory is reused; of several sets of
    /// rows the last one is kept.
    ///
    /// If the answer exceeds 64 MiB, the connection is closed.
    pub async fn fetch(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        fetched: &mut Fetched,
    ) -> Result<Outcome, Error> {
        fetched.clear();
        self.run_prepared(statement, values, Some(fetched)).await
    }

    async fn run_prepared(
        &mut self,
        statement: &Statement,
        values: &[Value<'_>],
        rows: Option<&mut Fetched>,
    ) -> Result<Outcome, Error> {
        if values.len() != statement.parameters() {
            return Err(Error::Parameters {
                expected: statement.parameters(),
                given: values.len(),
            });
        }
        self.begin(COM_STMT_EXECUTE)?;
        let known = self.known.of(statement.id);
        let news = learn(&mut known.types, values);
        put_execute(statement.id, values, news, &mut self.channel.out);
        let result = if self.dialect.cache_metadata || rows.is_some() {
            let mut columns = std::mem::take(&mut known.columns);
            let mut described = Described {
                columns: &mut columns,
                rows,
            };
            let result = self.exchange(None, Some(&mut described)).await;
            self.known.of(statement.id).columns = columns;
            result
        } else {
            self.exchange(None, None).await
        };
        if result.is_err() {
            // The server may have failed before it stored the types.
            self.known.of(statement.id).types.clear();
        }
        result
    }

    /// Closes a statement on the server. The server does not answer.
    pub async fn close_statement(&mut self, statement: Statement) -> Result<(), Error> {
        self.begin(COM_STMT_CLOSE)?;
        self.channel
            .out
            .extend_from_slice(&statement.id.to_le_bytes());
        self.known.forget(statement.id);
        let result = self.channel.send("closing a prepared statement").await;
        self.settle(&result);
        result
    }
}

/// The state of a connection's prepared statements that client and server share, kept for all executions.
#[derive(Debug, Default)]
pub(crate) struct StatementCache {
    /// The statements in the order of their ids.
    statements: Vec<KnownStatement>,
}

#[derive(Debug)]
struct KnownStatement {
    id: u32,
    /// The types of the parameters, which the server stores; empty before they were sent.
    types: Vec<WireType>,
    /// The columns of the server's last definition.
    columns: Vec<Column>,
    /// Their names when it was prepared.
    names: Vec<String>,
}

/// The columns in the answer to a statement that is prepared.
#[derive(Debug, Default)]
struct Defined {
    columns: Vec<Column>,
    names: Vec<String>,
}

impl StatementCache {
    fn of(&mut self, id: u32) -> &mut KnownStatement {
        let at = match self.statements.binary_search_by_key(&id, |known| known.id) {
            Ok(at) => at,
            Err(at) => {
                let known = KnownStatement {
                    id,
                    types: Vec::new(),
                    columns: Vec::new(),
                    names: Vec::new(),
                };
                self.statements.insert(at, known);
                at
            }
        };
        &mut self.statements[at]
    }

    fn names(&self, id: u32) -> &[String] {
        let found = self.statements.binary_search_by_key(&id, |known| known.id);
        found.map_or(&[], |at| self.statements[at].names.as_slice())
    }

    fn forget(&mut self, id: u32) {
        self.statements.retain(|known| known.id != id);
    }
}

/// Stores the types of these values; returns them if they differ from those that the server has.
fn learn<'a>(types: &'a mut Vec<WireType>, values: &[Value<'_>]) -> Option<&'a [WireType]> {
    // A bit marks a NULL, so its type does not matter.
    let fits = |(value, known): (&Value<'_>, &WireType)| {
        *value == Value::Null || value.wire_type() == *known
    };
    if types.len() == values.len() && values.iter().zip(&*types).all(fits) {
        return None;
    }
    types.clear();
    types.extend(values.iter().map(|value| value.wire_type()));
    Some(types)
}

/// Appends the rest of the command; `types` if the server needs them.
fn put_execute(id: u32, values: &[Value<'_>], types: Option<&[WireType]>, out: &mut Vec<u8>) {
    let [a, b, c, d] = id.to_le_bytes();
    // No cursor; one iteration.
    out.extend_from_slice(&[a, b, c, d, 0, 1, 0, 0, 0]);
    if values.is_empty() {
        return;
    }
    for eight in values.chunks(8) {
        let bits = eight.iter().enumerate();
        out.push(bits.fold(0, |byte, (bit, value)| {
            byte | u8::from(*value == Value::Null) << bit
        }));
    }
    // Whether the types follow.
    out.push(u8::from(types.is_some()));
    for kind in types.into_iter().flatten() {
        out.extend_from_slice(kind);
    }
    for value in values {
        value.put(out);
    }
}

/// Sends the statement and reads the server's answer, skipping the definitions of parameters.
async fn prepared(
    channel: &mut Channel,
    deprecate_eof: bool,
    defined: &mut Defined,
) -> Result<Statement, Error> {
    const DURING: &str = "preparing a statement";
    channel.send(DURING).await?;
    let range = channel.packet(DURING).await?;
    let payload = channel.packets.payload(range);
    if payload.first() == Some(&0xff) {
        return Err(server_error(payload));
    }
    let (statement, column_count) = parse_prepared(payload).ok_or(Error::Malformed {
        what: "prepared statement",
    })?;
    // With EOF packets they decide: some servers announce more parameters than they define.
    let mut left = statement.parameters;
    while left > 0 {
        let range = channel.packet(DURING).await?;
        if is_eof(channel.packets.payload(range)) {
            break;
        }
        left -= u16::from(deprecate_eof);
    }
    for _ in 0..column_count {
        let range = channel.packet(DURING).await?;
        let payload = channel.packets.payload(range);
        defined.columns.push(Column::parse(payload).ok_or(COLUMN)?);
        let name = name_of_column(payload).ok_or(COLUMN)?;
        defined
            .names
            .push(String::from_utf8_lossy(name).into_owned());
    }
    if column_count > 0 && !deprecate_eof {
        channel.packet(DURING).await?;
    }
    Ok(statement)
}

/// Whether a packet ends a group of definitions. Source: MySQL's protocol, EOF_Packet.
fn is_eof(payload: &[u8]) -> bool {
    payload.first() == Some(&0xfe) && payload.len() < 9
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
        let mut types = Vec::new();
        let values = [Value::Int(0x0102)];
        let cases: [(&[u8], &str); 2] = [
            (&[0, 1, 8, 0], "the types are sent"),
            (&[0, 0], "and are known from then on"),
        ];
        for (middle, why) in cases {
            let mut out = Vec::new();
            put_execute(3, &values, learn(&mut types, &values), &mut out);
            let expected = [
                &[3, 0, 0, 0, 0, 1, 0, 0, 0],
                middle,
                &[2, 1, 0, 0, 0, 0, 0, 0],
            ];
            assert_eq!(out, expected.concat(), "{why}");
        }
    }

    #[test]
    fn types_are_sent_when_the_server_does_not_know_them() {
        const INT: WireType = [8, 0];
        const UINT: WireType = [8, 0x80];
        const NULL: WireType = [6, 0];
        let mut known = StatementCache::default();
        let (int, uint, null) = (Value::Int(1), Value::Uint(1), Value::Null);
        let steps: [(u32, [Value<'_>; 2], Option<[WireType; 2]>); 9] = [
            (1, [int, null], Some([INT, NULL])),
            (1, [int, null], None),
            (1, [null, null], None),
            (1, [int, uint], Some([INT, UINT])),
            (1, [null, uint], None),
            (2, [null, uint], Some([NULL, UINT])),
            (1, [int, uint], None),
            (1, [uint, uint], Some([UINT, UINT])),
            (2, [int, uint], Some([INT, UINT])),
        ];
        for (id, values, expected) in steps {
            let news = learn(&mut known.of(id).types, &values).map(<[WireType]>::to_vec);
            assert_eq!(
                news,
                expected.map(|types| types.to_vec()),
                "{id} {values:?}"
            );
        }
        known.forget(1);
        assert!(learn(&mut known.of(1).types, &[uint, uint]).is_some());
        assert!(learn(&mut known.of(2).types, &[int, uint]).is_none());
    }

    #[test]
    fn nulls_are_bits() {
        let mut out = Vec::new();
        let mut values = [Value::Null; 10];
        values[1] = Value::Bytes(b"x");
        values[9] = Value::Uint(1);
        put_execute(1, &values, None, &mut out);
        assert_eq!(out[9..12], [0b1111_1101, 0b01, 0]);
        assert_eq!(out[12..], [1, b'x', 1, 0, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn without_parameters_nothing_follows() {
        let mut out = Vec::new();
        put_execute(1, &[], learn(&mut Vec::new(), &[]), &mut out);
        assert_eq!(out, [1, 0, 0, 0, 0, 1, 0, 0, 0]);
    }
}
