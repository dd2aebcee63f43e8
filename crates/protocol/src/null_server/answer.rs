//! The null server's answers to the commands of one client.

use super::{
    command::Command,
    question::{QueryContext, Set, global_assignments},
    request::{self, Request},
    result::{Format, Packets, column_names},
    shared_state::SharedState,
};
use crate::{
    outgoing_greeting::Login,
    payloads::{AUTOCOMMIT, put_end_of_rows, put_error, put_ok},
    replies::MORE_RESULTS,
};

const UPDATED: &str = "Rows matched: 1  Changed: 1  Warnings: 0";

/// The kind of answer given to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// No answer, or one that the configured behaviour does not affect.
    Other,
    /// The answer to a statement of the load, as a word for the log.
    Statement(&'static str),
    /// The name of the file whose data the client has to send.
    FileName,
    /// The client closes the connection.
    Close,
}

struct Prepared {
    sql: Box<[u8]>,
    /// The answer is rows with this number of columns, as for nearly all statements.
    columns: Option<u16>,
}

/// The state of one client that affects its answers.
pub(super) struct Responder {
    connection_id: u32,
    login: Login,
    prepared: Vec<Option<Prepared>>,
}

impl Responder {
    pub(super) fn new(connection_id: u32, login: Login) -> Self {
        Self {
            connection_id,
            login,
            prepared: Vec::new(),
        }
    }

    pub(super) fn deprecate_eof(&self) -> bool {
        self.login.deprecate_eof
    }

    pub(super) fn prepared(&self) -> usize {
        self.prepared.iter().flatten().count()
    }

    /// Appends the answer to a command.
    pub(super) fn answer(
        &mut self,
        command: Command<'_>,
        shared: &mut SharedState,
        packets: &mut Packets<'_>,
    ) -> Reply {
        match command {
            Command::Quit => return Reply::Close,
            Command::Query(sql) => return self.query(sql, shared, packets),
            Command::Execute(id) => return self.execute(id, shared, packets),
            Command::Prepare(sql) => self.prepare(sql, shared, packets),
            Command::CloseStatement(id) => self.close(id, shared),
            Command::ResetStatement(id) => match self.statement(id) {
                Some(_) => done(packets),
                None => unknown_statement(packets),
            },
            Command::LongData => {}
            Command::InitDb(database) => {
                self.login.database = Some(database.to_vec());
                done(packets);
            }
            Command::SetOption(option) => {
                self.login.multi_statements = option == 0;
                end_of_rows(packets);
            }
            Command::FieldList => end_of_rows(packets),
            Command::Statistics => {
                let statements = shared.counters().statements;
                packets.push(|out| {
                    out.extend_from_slice(format!("Questions: {statements}").as_bytes())
                });
            }
            Command::ResetConnection | Command::ChangeUser => {
                shared.closed_statements(self.prepared());
                self.prepared.clear();
                done(packets);
            }
            Command::Ping => done(packets),
            Command::Malformed => error(packets, 1835, "HY000", "Malformed communication packet"),
            Command::Unknown => error(packets, 1047, "08S01", "Unknown command"),
        }
        Reply::Other
    }

    fn query(&mut self, sql: &[u8], shared: &mut SharedState, packets: &mut Packets<'_>) -> Reply {
        if !(self.login.multi_statements && sql.contains(&b';')) {
            return self.run(Request::of(sql), Format::Text, AUTOCOMMIT, shared, packets);
        }
        let mut all = Reply::Other;
        let mut rest = sql;
        loop {
            let (first, more) = request::split_first(rest);
            let status = match more {
                [] => AUTOCOMMIT,
                _ => AUTOCOMMIT | MORE_RESULTS,
            };
            let said = self.run(Request::of(first), Format::Text, status, shared, packets);
            if said != Reply::Other {
                all = said;
            }
            // Nothing follows an error nor, in this server, the data of a file.
            if more.is_empty() || matches!(said, Reply::Statement("error") | Reply::FileName) {
                return all;
            }
            rest = more;
        }
    }

    fn execute(&mut self, id: u32, shared: &mut SharedState, packets: &mut Packets<'_>) -> Reply {
        let Some(prepared) = self.statement(id) else {
            unknown_statement(packets);
            return Reply::Other;
        };
        shared.counters_mut().executes += 1;
        if let Some(columns) = prepared.columns {
            return rows(columns, Format::Binary, AUTOCOMMIT, shared, packets);
        }
        // The statement may change the state of the client.
        let sql = prepared.sql.clone();
        self.run(
            Request::of(&sql),
            Format::Binary,
            AUTOCOMMIT,
            shared,
            packets,
        )
    }

    /// Executes one statement.
    fn run(
        &mut self,
        request: Request<'_>,
        format: Format,
        status: u16,
        shared: &mut SharedState,
        packets: &mut Packets<'_>,
    ) -> Reply {
        match request {
            Request::Rows { columns } => return rows(columns, format, status, shared, packets),
            Request::Change { rows, update } => {
                shared.counters_mut().statements += 1;
                let info = if update { UPDATED } else { "" };
                packets.push(|out| put_ok(rows, status, info, out));
                return Reply::Statement("ok");
            }
            Request::File(name) => {
                shared.counters_mut().statements += 1;
                packets.push(|out| {
                    out.push(0xfb);
                    out.extend_from_slice(name);
                });
                return Reply::FileName;
            }
            Request::Values(_) | Request::Show(_) | Request::Report => {
                match self.set(request, shared) {
                    Ok(set) => push_set(&set, format, status, packets),
                    Err(message) => {
                        error(packets, 1193, "HY000", &message);
                    }
                }
            }
            Request::Use(database) => {
                self.login.database = Some(database.to_vec());
                packets.push(|out| put_ok(0, status, "", out));
            }
            Request::SetGlobal(assignments) => {
                for (name, value) in global_assignments(assignments) {
                    shared.identity_mut().change(&name, value);
                }
                packets.push(|out| put_ok(0, status, "", out));
            }
            Request::Done => packets.push(|out| put_ok(0, status, "", out)),
        }
        Reply::Other
    }

    /// The answer to a query about the server itself.
    fn set(&self, request: Request<'_>, shared: &SharedState) -> Result<Set, String> {
        let asker = QueryContext {
            identity: shared.identity(),
            counters: shared.counters(),
            connection_id: self.connection_id,
            user: &self.login.user,
            database: self.login.database.as_deref(),
        };
        match request {
            Request::Values(list) => asker
                .values(list)
                .map_err(|unknown| format!("Unknown system variable '{}'", unknown.0)),
            Request::Show(what) => Ok(asker.show(what)),
            _ => Ok(Set::empty(&["Message"])),
        }
    }

    fn prepare(&mut self, sql: &[u8], shared: &mut SharedState, packets: &mut Packets<'_>) {
        let request = Request::of(sql);
        let columns = match request {
            Request::Rows { columns } => column_names(columns),
            Request::Values(_) | Request::Show(_) | Request::Report => {
                match self.set(request, shared) {
                    Ok(set) => set.names,
                    Err(message) => return error(packets, 1193, "HY000", &message),
                }
            }
            Request::File(_) => {
                let message =
                    "This command is not supported in the prepared statement protocol yet";
                return error(packets, 1295, "HY000", message);
            }
            Request::Change { .. } | Request::Use(_) | Request::SetGlobal(_) | Request::Done => {
                Vec::new()
            }
        };
        let Ok(parameters) = u16::try_from(request::parameters(sql)) else {
            let message = "Prepared statement contains too many placeholders";
            return error(packets, 1390, "HY000", message);
        };
        if !shared.prepared_one() {
            let message = "Can't create more than max_prepared_stmt_count statements";
            return error(packets, 1461, "42000", message);
        }
        let id = self.keep(Prepared {
            sql: sql.into(),
            columns: match request {
                Request::Rows { columns } => Some(columns),
                _ => None,
            },
        });
        packets.push(|out| {
            out.push(0);
            out.extend_from_slice(&id.to_le_bytes());
            out.extend_from_slice(&(columns.len() as u16).to_le_bytes());
            out.extend_from_slice(&parameters.to_le_bytes());
            out.extend_from_slice(&[0, 0, 0]);
        });
        if parameters > 0 {
            packets.push_columns((0..parameters).map(|_| &b"?"[..]), 0);
        }
        if !columns.is_empty() {
            let length = shared.column_length();
            packets.push_columns(columns.iter().map(Vec::as_slice), length);
        }
    }

    /// Stores a statement in the first free slot; returns its number, from 1.
    fn keep(&mut self, prepared: Prepared) -> u32 {
        let free = self.prepared.iter().position(Option::is_none);
        let index = free.unwrap_or(self.prepared.len());
        match free {
            Some(free) => self.prepared[free] = Some(prepared),
            None => self.prepared.push(Some(prepared)),
        }
        index as u32 + 1
    }

    fn statement(&self, id: u32) -> Option<&Prepared> {
        self.prepared.get((id as usize).checked_sub(1)?)?.as_ref()
    }

    fn close(&mut self, id: u32, shared: &mut SharedState) {
        let index = (id as usize).checked_sub(1);
        let place = index.and_then(|index| self.prepared.get_mut(index));
        if place.and_then(Option::take).is_some() {
            shared.closed_statements(1);
        }
    }
}

/// Appends generated rows.
fn rows(
    columns: u16,
    format: Format,
    status: u16,
    shared: &mut SharedState,
    packets: &mut Packets<'_>,
) -> Reply {
    shared.counters_mut().statements += 1;
    if shared.push_rows(columns, format, status, packets) {
        Reply::Statement("rows")
    } else {
        error(
            packets,
            1105,
            "HY000",
            "a result of that many columns is too long for this null server",
        );
        Reply::Statement("error")
    }
}

fn push_set(set: &Set, format: Format, status: u16, packets: &mut Packets<'_>) {
    let rows = set.rows.iter().map(|row| row.iter().map(Option::as_deref));
    let length = set.length().saturating_mul(4);
    packets.push_set(&set.names, length, rows, format, status);
}

fn done(packets: &mut Packets<'_>) {
    packets.push(|out| put_ok(0, AUTOCOMMIT, "", out));
}

fn end_of_rows(packets: &mut Packets<'_>) {
    let deprecate_eof = packets.deprecate_eof;
    packets.push(|out| put_end_of_rows(AUTOCOMMIT, deprecate_eof, out));
}

fn error(packets: &mut Packets<'_>, number: u16, sqlstate: &str, message: &str) {
    packets.push(|out| put_error(number, sqlstate, message, out));
}

fn unknown_statement(packets: &mut Packets<'_>) {
    error(packets, 1243, "HY000", "Unknown prepared statement handler");
}
