//! `--only-print`: prints all statements, without a server.

use std::{
    io::{self, Write},
    time::Duration,
};

use benchmarks::slap::{Engine, Statement, layout::TestReport};

use super::{
    main_connection::{create_schema, drop_schema, set_engine},
    rounds::print_report,
    settings::{Output, Settings},
    system::run_command,
};
use crate::output::unless_closed;

/// Placeholder for a key of the server, as in mysqlslap.
const KEY: &[u8] = b"796c4422-1d94-102a-9d6d-00e0812d";

/// Prints all statements in the order of execution, until the reader closes the pipe.
pub(super) fn print(settings: &Settings) -> anyhow::Result<()> {
    match print_all(settings).map_err(anyhow::Error::downcast::<io::Error>) {
        Err(Ok(error)) => Ok(unless_closed(Err(error))?),
        Err(Err(other)) => Err(other),
        Ok(()) => Ok(()),
    }
}

fn print_all(settings: &Settings) -> anyhow::Result<()> {
    let mut out = StatementSink {
        to: crate::output::data(),
        sql: Vec::new(),
    };
    for engine in settings.engines_or_none() {
        for clients in &settings.concurrency {
            let mut rounds = Vec::new();
            for _ in 0..settings.iterations {
                let started = reactor::system_now();
                print_round(settings, engine, *clients, &mut out)?;
                rounds.push(reactor::system_now() - started);
            }
            if matches!(settings.output, Output::Csv(_)) {
                out.to.flush()?;
                print_report(settings, &report(settings, engine, *clients, rounds))?;
            }
        }
        if settings.makes_schema() && !settings.no_drop {
            out.text(&drop_schema(&settings.schema))?;
        }
    }
    Ok(out.to.flush()?)
}

/// The CSV line, which the originals print here, too: its seconds are those of printing.
fn report(
    settings: &Settings,
    engine: Option<&Engine>,
    clients: u32,
    rounds: Vec<Duration>,
) -> TestReport {
    let (share, _) = settings.per_client(clients).unwrap_or_default();
    TestReport {
        engine: engine.map(|engine| engine.name.clone()),
        load_type: settings.load_type.clone(),
        rounds,
        clients: clients.into(),
        queries_per_client: share,
        failed: 0,
        more: None,
    }
}

fn print_round(
    settings: &Settings,
    engine: Option<&Engine>,
    clients: u32,
    out: &mut StatementSink<impl Write>,
) -> anyhow::Result<()> {
    if settings.makes_schema() {
        if !settings.no_drop {
            out.text(&drop_schema(&settings.schema))?;
        }
        out.text(&create_schema(&settings.schema))?;
        out.text(&format!("use {}", settings.schema))?;
        let set = engine.and_then(|engine| set_engine(settings.dialect, engine));
        if let Some(statement) = set {
            out.text(&statement)?;
        }
        let mut suffix = settings.create_suffix(engine);
        for statement in settings.tables.statements() {
            out.statement(statement, suffix.as_bytes())?;
            suffix.clear();
        }
    }
    if settings.commit_every > 0 {
        out.text("SET AUTOCOMMIT=0")?;
    }
    if let Some(command) = &settings.pre_system {
        out.to.flush()?;
        run_command(command, "pre_system")?;
    }
    for statement in &settings.pre_query {
        out.statement(statement, b"")?;
    }
    let (share, one_more) = settings.per_client(clients).unwrap_or_default();
    for client in 0..clients {
        print_client(settings, share + u64::from(client < one_more), out)?;
    }
    for statement in &settings.post_query {
        out.statement(statement, b"")?;
    }
    if let Some(command) = &settings.post_system {
        out.to.flush()?;
        run_command(command, "post_system")?;
    }
    Ok(())
}

fn print_client(
    settings: &Settings,
    count: u64,
    out: &mut StatementSink<impl Write>,
) -> io::Result<()> {
    let commits = settings.commit_every;
    if commits > 0 {
        out.text("SET AUTOCOMMIT=0")?;
    }
    for (number, statement) in (1..=count).zip(settings.queries.iter().cycle()) {
        out.statement(statement, b"")?;
        if commits > 0 && number % commits == 0 {
            out.text("COMMIT")?;
        }
    }
    if commits > 0 {
        out.text("COMMIT")?;
    }
    Ok(())
}

/// Output of the statements.
struct StatementSink<W> {
    to: W,
    /// Buffer for one statement, reused for the next one.
    sql: Vec<u8>,
}

impl<W: Write> StatementSink<W> {
    fn text(&mut self, sql: &str) -> io::Result<()> {
        writeln!(self.to, "{sql};")
    }

    fn statement(&mut self, statement: &Statement, suffix: &[u8]) -> io::Result<()> {
        self.sql.clear();
        statement.write(&mut self.sql, |sql| sql.extend_from_slice(KEY));
        self.sql.extend_from_slice(suffix);
        self.sql.extend_from_slice(b";\n");
        self.to.write_all(&self.sql)
    }
}
