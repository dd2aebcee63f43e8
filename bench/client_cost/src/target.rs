//! The targets of the cells.

pub(crate) use harness::target::Target;

use crate::{
    cell::{Answerer, Transport},
    contest::Outcome,
    cost::Cost,
    tool::{Benchmark, Tool},
    verdict::Bound,
};

/// The floor must itself cost at most this share of sysbench's processor time.
const FLOOR_SHARE_MAX: f64 = 1.0 / 3.5;
/// The null server may cost so much per query, in microseconds.
const NULL_SERVER_US_MAX: f64 = 4.5;

/// All targets that cells answer.
pub(crate) fn of_cells(outcomes: &[Outcome]) -> Vec<Target> {
    let floor = floor_is_none(outcomes);
    let mut targets = Vec::new();
    for outcome in outcomes {
        let cell = outcome.entry.cell;
        if !cell.has_target() {
            continue;
        }
        match (cell.answerer, outcome.entry.benchmark) {
            (Answerer::NullServer, _) => {
                let reason = floor.clone().or_else(|| null_server_is_slow(outcome));
                let found = of_null_server(outcome).into_iter();
                targets.extend(found.map(|target| target.void_where(reason.as_ref())));
            }
            (Answerer::MariaDb, benchmark) => targets.extend(of_mariadb(outcome, benchmark)),
        }
    }
    targets
}

/// Why the floor is no floor in this run: everything on the null server is void then.
fn floor_is_none(outcomes: &[Outcome]) -> Option<String> {
    let outcome = outcomes.iter().find(|outcome| {
        let cell = outcome.entry.cell;
        cell.answerer == Answerer::NullServer
            && cell.has_target()
            && cell.transport == Transport::Unix
            && cell.connections == 64
    })?;
    let floor = outcome.median(Tool::EpollFloor, client_us);
    let sysbench = outcome.median(Tool::Sysbench, client_us);
    let Some((floor, sysbench)) = floor.zip(sysbench) else {
        return Some("the floor or sysbench was not measured".to_owned());
    };
    let share = floor / sysbench;
    (share > FLOOR_SHARE_MAX).then(|| {
        format!("the floor took {share:.3} of sysbench's time, not 1/3.5 = {FLOOR_SHARE_MAX:.3}")
    })
}

/// Why a cell's figures are void: its server was not fast enough for the fastest client.
fn null_server_is_slow(outcome: &Outcome) -> Option<String> {
    let cost_us = outcome.median(Tool::EpollFloor, |cost| cost.server_us)?;
    (cost_us > NULL_SERVER_US_MAX).then(|| {
        format!("the null server took {cost_us:.1} µs per query, more than {NULL_SERVER_US_MAX}")
    })
}

fn client_us(cost: &Cost) -> f64 {
    cost.client_us
}

fn rate(cost: &Cost) -> f64 {
    cost.operations_per_s
}

/// The pairs of one figure of dbdyno and a peer.
fn figures(outcome: &Outcome, peer: Tool, figure: fn(&Cost) -> f64) -> Vec<(f64, f64)> {
    let pairs = outcome.pairs(Tool::Dbdyno, peer).into_iter();
    pairs
        .map(|(ours, theirs)| (figure(&ours), figure(&theirs)))
        .collect()
}

fn of_null_server(outcome: &Outcome) -> Vec<Target> {
    let cell = outcome.entry.cell;
    let cpu = |peer: Tool, bound| {
        let what = format!("CPU per query against {}: null server, {cell}", peer.name());
        Target::of_pairs(
            what,
            Bound::AtMost(bound),
            &figures(outcome, peer, client_us),
        )
    };
    let of_sysbench = match (cell.connections, cell.transport) {
        (512, _) => 1.0 / 6.0,
        (_, Transport::Unix) => 1.0 / 3.0,
        (_, Transport::Tcp) => 1.0 / 2.0,
    };
    let mut targets = vec![cpu(Tool::Sysbench, of_sysbench)];
    if cell.connections == 64 {
        targets.push(cpu(Tool::MariadbSlap, 0.5));
        targets.push(cpu(Tool::GoDriver, 0.5));
    }
    targets.push(cpu(Tool::EpollFloor, 1.3));
    targets.push(cpu(Tool::EpollFloor, 1.2).stretch());
    if (cell.connections, cell.transport) == (64, Transport::Unix) {
        let what = format!("queries/s of one client core against sysbench: null server, {cell}");
        let rates = figures(outcome, Tool::Sysbench, rate);
        targets.push(Target::of_pairs(what, Bound::AtLeast(2.5), &rates));
    }
    targets
}

fn of_mariadb(outcome: &Outcome, benchmark: Benchmark) -> Vec<Target> {
    let cell = outcome.entry.cell;
    let (unit, place) = match benchmark {
        Benchmark::PointSelect => ("query", format!("MariaDB, {cell}")),
        Benchmark::ReadWrite => ("transaction", format!("MariaDB, oltp_read_write, {cell}")),
    };
    let mut targets = Vec::new();
    if let Some(best) = best_peer(outcome) {
        let rates = figures(outcome, best, rate);
        let bounds: &[(f64, bool)] = match cell.connections {
            64 => &[(0.95, false), (1.05, true)],
            _ => &[(0.95, false)],
        };
        for (bound, is_stretch) in bounds {
            let what = format!(
                "{unit} rate against the best peer, {}: {place}",
                best.name()
            );
            let mut target = Target::of_pairs(what, Bound::AtLeast(*bound), &rates);
            target.is_stretch = *is_stretch;
            targets.push(target);
        }
    }
    if cell.connections == 64 {
        let what = format!("CPU per {unit} against sysbench: {place}");
        let costs = figures(outcome, Tool::Sysbench, client_us);
        targets.push(Target::of_pairs(what, Bound::AtMost(0.6), &costs));
    }
    targets
}

/// The peer with the highest median rate.
fn best_peer(outcome: &Outcome) -> Option<Tool> {
    let peers = outcome
        .entry
        .tools
        .iter()
        .filter(|tool| **tool != Tool::Dbdyno);
    let rates = peers.filter_map(|peer| Some((*peer, outcome.median(*peer, rate)?)));
    rates
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(peer, _)| peer)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use harness::verdict::Verdict;

    use super::*;
    use crate::{
        cell::{Cell, Statement},
        contest::Entry,
    };

    /// Each tool with the client's cost and the server's, the same in three rounds but for a hundredth.
    fn outcome(cell: Cell, costs: &[(Tool, f64)], server_us: f64) -> Outcome {
        let cost = |client_us: f64| Cost {
            client_us,
            server_us,
            operations_per_s: 1e6 / client_us,
            peak_bytes: 1 << 20,
        };
        let rounds = |client_us: f64| [1.0, 1.01, 0.99].map(|noise| Some(cost(client_us * noise)));
        Outcome {
            entry: Entry {
                benchmark: Benchmark::PointSelect,
                cell,
                tools: costs.iter().map(|(tool, _)| *tool).collect(),
                rounds: 3,
            },
            costs: costs
                .iter()
                .map(|(tool, us)| (*tool, rounds(*us).to_vec()))
                .collect(),
            failures: BTreeMap::new(),
        }
    }

    fn cell(answerer: Answerer, connections: u32) -> Cell {
        Cell {
            answerer,
            transport: Transport::Unix,
            statement: Statement::Prepared,
            connections,
        }
    }

    const COSTS: &[(Tool, f64)] = &[
        (Tool::Dbdyno, 2.8),
        (Tool::Sysbench, 10.0),
        (Tool::MariadbSlap, 5.0),
        (Tool::GoDriver, 7.0),
        (Tool::EpollFloor, 2.4),
    ];

    #[test]
    fn a_row_says_met_missed_or_void() {
        let verdicts = |server_us| -> Vec<Verdict> {
            let outcome = outcome(cell(Answerer::NullServer, 64), COSTS, server_us);
            of_cells(&[outcome])
                .into_iter()
                .map(|target| target.verdict)
                .collect()
        };
        use Verdict::{Met, Missed};
        // sysbench 0.28, mariadb-slap 0.56, Go 0.4, floor 1.17 and again, rate 3.6
        assert_eq!(verdicts(4.0), [Met, Missed, Met, Met, Met, Met]);
        for verdict in verdicts(4.6) {
            assert!(
                matches!(&verdict, Verdict::Void(why) if why.contains("4.6")),
                "{verdict:?}"
            );
        }
    }

    #[test]
    fn a_floor_that_is_none_voids_the_null_server_only() {
        let mut costs = COSTS.to_vec();
        costs[4] = (Tool::EpollFloor, 3.0);
        let null = outcome(cell(Answerer::NullServer, 64), &costs, 3.0);
        let real = outcome(cell(Answerer::MariaDb, 64), &costs, 0.0);
        for target in of_cells(&[null, real]) {
            let is_void = matches!(target.verdict, Verdict::Void(_));
            assert_eq!(is_void, target.what.contains("null server"), "{target:?}");
        }
    }

    #[test]
    fn the_best_peer_is_the_fastest_but_dbdyno() {
        let outcome = outcome(cell(Answerer::MariaDb, 8), COSTS, 0.0);
        assert_eq!(best_peer(&outcome), Some(Tool::EpollFloor));
        let targets = of_cells(&[outcome]);
        assert_eq!(targets.len(), 1);
        assert!(targets[0].what.contains("epoll floor"), "{targets:?}");
        assert_eq!(targets[0].verdict, Verdict::Missed);
    }

    #[test]
    fn one_round_decides_nothing() {
        let pairs = Target::of_pairs("x".to_owned(), Bound::AtMost(1.0), &[(0.5, 1.0)]);
        assert_eq!(pairs.verdict, Verdict::NotMeasured);
        let void = pairs.void_where(Some(&"slow".to_owned()));
        assert_eq!(void.verdict, Verdict::NotMeasured);
        let value = Target::of_values("x".to_owned(), Bound::AtMost(1.0), &[0.5]);
        assert_eq!(value.verdict, Verdict::Undecided);
    }
}
