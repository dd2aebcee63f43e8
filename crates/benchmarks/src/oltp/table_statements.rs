//! Statements on every table of a workload, over several connections: read into the server's memory, dropped.

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use blame::{Blame, Blamed};
use protocol::Endpoint;
use runs::{Context, Purpose};

use crate::oltp::{benchmark::OltpTables, prewarm::Prewarm, table::drop_statement};

/// Progress of the statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableProgress {
    /// Those on the table with this number begin.
    Begun(u32),
    /// Those on this number of tables have ended.
    Ended(u32),
}

/// Receives the progress; called by several threads.
pub type TableListener<'a> = &'a (dyn Fn(TableProgress) + Sync);

impl OltpTables {
    /// Reads the tables into the server's memory, over at most this number of connections.
    pub fn prewarm(
        &self,
        endpoint: &Endpoint,
        connections: u32,
        context: &Context,
        listener: TableListener<'_>,
    ) -> Result<(), Blamed> {
        let prewarm = Prewarm {
            table_size: self.settings.table_size,
        };
        let statements = TableStatements {
            session: &Prewarm::SESSION,
            of_table: &|table| prewarm.statements(table).into(),
        };
        statements.execute(self.count(), endpoint, connections, context, listener)
    }

    /// Drops the tables, over at most this number of connections.
    pub fn drop_all(
        &self,
        endpoint: &Endpoint,
        connections: u32,
        context: &Context,
        listener: TableListener<'_>,
    ) -> Result<(), Blamed> {
        let statements = TableStatements {
            session: &[],
            of_table: &|table| vec![drop_statement(table)],
        };
        statements.execute(self.count(), endpoint, connections, context, listener)
    }
}

struct TableStatements<'a> {
    /// Executed first on every connection.
    session: &'a [&'a str],
    of_table: &'a (dyn Fn(u32) -> Vec<String> + Sync),
}

impl TableStatements<'_> {
    /// Executes them on the tables 1 to `tables`; the first error ends all of them.
    fn execute(
        &self,
        tables: u32,
        endpoint: &Endpoint,
        connections: u32,
        context: &Context,
        listener: TableListener<'_>,
    ) -> Result<(), Blamed> {
        let next = AtomicU32::new(1);
        let work = || -> Result<(), Blamed> {
            Purpose::Work.control(endpoint, async |connection| {
                for sql in self.session {
                    connection.query(sql.as_bytes()).await?;
                }
                loop {
                    let table = next.fetch_add(1, Ordering::Relaxed);
                    if table > tables || context.interrupt.is_raised() {
                        return Ok(());
                    }
                    listener(TableProgress::Begun(table));
                    for sql in (self.of_table)(table) {
                        connection.query(sql.as_bytes()).await?;
                    }
                    listener(TableProgress::Ended(table));
                }
            })
        };
        let results = thread::scope(|scope| {
            let threads = 0..connections.clamp(1, tables.max(1));
            let threads: Vec<_> = threads.map(|_| scope.spawn(work)).collect();
            let joined = threads.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect::<Vec<_>>()
        });
        for result in results {
            result?;
        }
        if context.interrupt.is_raised() {
            return Err(Blamed::new(Blame::Interrupted, "interrupted"));
        }
        Ok(())
    }
}
