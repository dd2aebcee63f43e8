//! 10,000 connections from one process.

use std::path::Path;

use anyhow::{Context, Result};

use crate::{
    cell::{Answerer, Cell, Statement, Transport},
    cost::{Cost, Run},
    finished::Finished,
    progress::Progress,
    servers::NullServer,
    target::Target,
    tool::{Benchmark, Programs, Task, Tool},
    verdict::Bound,
};

const CELL: Cell = Cell {
    answerer: Answerer::NullServer,
    transport: Transport::Unix,
    statement: Statement::Prepared,
    connections: 10_000,
};
/// Queries of the long run, about two seconds' worth.
const QUERIES: u64 = 200_000;

/// Measures memory, rate and connecting over a null server of its own; nothing is pinned.
pub(crate) fn measure(programs: &Programs, work: &Path, rounds: usize) -> Result<Vec<Target>> {
    let server = NullServer::start(&programs.dbdyno, work.join("scale.sock"), false, &[])?;
    let mut progress = Progress::new(rounds);
    let (mut peak_mb, mut rates, mut connect_s) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        progress.step("10,000 connections");
        let short = run(programs, &server, u64::from(CELL.connections))?;
        let long = run(programs, &server, QUERIES)?;
        let cost = Cost::between(&short, &long).context("the long run was no longer")?;
        peak_mb.push(cost.peak_bytes as f64 / 1e6);
        rates.push(cost.operations_per_s);
        connect_s.push(short.usage.wall_s);
    }
    progress.finish();
    let what = |figure: &str| format!("10,000 connections, null server: {figure}");
    Ok(vec![
        Target::of_values(what("peak memory, MB"), Bound::AtMost(200.0), &peak_mb),
        Target::of_values(what("queries/s"), Bound::AtLeast(80_000.0), &rates),
        Target::of_values(
            what("seconds to start, connect, prepare, ask one query each and close"),
            Bound::AtMost(5.0),
            &connect_s,
        ),
    ])
}

fn run(programs: &Programs, server: &NullServer, operations: u64) -> Result<Run> {
    let task = Task {
        benchmark: Benchmark::PointSelect,
        cell: &CELL,
        address: server.address(),
        operations,
    };
    let finished = Finished::success_of(programs.command(Tool::Dbdyno, task))?;
    Ok(Run {
        operations,
        usage: finished.usage,
        server_cpu_s: 0.0,
    })
}
