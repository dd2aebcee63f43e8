//! `dbdyno server snapshot`, `restore` and `snapshots`: copies of data directories, and their restoration.

use std::time::Duration;

use blame::{Blame, Blamed};
use protocol::Connection;
use runs::{Purpose, named_server, number, quoted, redo_log};
use serde_json::json;
use server::{Draft, Flavour, Lifetime, Method, Server, Snapshot};

use crate::{commands::server::table::aligned, output::Format, progress::Step};

#[derive(Debug, clap::Args)]
pub(super) struct SnapshotArgs {
    /// Name of the server
    name: String,
    /// Name of the snapshot [default: the current time]
    snapshot: Option<String>,
    /// Copy the data with mariadb-backup or MySQL's clone plugin while the server runs [default: stop the server for
    /// the copy]
    #[arg(long)]
    online: bool,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, clap::Args)]
pub(super) struct RestoreArgs {
    /// Name of the server
    name: String,
    /// Name of the snapshot
    snapshot: String,
    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

#[derive(Debug, clap::Args)]
pub(super) struct SnapshotsArgs {
    /// Name of the server
    name: String,
    /// Remove this snapshot
    #[arg(long, value_name = "SNAPSHOT")]
    remove: Option<String>,
    /// Output format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        conflicts_with = "remove"
    )]
    format: Format,
}

/// State of a running server before its data was copied.
struct TableCount {
    tables: Option<u64>,
}

pub(super) fn snapshot(args: &SnapshotArgs) -> Result<(), Blamed> {
    let mut server = named_server::open(&args.name)?;
    let name = match &args.snapshot {
        Some(name) => name.clone(),
        None => now(),
    };
    named_server::check_name("snapshot", &name)?;
    let to = server.named_snapshot(&name);
    let begin = reactor::system_now();
    let (snapshot, stopped) = match (server.is_running(), args.online) {
        (true, true) => (online(&server, &args.name, &to)?, None),
        (true, false) => {
            let (snapshot, stopped) = offline(&mut server, &args.name, &to)?;
            (snapshot, Some(stopped))
        }
        (false, true) => {
            let dir = server.dir().to_owned();
            return Err(server::Error::NotRunning { dir }.into());
        }
        (false, false) => {
            let _step = Step::spinner(format!("copying the data of {}", args.name));
            (server.snapshot(&to, None)?, None)
        }
    };
    let took = reactor::system_now() - begin;
    let size = units::bytes(snapshot.bytes());
    match args.format {
        Format::Json => {
            let mut value = described(&name, &snapshot)?;
            value["server"] = json!(args.name);
            value["took_s"] = json!(took.as_secs_f64());
            value["stopped_s"] = json!(stopped.map(|stopped| stopped.as_secs_f64()));
            println!("{value}");
        }
        Format::Text => {
            let stopped = stopped.map_or(String::new(), |stopped| {
                format!("; the server was down for {}", units::elapsed(stopped))
            });
            println!(
                "{}: snapshot {name}: {size} in {} files, {} on disk, {} in {}{stopped}",
                args.name,
                snapshot.files(),
                units::bytes(snapshot.disk_bytes()?),
                way(snapshot.method()),
                units::elapsed(took),
            );
        }
    }
    Ok(())
}

/// Restores a snapshot, starts the server and checks that its tables exist.
pub(super) fn restore(args: &RestoreArgs) -> Result<(), Blamed> {
    let mut server = named_server::open(&args.name)?;
    let path = server.existing_snapshot(&args.snapshot)?;
    let snapshot = Snapshot::open(&path)?;
    let was_running = server.is_running();
    if was_running {
        eprintln!("note: stopping {} and starting it again", args.name);
        let _step = Step::spinner(format!("stopping server {}", args.name));
        stop_for_a_while(&mut server, &args.name)?;
    }
    let begin = reactor::system_now();
    let step = Step::spinner(format!("restoring {}", args.snapshot));
    let restored = server.restore(&path);
    let method = restored.map_err(|error| after_failure(error, &mut server, args, was_running))?;
    let took = reactor::system_now() - begin;
    step.say(format!("starting server {}", args.name));
    if was_running {
        server.start_again(Lifetime::Detached)?;
    } else {
        server.start(Lifetime::Detached)?;
    }
    let tables = Purpose::Work.control(&server.endpoint(), async |connection| {
        if let Some(plugin) = snapshot.borrowed_plugin() {
            let sql = format!("uninstall plugin {plugin}");
            connection.query(sql.as_bytes()).await?;
        }
        Ok(count_tables(connection).await?.unwrap_or_default())
    });
    if !was_running {
        step.say(format!("stopping server {}", args.name));
        server.stop()?;
    }
    drop(step);
    let tables = tables?;
    if let Some(wanted) = snapshot.tables()
        && wanted != tables
    {
        let message = format!(
            "{}: has {tables} tables after the restore; the snapshot {} has {wanted}",
            args.name, args.snapshot
        );
        return Err(Blamed::new(Blame::Server, message));
    }
    match args.format {
        Format::Json => {
            let mut value = described(&args.snapshot, &snapshot)?;
            value["server"] = json!(args.name);
            value["method"] = json!(method);
            value["tables"] = json!(tables);
            value["took_s"] = json!(took.as_secs_f64());
            value["running"] = json!(was_running);
            println!("{value}");
        }
        Format::Text => println!(
            "{}: restored {}: {} in {} files, {} in {}, checked against its list; the server answers and has {tables} \
             tables{}",
            args.name,
            args.snapshot,
            units::bytes(snapshot.bytes()),
            snapshot.files(),
            way(method),
            units::elapsed(took),
            if was_running {
                ""
            } else {
                "; it is stopped, as it was before"
            },
        ),
    }
    Ok(())
}

/// The state after a failed restore: the previous data if it still exists, with the server as before, or no data.
fn after_failure(
    error: server::Error,
    server: &mut Server,
    args: &RestoreArgs,
    was_running: bool,
) -> Blamed {
    let error = Blamed::from(error);
    if server.has_data() {
        let started = was_running.then(|| server.start_again(Lifetime::Detached));
        return match started {
            Some(Err(failure)) => error.hint(format!("the server is stopped: {failure}")),
            Some(Ok(())) | None => error,
        };
    }
    error.hint(format!(
        "the server has no data now: dbdyno server restore {} {} restores the snapshot",
        args.name, args.snapshot
    ))
}

/// Lists the snapshots of a server, or removes one.
pub(super) fn snapshots(args: &SnapshotsArgs) -> Result<(), Blamed> {
    let server = named_server::open(&args.name)?;
    if let Some(name) = &args.remove {
        named_server::check_name("snapshot", name)?;
        return Ok(server.remove_snapshot(name)?);
    }
    let mut values = Vec::new();
    let head = ["SNAPSHOT", "TAKEN", "SIZE", "TABLES", "HOW"];
    let mut rows = vec![head.map(str::to_owned)];
    for named in server.snapshots()? {
        let snapshot = match named.snapshot {
            Ok(snapshot) => snapshot,
            Err(error) => {
                eprintln!("warning: {error}");
                continue;
            }
        };
        let tables = snapshot.tables();
        rows.push([
            named.name.clone(),
            timestamp(snapshot.taken_unix_s()),
            units::bytes(snapshot.bytes()),
            tables.map_or("-".to_owned(), |tables| tables.to_string()),
            snapshot.method().to_string(),
        ]);
        values.push(described(&named.name, &snapshot)?);
    }
    match args.format {
        Format::Json => println!("{}", json!(values)),
        Format::Text => print!("{}", aligned(&rows)),
    }
    Ok(())
}

/// Stops the server for the copy and starts it again, also after a failed copy.
fn offline(
    server: &mut Server,
    name: &str,
    to: &std::path::Path,
) -> Result<(Snapshot, Duration), Blamed> {
    let TableCount { tables } = ask(server)?;
    let step = Step::spinner(format!("stopping server {name}"));
    let begin = reactor::system_now();
    stop_for_a_while(server, name)?;
    step.say(format!("copying the data of {name}"));
    let snapshot = server.snapshot(to, tables);
    step.say(format!("starting server {name}"));
    server.start_again(Lifetime::Detached)?;
    Ok((snapshot?, reactor::system_now() - begin))
}

/// Stops a server that will be started again.
fn stop_for_a_while(server: &mut Server, name: &str) -> Result<(), Blamed> {
    server.stop().map_err(|error| {
        let again = server.is_running().then(|| {
            format!("it is still stopping: once it has stopped, dbdyno server start {name} starts it again")
        });
        Blamed::from(error).hint(again)
    })
}

/// Copies the data of a running server.
fn online(server: &Server, name: &str, to: &std::path::Path) -> Result<Snapshot, Blamed> {
    let TableCount { tables } = ask(server)?;
    let mut draft = server.draft_snapshot(to)?;
    let step = Step::spinner(format!("copying the data of {name} while it runs"));
    let method = match server.installation()?.flavour {
        Flavour::MariaDb => {
            server.back_up(&draft)?;
            Method::MariadbBackup
        }
        Flavour::MySql | Flavour::Percona => {
            clone(server, &mut draft)?;
            Method::Clone
        }
    };
    drop(step);
    Ok(draft.finish(method, tables)?)
}

/// Counts the server's tables before its data is copied. A disabled redo log is enabled first: otherwise the first
/// crash would lose the restored data.
fn ask(server: &Server) -> Result<TableCount, Blamed> {
    Purpose::Work.control(&server.endpoint(), async |connection| {
        if redo_log::bring_back(connection).await? {
            eprintln!("note: the redo log was switched off; it is on now");
        }
        Ok(TableCount {
            tables: count_tables(connection).await?,
        })
    })
}

/// Executes CLONE LOCAL into the draft. A plugin installed for it is removed again.
fn clone(server: &Server, draft: &mut Draft) -> Result<(), Blamed> {
    let directory = draft.data();
    let sql = format!(
        "clone local data directory = {}",
        quoted(&directory.to_string_lossy())
    );
    let installed = "select count(*) from information_schema.plugins where plugin_name = 'clone'";
    let cloned = Purpose::Work.control(&server.endpoint(), async |connection| {
        let was_there = number(connection, installed).await? == Some(1);
        if !was_there {
            connection
                .query(b"install plugin clone soname 'mysql_clone.so'")
                .await?;
            draft.borrow_plugin("clone");
        }
        let cloned = connection.query(sql.as_bytes()).await;
        if !was_there {
            connection.query(b"uninstall plugin clone").await?;
            eprintln!("note: installed the clone plugin for the copy and removed it again");
        }
        cloned.map(drop)
    });
    cloned.map_err(|error| {
        let hint = "CLONE needs MySQL 8.0.17 or later with its plugins; without --online the server is stopped for \
                    the copy";
        error.hint(hint.to_owned())
    })
}

/// Number of tables outside of the server's own schemas.
async fn count_tables(connection: &mut Connection) -> Result<Option<u64>, protocol::Error> {
    let sql = "select count(*) from information_schema.tables where table_type = 'BASE TABLE' and table_schema not in \
               ('mysql', 'sys', 'information_schema', 'performance_schema')";
    number(connection, sql).await
}

/// A snapshot as JSON.
fn described(name: &str, snapshot: &Snapshot) -> Result<serde_json::Value, Blamed> {
    Ok(json!({
        "snapshot": name,
        "path": snapshot.path(),
        "server_build": snapshot.build(),
        "taken_unix_s": snapshot.taken_unix_s(),
        "method": snapshot.method(),
        "files": snapshot.files(),
        "bytes": snapshot.bytes(),
        "disk_bytes": snapshot.disk_bytes()?,
        "tables": snapshot.tables(),
    }))
}

fn way(method: Method) -> &'static str {
    match method {
        Method::SharedBlocks => "copied by sharing blocks",
        Method::Copy => "copied",
        Method::MariadbBackup => "copied by mariadb-backup",
        Method::Clone => "copied by the clone plugin",
    }
}

/// The current time as a name: `20261121-203457`.
fn now() -> String {
    jiff::Timestamp::try_from(reactor::wall_now())
        .map(|now| now.strftime("%Y%m%d-%H%M%S").to_string())
        .unwrap_or_default()
}

/// `2026-11-21T20:34:57Z`
fn timestamp(unix_s: u64) -> String {
    i64::try_from(unix_s)
        .ok()
        .and_then(|unix_s| jiff::Timestamp::from_second(unix_s).ok())
        .map(|taken| taken.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}
