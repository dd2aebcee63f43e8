//! The CPU that other programs use on this machine while statements are measured on private servers.

use runs::{Context, Event};
use samples::{Host, Telemetry};
use telemetry::{Sampler, Targets};
use units::percent;

/// Share of the CPU used by other programs from which two servers side by side are slowed down differently for seconds, so
/// that even copies without a change differ. Seen with compilers beside two copies of MySQL: 7 of 17 comparisons.
const NOTABLE: f64 = 0.1;
/// The smallest difference that other programs do not explain, as a share of the smaller side's time. The copies without a
/// change differed by up to 30 %, always in one direction: more blocks do not help.
pub(crate) const UNEXPLAINED: f64 = 0.5;

/// Reads the use of the machine, and of each server.
pub(crate) struct OtherWork {
    /// One for each server.
    samplers: Vec<Sampler>,
}

impl OtherWork {
    /// Begins to observe; `pids` are the processes of the servers, all on this machine.
    pub(crate) fn beside(pids: &[u32]) -> Self {
        let samplers = pids.iter().map(|pid| {
            Sampler::new(Targets {
                host: Host::Both,
                server_pid: Some(*pid),
                datadir: None,
            })
        });
        Self {
            samplers: samplers.collect(),
        }
    }

    /// Share of the machine's CPU that other programs used since the beginning, if it is a notable one.
    pub(crate) fn notable_share(&mut self) -> Option<f64> {
        let samplers = self.samplers.iter_mut();
        let samples: Vec<Telemetry> = samplers.map(|it| it.sample(&|| 0.0)).collect();
        share_of(&samples).filter(|share| *share > NOTABLE)
    }
}

/// Says that other programs used this share of the CPU, and what that means.
pub(crate) fn report(share: f64, context: &Context) {
    context.notify(Event::Note(&in_words(share)));
}

/// `other programs used 36 % of this machine's CPU, so a difference below 50 % counts only if a counter ...`
fn in_words(share: f64) -> String {
    format!(
        "other programs used {} of this machine's CPU, so a difference below {} counts only if a counter explains it; \
         repeat the comparison on a quiet machine",
        percent(share),
        percent(UNEXPLAINED)
    )
}

/// The share of other programs by user time, from samples of one machine at one time, each with another server.
fn share_of(samples: &[Telemetry]) -> Option<f64> {
    let first = samples.first()?;
    let machine = first.machine?;
    let servers = samples.iter().map(|it| it.server.map(|it| it.user_s));
    let servers_s: f64 = servers.sum::<Option<f64>>()?;
    let others_s = machine.user_s - servers_s - first.client?.user_s;
    let capacity_s = machine.capacity_s();
    (capacity_s > 0.0).then(|| (others_s / capacity_s).max(0.0))
}

#[cfg(test)]
mod tests {
    use samples::{MachineUse, ProcessUse};

    use super::*;

    #[test]
    fn the_note_says_which_differences_count() {
        assert_eq!(
            in_words(0.36),
            "other programs used 36 % of this machine's CPU, so a difference below 50 % counts only if a counter \
             explains it; repeat the comparison on a quiet machine"
        );
    }

    #[test]
    fn servers_and_dbdyno_are_none_of_the_others() {
        let used = |user_s| {
            Some(ProcessUse {
                user_s,
                ..ProcessUse::default()
            })
        };
        let of_server = |server_s| Telemetry {
            machine: Some(MachineUse {
                user_s: 12.0,
                idle_s: 8.0,
                ..MachineUse::default()
            }),
            server: used(server_s),
            client: used(1.0),
            ..Telemetry::default()
        };
        assert_eq!(share_of(&[of_server(4.0), of_server(3.0)]), Some(0.2));
        assert_eq!(share_of(&[of_server(8.0), of_server(4.0)]), Some(0.0));
        let gone = Telemetry {
            server: None,
            ..of_server(0.0)
        };
        assert_eq!(share_of(&[of_server(4.0), gone]), None);
        assert_eq!(share_of(&[]), None);
    }
}
