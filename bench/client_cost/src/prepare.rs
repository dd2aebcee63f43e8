//! Tables made and filled: dbdyno and sysbench beside what the server itself takes for the same rows.

use std::{fmt::Write, path::Path, process::Command};

use anyhow::{Context, Result};

use crate::{
    cell::Transport,
    finished::Finished,
    progress::Progress,
    servers::MariaDb,
    target::Target,
    tool::{Programs, ROWS, sysbench_on},
    verdict::Bound,
};

const TABLES: u32 = 4;

/// Who fills the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Filler {
    Dbdyno,
    Sysbench,
    /// Ready files by LOAD DATA over one connection a table, then the index: the lower bound.
    ReadyFiles,
}

const FILLERS: [Filler; 3] = [Filler::Dbdyno, Filler::Sysbench, Filler::ReadyFiles];

/// Seconds of each filler, one a round.
#[derive(Debug, Default)]
struct Seconds {
    dbdyno: Vec<f64>,
    sysbench: Vec<f64>,
    ready_files: Vec<f64>,
}

/// Measures all fillers `rounds` times, in random order within each round. The tables are left behind.
pub(crate) fn measure(
    programs: &Programs,
    server: &MariaDb,
    work: &Path,
    rounds: usize,
    random: &mut fastrand::Rng,
) -> Result<Vec<Target>> {
    let mut progress = Progress::new(FILLERS.len() * rounds);
    write_files(server, work)?;
    let mut seconds = Seconds::default();
    for _ in 0..rounds {
        let mut order = FILLERS;
        random.shuffle(&mut order);
        for filler in order {
            progress.step(&format!("prepare, {filler:?}"));
            drop_tables(server)?;
            let wall_s = Finished::success_of(command(filler, programs, server, work))?
                .usage
                .wall_s;
            check(server).with_context(|| format!("{filler:?}"))?;
            match filler {
                Filler::Dbdyno => seconds.dbdyno.push(wall_s),
                Filler::Sysbench => seconds.sysbench.push(wall_s),
                Filler::ReadyFiles => seconds.ready_files.push(wall_s),
            }
        }
    }
    progress.finish();
    let paired = |a: &[f64], b: &[f64]| -> Vec<(f64, f64)> {
        a.iter().copied().zip(b.iter().copied()).collect()
    };
    let tables = format!("prepare of {TABLES} tables of {ROWS} rows");
    Ok(vec![
        Target::of_pairs(
            format!("{tables}: speed against sysbench, {TABLES} connections each"),
            Bound::AtLeast(1.8),
            &paired(&seconds.sysbench, &seconds.dbdyno),
        ),
        Target::of_pairs(
            format!("{tables}: time against ready files by LOAD DATA"),
            Bound::AtMost(1.15),
            &paired(&seconds.dbdyno, &seconds.ready_files),
        ),
    ])
}

/// The files that the bound is loaded from: what sysbench made, in primary-key order.
fn write_files(server: &MariaDb, work: &Path) -> Result<()> {
    drop_tables(server)?;
    Finished::success_of(sysbench(server))?;
    for table in 1..=TABLES {
        let mut dump = Command::new("mariadb");
        dump.args([
            "--no-defaults",
            "--user=peer",
            "--batch",
            "--skip-column-names",
            "--quick",
        ])
        .arg("--socket")
        .arg(&server.address().socket)
        .args([
            "sb",
            "-e",
            &format!("SELECT * FROM sbtest{table} ORDER BY id"),
        ]);
        let rows = Finished::success_of(dump)?.stdout;
        std::fs::write(work.join(format!("sbtest{table}.tsv")), rows)?;
    }
    Ok(())
}

fn drop_tables(server: &MariaDb) -> Result<()> {
    let names: Vec<String> = (1..=TABLES)
        .map(|table| format!("sb.sbtest{table}"))
        .collect();
    server.ask(&format!("DROP TABLE IF EXISTS {}", names.join(", ")))?;
    Ok(())
}

fn command(filler: Filler, programs: &Programs, server: &MariaDb, work: &Path) -> Command {
    match filler {
        Filler::Sysbench => sysbench(server),
        Filler::ReadyFiles => ready_files(server, work),
        Filler::Dbdyno => {
            let mut command = programs.oltp("point_select", "prepare", TABLES);
            command.arg(format!("--connections={TABLES}"));
            command.arg("--socket").arg(&server.address().socket);
            command
        }
    }
}

fn sysbench(server: &MariaDb) -> Command {
    let mut command = sysbench_on("oltp_point_select", server.address(), Transport::Unix);
    command
        .arg(format!("--tables={TABLES}"))
        .arg(format!("--table-size={ROWS}"))
        .arg(format!("--threads={TABLES}"))
        .arg("prepare");
    command
}

/// One client a table, all at once.
fn ready_files(server: &MariaDb, work: &Path) -> Command {
    let mut script = String::new();
    for table in 1..=TABLES {
        let _ = write!(
            script,
            "mariadb --no-defaults --user=peer --local-infile=1 --socket=\"$1\" sb -e \"\
             CREATE TABLE sbtest{table} (id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, \
             c CHAR(120) NOT NULL DEFAULT '', pad CHAR(60) NOT NULL DEFAULT '', PRIMARY KEY (id)) ENGINE=InnoDB; \
             LOAD DATA LOCAL INFILE '$2/sbtest{table}.tsv' INTO TABLE sbtest{table}; \
             CREATE INDEX k_{table} ON sbtest{table} (k)\" & "
        );
    }
    // `wait` alone would lose the clients' failures; the count of rows is checked afterwards.
    script.push_str("wait");
    let mut command = Command::new("sh");
    command
        .args(["-c", &script, "sh"])
        .arg(&server.address().socket)
        .arg(work);
    command
}

/// Every table has all its rows and its index, so that no tool is fast by leaving something out.
fn check(server: &MariaDb) -> Result<()> {
    for table in 1..=TABLES {
        let found = server.ask(&format!(
            "SELECT COUNT(*), (SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'sb' \
             AND table_name = 'sbtest{table}' AND column_name IN ('id', 'k')) FROM sb.sbtest{table}"
        ))?;
        let expected = format!("{ROWS}\t2");
        anyhow::ensure!(
            found.trim() == expected,
            "sbtest{table}: rows and indexes {found:?}, not {expected:?}"
        );
    }
    Ok(())
}
