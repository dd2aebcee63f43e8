//! Names the resource that limited a run, with its evidence, or reports that the limit is unexplained.
//!
//! The method is USE: the utilisation, saturation (waiting work) and errors of every resource. The rules are in one
//! table, the more specific ones first: a CPU quota keeps the machine's CPUs idle, and a full CPU makes a disk look
//! slow. The first rule that holds in the measured phase names the limit; the others that hold are reported as well.
//!
//! Source: B. Gregg, Thinking Methodically about Performance, CACM 56 (2013) 45-51.

mod resource;
mod rules;
mod server_rules;
mod server_signals;
mod signals;
mod words;

use samples::Record;

pub use resource::Resource;
use rules::RULES;
use signals::Signals;

/// A rule that holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub resource: Resource,
    /// The figures that make it hold.
    pub evidence: String,
}

/// The limit of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bottleneck {
    /// The limiting resource; `None` when it is unexplained.
    pub limiting: Option<Finding>,
    /// Other scarce resources, in the order of the rules.
    pub also: Vec<Finding>,
    /// Resources that no rule could judge because they were not observed.
    pub unobserved: Vec<&'static str>,
    /// The most frequent states of the server's threads, in words; `None` if they were not observed.
    pub threads: Option<String>,
}

impl Bottleneck {
    /// The name of a limit that no rule explains.
    pub const UNEXPLAINED: &'static str = "unexplained";

    /// The name of the limiting resource, or that there is none.
    pub fn name(&self) -> &'static str {
        let limiting = self.limiting.as_ref();
        limiting.map_or(Self::UNEXPLAINED, |limiting| limiting.resource.name())
    }

    /// The result in a sentence or two.
    ///
    /// ```text
    /// CPU: 98 % busy (server 61 %, client 30 %, others 7 %), and tasks waited for a CPU 80 % of the time
    /// ```
    pub fn in_words(&self) -> String {
        format!("{}: {}", self.name(), self.evidence_in_words())
    }

    /// The figures behind the limit, and other scarce resources.
    pub fn evidence_in_words(&self) -> String {
        let Some(limiting) = &self.limiting else {
            let blind = if self.unobserved.is_empty() {
                String::new()
            } else {
                format!("; not observed: {}", self.unobserved.join(", "))
            };
            let threads = self
                .threads
                .as_ref()
                .map(|did| format!("; the server's threads: {did}"));
            let threads = threads.unwrap_or_default();
            return format!("no observed resource was at its limit{threads}{blind}");
        };
        let mut words = limiting.evidence.clone();
        if !self.also.is_empty() {
            let said =
                |finding: &Finding| format!("{}: {}", finding.resource.name(), finding.evidence);
            let also: Vec<_> = self.also.iter().map(said).collect();
            words.push_str(&format!("; also {}", also.join("; ")));
        }
        words
    }
}

/// The limit of the measured phase of a run; `None` if nothing was measured.
pub fn bottleneck(record: &Record) -> Option<Bottleneck> {
    let signals = Signals::of(record)?;
    let mut found = RULES.iter().filter_map(|rule| {
        let evidence = (rule.judge)(&signals)?;
        Some(Finding {
            resource: rule.resource,
            evidence,
        })
    });
    let limiting = found.next();
    // Findings that say that no resource is scarce are left out beside a scarce one.
    let is_short = |finding: &Finding| {
        use Resource::{Connections, Load, RoundTrips};
        !matches!(finding.resource, Load | Connections | RoundTrips)
    };
    Some(Bottleneck {
        limiting,
        also: found.filter(is_short).collect(),
        unobserved: signals.unobserved(),
        threads: signals.server.as_ref().and_then(|server| server.in_words()),
    })
}

#[cfg(test)]
mod tests;
