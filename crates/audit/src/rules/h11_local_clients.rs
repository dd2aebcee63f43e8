//! Rule H11: the clients ran on the server's machine.

use samples::{Host, Transport};
use units::percent;

use crate::{
    finding::{Finding, Level, Outcome},
    rule::{Judge, Rule},
    run::Run,
};

pub(super) const RULE: Rule = Rule {
    id: "H11",
    name: "clients reach the server as an application would",
    found: "the clients ran on the server's machine",
    measures: "How the clients connected to the server, and the share of the server machine's CPU that the clients used.",
    threshold: "warn if the clients ran on the server's own machine, or if they connected through a socket or the loopback interface",
    source: "Matsunobu, Ten points for correct benchmarks (2009), points 4 and 6: the same primary key lookups took 6.866 s \
        locally and 11.200 s over Gigabit Ethernet, 1.63 times as long",
    consequence: "The response times do not include a network, and client and server compete for CPU. An application on another machine has different response times and a different throughput.",
    remedy: "Run the clients on another machine, or state with the figures that the clients were local. Comparisons between local runs remain valid.",
    judge: Judge::Run(judge),
};

fn judge(run: &Run<'_>) -> Outcome {
    let transport = run.record.header.transport.as_str();
    let kind = Transport::of(transport);
    let shares_machine = run
        .record
        .machines
        .iter()
        .any(|machine| machine.host == Host::Both);
    if kind == Some(Transport::TcpRemote) && !shares_machine {
        return Ok(Finding::new(
            Level::Pass,
            "the clients connected over TCP from another machine",
        ));
    }
    // Behind a loopback address, a tunnel or a proxy may lead to another machine.
    if kind == Some(Transport::TcpLoopback) && !shares_machine {
        let evidence = "the clients connected over the loopback interface: they ran on the server's own machine, or reached it through a tunnel or a local proxy";
        return Ok(Finding::new(Level::Warn, evidence));
    }
    let finding = match run.figures.server_cpu.and_then(|cpu| cpu.client) {
        Some(share) => Finding::new(
            Level::Warn,
            format!(
                "the clients ran on the server's own machine, connected over {transport}, and used {} of its CPU",
                percent(share)
            ),
        )
        .with("client_cpu_share", share),
        None => Finding::new(
            Level::Warn,
            format!("the clients ran on the server's own machine, connected over {transport}"),
        ),
    };
    Ok(finding)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::*;

    #[test]
    fn found() {
        for transport in ["unix socket", "tcp loopback"] {
            let outcome = judged(&RULE, |record| {
                record.header.transport = transport.to_owned()
            });
            assert_found(&outcome, Level::Warn, "and used 3.8 % of its CPU");
        }
    }

    #[test]
    fn a_loopback_address_can_be_that_of_a_tunnel() {
        let outcome = judged(&RULE, |record| {
            record.machines[0].host = Host::Client;
            record.header.transport = "tcp loopback".to_owned();
        });
        assert_found(&outcome, Level::Warn, "through a tunnel or a local proxy");
    }

    #[test]
    fn passes() {
        for transport in ["tcp remote", "tcp remote, compressed"] {
            let outcome = judged(&RULE, |record| {
                record.machines[0].host = Host::Client;
                record.header.transport = transport.to_owned();
            });
            assert_eq!(level(&outcome), Level::Pass, "{transport}");
        }
    }
}
