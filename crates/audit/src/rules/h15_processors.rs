//! Rule H15: server and clients share the processors otherwise than two programs would, or otherwise than on the other
//! side.

use samples::{Host, Machine, Peer, Placement};
use units::percent;

use crate::{
    finding::{Finding, Level, Outcome, SkipReason, missing},
    rule::{Judge, Rule},
    run::Run,
    set::{Set, in_words},
};

/// Share of the machine's CPU that was in use, from which the scheduler has to divide it.
const BUSY: f64 = 0.8;

/// No nice value, and the weights of control groups that nothing has set (version 2, version 1).
const USUAL: [&str; 4] = ["0", "none", "100", "1024"];

pub(super) const RULE: Rule = Rule {
    id: "H15",
    name: "the scheduler separates server and clients, and treats all sides in the same way",
    found: "the scheduler does not separate server and clients, or treats the sides differently",
    measures: "How the server and the clients are scheduled: autogroup, cgroup, CPU weight, nice value and allowed CPUs. If the kernel groups sessions (sched_autogroup_enabled), it first divides the CPUs between the groups. A server in the client's group therefore shares one portion of the CPUs with the client.",
    threshold: "warn if server and clients were in one group on a machine that was at least 80 % busy. Fail if scheduler groups, CPU weights, nice values or allowed CPUs differ between compared runs",
    source: "docs/methodology.md: without durable commits, throughput rose by 20 % if the servers had a session of their own, and by 4 % if they were in the client's session; sched(7), The autogroup feature",
    consequence: "On a busy machine, the scheduler decides which program waits, and this decision changes the effect of a setting.",
    remedy: "Start all servers in the same way, as a service or with `dbdyno server create`. Run the clients at nice 0, or on another machine.",
    judge: Judge::Set(judge),
};

fn judge(set: &Set<'_>) -> Outcome {
    let mut kinds: Vec<(String, String)> = Vec::new();
    for run in set.runs.iter().filter(|run| run.is_first_load) {
        let levels = set.levels(run);
        let what = match (run.side, levels.is_empty()) {
            (Some(side), _) => format!("side {side}"),
            (None, true) => run.name(),
            (None, false) => in_words(&levels),
        };
        kinds.push((what, kind(run)?));
    }
    let (first, rest) = kinds.split_first().ok_or_else(|| missing("runs"))?;
    if let Some((what, kind)) = rest.iter().find(|(_, kind)| *kind != first.1) {
        let evidence = format!("{}: {}; {what}: {kind}", first.0, first.1);
        return Ok(Finding::new(Level::Fail, evidence));
    }
    set.worst(of_run)
}

fn of_run(run: &Run<'_>) -> Outcome {
    let (machine, server, client) = placements(run)?;
    let kind = kind(run)?;
    if !is_one(server, client) || machine.host != Host::Both {
        return Ok(Finding::new(Level::Pass, kind));
    }
    let busy = busy(run)?;
    let evidence = format!("{kind}, on a machine that was {} busy", percent(busy));
    let level = if busy >= BUSY {
        Level::Warn
    } else {
        Level::Pass
    };
    Ok(Finding::new(level, evidence).with("cpu_share", busy))
}

/// How the scheduler treats server and client, in words.
fn kind(run: &Run<'_>) -> Result<String, SkipReason> {
    let (_, server, client) = placements(run)?;
    let groups = match (&server.scheduler_group, &client.scheduler_group) {
        (None, _) | (_, None) => "no scheduler groups",
        _ if is_one(server, client) => "server and clients in one scheduler group",
        _ => "server and clients in separate scheduler groups",
    };
    let mut words = vec![groups.to_owned()];
    let nice = [server.nice, client.nice].map(|it| it.to_string());
    let cpus = [server.cpus.clone(), client.cpus.clone()];
    let weights = [server.cpu_weight, client.cpu_weight]
        .map(|it| it.map_or("none".to_owned(), |it| it.to_string()));
    // The same CPUs for both are usual, whichever they are.
    for (name, [of_server, of_client], is_any_usual) in [
        ("nice", nice, false),
        ("CPUs", cpus, true),
        ("CPU weight", weights, false),
    ] {
        let is_usual = is_any_usual || USUAL.contains(&of_server.as_str());
        if is_usual && of_server == of_client {
            continue;
        }
        words.push(format!(
            "{name} {of_server} for the server and {of_client} for the clients"
        ));
    }
    Ok(words.join(", "))
}

/// Whether the scheduler gives both their share as one: groups of sessions count only where no control group does.
fn is_one(server: &Placement, client: &Placement) -> bool {
    server.scheduler_group.is_some()
        && server.scheduler_group == client.scheduler_group
        && server.control_group == client.control_group
}

fn placements<'a>(
    run: &Run<'a>,
) -> Result<(&'a Machine, &'a Placement, &'a Placement), SkipReason> {
    let machines = &run.record.machines;
    let of = |peer: Peer| {
        let mut all = machines
            .iter()
            .flat_map(|machine| machine.placements.iter().map(move |it| (machine, it)));
        all.find(|(_, it)| it.of == peer)
    };
    let (machine, server) =
        of(Peer::Server).ok_or_else(|| missing("the server's scheduler group"))?;
    let (_, client) = of(Peer::Client).ok_or_else(|| missing("the clients' scheduler group"))?;
    Ok((machine, server, client))
}

/// The share of its machine's CPU that was in use in the measurement.
fn busy(run: &Run<'_>) -> Result<f64, SkipReason> {
    let samples = run.samples()?;
    let used = samples.iter().filter_map(|it| it.machine.as_ref());
    let (mut took_s, mut has_s) = (0.0, 0.0);
    for machine in used {
        has_s += machine.capacity_s();
        took_s += machine.user_s + machine.system_s + machine.steal_s;
    }
    if has_s > 0.0 {
        Ok(took_s / has_s)
    } else {
        Err(missing("the CPU utilisation"))
    }
}

#[cfg(test)]
mod tests {
    use samples::Record;

    use super::*;
    use crate::fixture::*;

    fn in_one_group(record: &mut Record) {
        for placement in &mut record.machines[0].placements {
            placement.scheduler_group = Some("/autogroup-73".to_owned());
        }
    }

    #[test]
    fn found() {
        let outcome = judged(&RULE, in_one_group);
        assert_found(
            &outcome,
            Level::Warn,
            "one scheduler group, on a machine that was 93.8 % busy",
        );
        let mut runs = blocks_over("flush", &["1", "2"]);
        in_one_group(&mut runs[3]);
        let outcome = judged_together(&RULE, &runs, over(&["flush"]));
        assert_found(
            &outcome,
            Level::Fail,
            "server and clients in separate scheduler groups",
        );
        let (yesterday, mut today) = ([healthy()], [healthy()]);
        today[0].machines[0].placements[0].nice = -5;
        let outcome = judged_sides(&RULE, &yesterday, &today, over(&[]));
        assert_found(
            &outcome,
            Level::Fail,
            "side B: server and clients in separate scheduler groups, nice -5 for the server and 0 for the clients",
        );
    }

    #[test]
    fn passes() {
        assert_found(
            &judged(&RULE, |_| {}),
            Level::Pass,
            "server and clients in separate scheduler groups",
        );
        let idle = judged(&RULE, |record| {
            in_one_group(record);
            each_sample(record, |sample| {
                let machine = sample.machine.as_mut().unwrap();
                (machine.user_s, machine.idle_s) = (1.0, 6.0);
            });
        });
        assert_eq!(level(&idle), Level::Pass, "{idle:?}");
        // Control groups divide the processors before sessions do.
        let divided = judged(&RULE, |record| {
            in_one_group(record);
            record.machines[0].placements[0].control_group = Some("/mysql".to_owned());
        });
        assert_eq!(level(&divided), Level::Pass, "{divided:?}");
    }

    #[test]
    fn older_records_are_not_evaluated() {
        let outcome = judged(&RULE, |record| record.machines[0].placements.clear());
        assert_missing(&outcome, "the server's scheduler group");
    }
}
