//! Loads and runs measured against each other: in rounds, in a seeded random order.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path, thread, time::Duration};

use anyhow::{Context, Result};
use harness::{
    finished::{Finished, Usage},
    median,
    progress::Progress,
    shuffled,
    verdict::digits,
};

use crate::{
    server::MariaDb,
    tool::{ORIGINAL_RUN_CPU_US, Place, Programs, Tool},
};

/// A load of a busy machine's slowest peer.
const PATIENCE: Duration = Duration::from_secs(600);
/// The server writes back what the load before left.
const PAUSE: Duration = Duration::from_secs(2);
/// Warehouses of the loads whose memory is measured, and how many loads there are: the median's interval needs six.
const MEMORY_WAREHOUSES: u32 = 10;
const MEMORY_LOADS: usize = 6;
/// The rows of the bound come from here.
const ROWS: &str = "tpcc_rows";

/// Everything that a contest needs.
pub(crate) struct Contest<'a> {
    pub(crate) programs: &'a Programs,
    pub(crate) server: &'a MariaDb,
    pub(crate) work: &'a Path,
    pub(crate) warehouses: u32,
    pub(crate) seconds: u32,
    pub(crate) rounds: usize,
    /// Of them, those in which tpcc-mysql's pattern loads, too: it takes minutes.
    pub(crate) slow_rounds: usize,
}

/// What a load cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    pub(crate) usage: Usage,
    pub(crate) server_cpu_s: f64,
}

/// What a run cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) transactions: f64,
    pub(crate) usage: Usage,
    pub(crate) server_cpu_s: f64,
}

impl Run {
    fn client_us(&self) -> f64 {
        self.usage.cpu_s * 1e6 / self.transactions
    }

    fn server_us(&self) -> f64 {
        self.server_cpu_s * 1e6 / self.transactions
    }
}

/// What was measured: one value a round, in the order of the rounds.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    loads: BTreeMap<Tool, Vec<Load>>,
    runs: BTreeMap<Tool, Vec<Run>>,
    /// Peak memory of loads of 10 warehouses.
    pub(crate) peak_mb: Vec<f64>,
    warehouses: u32,
}

impl Contest<'_> {
    /// All rounds, and the loads whose memory is measured.
    pub(crate) fn hold(&self, random: &mut fastrand::Rng) -> Result<Outcome> {
        let mut outcome = Outcome {
            warehouses: self.warehouses,
            ..Outcome::default()
        };
        let mut progress = Progress::new(1 + MEMORY_LOADS + self.rounds * (Tool::ALL.len() + 2));
        progress.step("writing the files of the bound");
        let files = self.work.join("files");
        fs::create_dir(&files)?;
        self.write_files(&files)?;
        for round in 0..self.rounds {
            for tool in shuffled(Tool::ALL.len(), random).map(|at| Tool::ALL[at]) {
                if tool == Tool::TpccMysql && round >= self.slow_rounds {
                    continue;
                }
                progress.step(&format!("load, {}", tool.name()));
                let load = self.load(tool, &files).context(tool.name())?;
                outcome.loads.entry(tool).or_default().push(load);
            }
            for at in shuffled(2, random) {
                let tool = [Tool::Dbdyno, Tool::TpccMysql][at];
                progress.step(&format!("run, {}", tool.name()));
                let run = self.run(tool, round, &files).context(tool.name())?;
                outcome.runs.entry(tool).or_default().push(run);
            }
        }
        for _ in 0..MEMORY_LOADS {
            progress.step("memory of a load");
            let finished = self.load_ours("tpcc_memory", MEMORY_WAREHOUSES, &files)?;
            outcome.peak_mb.push(finished.usage.peak_bytes as f64 / 1e6);
            self.server.ask("drop database tpcc_memory")?;
        }
        progress.finish();
        Ok(outcome)
    }

    fn place<'p>(&self, database: &'p str, warehouses: u32, files: &'p Path) -> Place<'p> {
        Place {
            port: self.server.port,
            database,
            warehouses,
            files,
        }
    }

    fn write_files(&self, files: &Path) -> Result<()> {
        self.load_ours(ROWS, self.warehouses, files)?;
        let place = self.place(ROWS, self.warehouses, files);
        Finished::success_within(PATIENCE, self.programs.bound("dump", place))?;
        self.server.ask(&format!("drop database {ROWS}"))?;
        Ok(())
    }

    fn load_ours(&self, database: &str, warehouses: u32, files: &Path) -> Result<Finished> {
        self.server
            .ask(&format!("drop database if exists {database}"))?;
        let place = self.place(database, warehouses, files);
        Finished::success_within(PATIENCE, self.programs.load(Tool::Dbdyno, place))
    }

    fn load(&self, tool: Tool, files: &Path) -> Result<Load> {
        let database = database(tool);
        let anew = format!("drop database if exists {database}; create database {database}");
        self.server.ask(&anew)?;
        if tool == Tool::TpccMysql {
            let tables = fs::read_to_string(&self.programs.tables)?;
            self.server.ask(&format!("use {database}; {tables}"))?;
        }
        thread::sleep(PAUSE);
        let before_s = self.server.cpu_s()?;
        let place = self.place(database, self.warehouses, files);
        let finished = Finished::success_within(PATIENCE, self.programs.load(tool, place))?;
        let load = Load {
            usage: finished.usage,
            server_cpu_s: self.server.cpu_s()? - before_s,
        };
        // The runs are on dbdyno's tables; the others only fill the buffer pool.
        if tool != Tool::Dbdyno {
            self.server.ask(&format!("drop database {database}"))?;
        }
        Ok(load)
    }

    fn run(&self, tool: Tool, round: usize, files: &Path) -> Result<Run> {
        let record = self.work.join(format!("record-{round}.jsonl"));
        let place = self.place(database(Tool::Dbdyno), self.warehouses, files);
        let before_s = self.server.cpu_s()?;
        let command = self.programs.run(tool, place, self.seconds, &record);
        let finished = Finished::success_within(PATIENCE, command)?;
        let transactions = match tool {
            Tool::Dbdyno => transactions_of_dbdyno(&finished.stdout),
            _ => first_number(&finished.stdout),
        };
        Ok(Run {
            transactions: transactions
                .filter(|count| *count > 0.0)
                .with_context(|| format!("no transactions in {:?}", finished.stdout))?,
            usage: finished.usage,
            server_cpu_s: self.server.cpu_s()? - before_s,
        })
    }
}

fn database(tool: Tool) -> &'static str {
    match tool {
        Tool::Dbdyno => "tpcc_dbdyno",
        Tool::TpccMysql => "tpcc_mysql",
        Tool::GoTpc => "tpcc_go",
        Tool::Bound => "tpcc_bound",
    }
}

/// The sum of the second column of `New-Order         8123     541.5 ...` and the lines of the other four.
fn transactions_of_dbdyno(text: &str) -> Option<f64> {
    let names = [
        "New-Order",
        "Payment",
        "Order-Status",
        "Delivery",
        "Stock-Level",
    ];
    names
        .iter()
        .map(|name| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
            first_number(lines.next()?)
        })
        .sum()
}

fn first_number(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

impl Outcome {
    /// A figure of two tools' loads, a pair per round.
    pub(crate) fn load_pairs(
        &self,
        ours: Tool,
        theirs: Tool,
        figure: fn(&Usage) -> f64,
    ) -> Vec<(f64, f64)> {
        let of = |tool| self.loads[&tool].iter().map(|load| figure(&load.usage));
        of(ours).zip(of(theirs)).collect()
    }

    /// Client CPU per transaction, a pair per round.
    pub(crate) fn run_pairs(&self, ours: Tool, theirs: Tool) -> Vec<(f64, f64)> {
        let of = |tool| self.runs[&tool].iter().map(Run::client_us);
        of(ours).zip(of(theirs)).collect()
    }

    /// Why a re-created loader does not count, if it does not.
    pub(crate) fn unlike_at_load(&self, tool: Tool, likeness: f64) -> Option<String> {
        // What the originals took is known for four warehouses.
        let original_s = tool.original_load_cpu_s()? * f64::from(self.warehouses) / 4.0;
        let found_s = self.load_median(tool, |load| load.usage.cpu_s)?;
        unlike(found_s, original_s, likeness, "s of client CPU")
    }

    /// Why the re-created load generator does not count, if it does not.
    pub(crate) fn unlike_at_run(&self, likeness: f64) -> Option<String> {
        let found_us = self.run_median(Tool::TpccMysql, Run::client_us)?;
        unlike(
            found_us,
            ORIGINAL_RUN_CPU_US,
            likeness,
            "µs of client CPU per transaction",
        )
    }

    fn load_median(&self, tool: Tool, figure: fn(&Load) -> f64) -> Option<f64> {
        median(self.loads.get(&tool)?.iter().map(figure).collect())
    }

    fn run_median(&self, tool: Tool, figure: fn(&Run) -> f64) -> Option<f64> {
        median(self.runs.get(&tool)?.iter().map(figure).collect())
    }

    /// All medians as two tables.
    pub(crate) fn figures(&self) -> String {
        let shown = |value: Option<f64>| value.map_or("-".to_owned(), digits);
        let mut text = "\nMedians of the loads:\n\n| loader | wall, s | client CPU, s | server CPU, s | peak memory of the \
                        client, MB |\n| --- | ---: | ---: | ---: | ---: |\n"
            .to_owned();
        for tool in Tool::ALL {
            let figure = |figure| shown(self.load_median(tool, figure));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} |",
                tool.name(),
                figure(|load| load.usage.wall_s),
                figure(|load| load.usage.cpu_s),
                figure(|load| load.server_cpu_s),
                figure(|load| load.usage.peak_bytes as f64 / 1e6),
            );
        }
        text.push_str(
            "\nMedians of the runs:\n\n| client | transactions/s | client CPU per transaction, µs | server CPU per \
             transaction, µs |\n| --- | ---: | ---: | ---: |\n",
        );
        for tool in [Tool::Dbdyno, Tool::TpccMysql] {
            let figure = |figure| shown(self.run_median(tool, figure));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} |",
                tool.name(),
                figure(|run| run.transactions / run.usage.wall_s),
                figure(Run::client_us),
                figure(Run::server_us),
            );
        }
        text
    }
}

fn unlike(found: f64, original: f64, likeness: f64, unit: &str) -> Option<String> {
    let off = found / original - 1.0;
    (off.abs() > likeness).then(|| {
        format!(
            "the re-creation took {} {unit}, the original {}",
            digits(found),
            digits(original)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_are_counted() {
        let text = "transaction      count     per s\nNew-Order         8123     541.5\nPayment           8100     540.0\n\
                    Order-Status       812      54.1\nDelivery           810      54.0\nStock-Level        811      54.1\n";
        assert_eq!(transactions_of_dbdyno(text), Some(18656.0));
        assert_eq!(transactions_of_dbdyno("New-Order 1"), None);
        assert_eq!(
            first_number("1234 transactions, 560 New-Orders"),
            Some(1234.0)
        );
    }

    #[test]
    fn a_re_creation_counts_where_it_is_like_the_original() {
        assert_eq!(unlike(20.8, 20.0, 0.25, "s"), None);
        assert!(unlike(26.0, 20.0, 0.25, "s").is_some());
        assert!(unlike(14.0, 20.0, 0.25, "s").is_some());
    }
}
