//! Asks for random rows through the mysql_async crate in a simple loop: what a program written with it pays per query.
//!
//! usage: `mysql_async_loop ENDPOINT CONNECTIONS QUERIES prepared|text ROWS`
//!
//! ENDPOINT is the path of a unix socket, or a port of 127.0.0.1. Logs in as user `peer` without a password into
//! database `sb`; one task a connection on one thread. Nothing is timed here: whoever started it does that.

use anyhow::{Context, Result, bail};
use mysql_async::{Conn, Opts, OptsBuilder, prelude::Queryable};

#[derive(Clone, Copy)]
struct Question {
    prepared: bool,
    rows: u32,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [endpoint, connections, queries, protocol, rows] = &arguments[..] else {
        bail!("usage: mysql_async_loop ENDPOINT CONNECTIONS QUERIES prepared|text ROWS");
    };
    let connections: u64 = connections.parse().context("CONNECTIONS")?;
    let queries: u64 = queries.parse().context("QUERIES")?;
    let question = Question {
        prepared: protocol == "prepared",
        rows: rows.parse().context("ROWS")?,
    };
    let login = OptsBuilder::default()
        .user(Some("peer"))
        .db_name(Some("sb"))
        .prefer_socket(false);
    let login: Opts = match endpoint.parse() {
        Ok(port) => login.ip_or_hostname("127.0.0.1").tcp_port(port).into(),
        Err(_) => login.socket(Some(endpoint)).into(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let tasks: Vec<_> = (0..connections)
            .map(|index| {
                let share = queries / connections + u64::from(index < queries % connections);
                tokio::spawn(repeat(login.clone(), question, share))
            })
            .collect();
        for task in tasks {
            task.await??;
        }
        Ok(())
    })
}

/// Asks `times` questions over a connection of its own.
async fn repeat(login: Opts, question: Question, times: u64) -> Result<()> {
    let mut connection = Conn::new(login).await?;
    let statement = match question.prepared {
        true => Some(connection.prep("SELECT c FROM sbtest1 WHERE id=?").await?),
        false => None,
    };
    for _ in 0..times {
        let row = fastrand::u32(1..=question.rows);
        let value: Option<String> = match &statement {
            Some(statement) => connection.exec_first(statement, (row,)).await?,
            None => {
                let text = format!("SELECT c FROM sbtest1 WHERE id={row}");
                connection.query_first(text).await?
            }
        };
        if value.is_none() {
            bail!("row {row} is not there");
        }
    }
    connection.disconnect().await?;
    Ok(())
}
