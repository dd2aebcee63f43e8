//! A connection that sends rows of a dump.

use std::io;

use protocol::{Connection, Endpoint, LocalSource};

use crate::{
    bulk::{BulkError, Lines, refuses_local},
    dump_load::{
        columns::TableColumns,
        error::{DumpError, failed},
        queue::Queue,
    },
    own_data::{
        beginning,
        dump::{ColumnKind, insert_head, lines_of},
    },
    own_session::open_settled,
    populate::STATEMENT_LIMIT,
};

/// Times that rows are sent again which the server rolled back because of another connection.
const RETRIES_AT_MOST: u32 = 10;

/// Sends rows until there are no more; a failure ends everything. `index` is the connection's own in the queue.
pub(super) fn run(queue: &Queue<'_>, index: usize, endpoint: &Endpoint) {
    let result = reactor::block_on(work(queue, index, endpoint));
    if let Err(error) = result.unwrap_or_else(|error| Err(DumpError::Thread(error))) {
        queue.fail(error);
    }
}

async fn work(queue: &Queue<'_>, index: usize, endpoint: &Endpoint) -> Result<(), DumpError> {
    let open = async || {
        let opened = open_settled(endpoint, STATEMENT_LIMIT);
        let opened = queue.unless_failed(opened).await.transpose();
        opened.map_err(DumpError::Connection)
    };
    let Some(mut connection) = open().await? else {
        return Ok(());
    };
    let mut known_sets = 0;
    let mut takes_lines = true;
    let (mut buffer, mut lines) = (Vec::new(), Vec::new());
    while let Some((job, sets)) = queue.next(index, known_sets) {
        if known_sets > job.sets {
            // Settings that come behind these rows cannot be taken back.
            connection.close().await.map_err(DumpError::Connection)?;
            let Some(opened) = open().await? else {
                return Ok(());
            };
            connection = opened;
        }
        for set in &sets {
            let Some(sent) = queue.unless_failed(connection.query(set)).await else {
                return Ok(());
            };
            sent.map_err(|error| failed(&job.place, set, error))?;
        }
        known_sets = job.sets;
        let text = job.text.get(&mut buffer)?;
        let mut retries = 0;
        let as_lines = loop {
            let sent = send(&mut connection, text, &job.columns, takes_lines, &mut lines);
            // A dropped connection ends its statement.
            let Some(sent) = queue.unless_failed(sent).await else {
                return Ok(());
            };
            match sent {
                Err(SendError::NoLines) => takes_lines = false,
                Err(SendError::Server(error))
                    if error.is_retryable() && retries < RETRIES_AT_MOST =>
                {
                    retries += 1;
                }
                Err(SendError::Server(error)) => return Err(failed(&job.place, text, error)),
                Err(SendError::Refused(message)) => {
                    return Err(DumpError::Statement {
                        place: job.place,
                        statement: beginning(text),
                        message,
                        hint: None,
                    });
                }
                Ok(as_lines) => break as_lines,
            }
        };
        queue.finished(&job, as_lines);
    }
    connection.close().await.map_err(DumpError::Connection)
}

/// Why rows were not sent.
enum SendError {
    /// The server does not take LOAD DATA LOCAL.
    NoLines,
    Server(protocol::Error),
    Refused(String),
}

/// Sends the rows of a statement; true where they were sent as lines.
async fn send(
    connection: &mut Connection,
    text: &[u8],
    columns: &TableColumns,
    takes_lines: bool,
    lines: &mut Vec<u8>,
) -> Result<bool, SendError> {
    lines.clear();
    let columns = if takes_lines {
        convert(text, columns, lines)
    } else {
        None
    };
    let Some((table, columns)) = columns else {
        let sent = connection.query(text).await;
        return sent.map(|_| false).map_err(SendError::Server);
    };
    let statement = Lines {
        table: &table,
        columns: &columns,
        separator: b'\t',
        charset: Some("binary"),
        name: "dump",
    };
    let sent = statement
        .load_local(connection, &mut LinesSource(lines))
        .await;
    match sent {
        // What a session without strict mode adjusts, its INSERT would have adjusted, too.
        Ok(_) => Ok(true),
        Err(error) if refuses_local(&error) => Err(SendError::NoLines),
        Err(BulkError::Statement { source, .. }) => Err(SendError::Server(source)),
        Err(BulkError::Refused { message, .. }) => Err(SendError::Refused(message)),
    }
}

/// The rows of a statement as lines, with the table and its columns as SQL has them; `None` where the statement has to be
/// sent as it is.
fn convert(text: &[u8], columns: &TableColumns, lines: &mut Vec<u8>) -> Option<(String, String)> {
    let known = columns.kinds.as_ref()?;
    let head = insert_head(text)?;
    let chosen: Vec<&(String, ColumnKind)> = if head.columns.is_empty() {
        known.iter().collect()
    } else {
        let find = |name: &String| known.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        head.columns.iter().map(find).collect::<Option<_>>()?
    };
    let kinds: Vec<ColumnKind> = chosen.iter().map(|(_, kind)| *kind).collect();
    lines_of(&text[head.rows_at..], &kinds, true, lines)?;
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    let own = chosen
        .iter()
        .filter(|(_, kind)| *kind != ColumnKind::Computed);
    let columns: Vec<String> = own.map(|(name, _)| quoted(name)).collect();
    Some((quoted(&head.table), format!("({})", columns.join(", "))))
}

/// Lines that are sent at once.
struct LinesSource<'l>(&'l mut Vec<u8>);

impl LocalSource for LinesSource<'_> {
    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<bool> {
        buffer.extend_from_slice(self.0);
        Ok(false)
    }
}
