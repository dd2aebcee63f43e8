//! Names the resource that limited a run, with its evidence, or says that it is unexplained.
//!
//! The method is USE: of every resource its utilisation, its saturation (who waits for it) and its errors. The rules
//! stand in one table, the more particular ones first: a CPU quota keeps the machine's CPUs idle, a full CPU makes a
//! disk look slow. The first rule that holds in the measured phase names the limit; the others that hold are told, too.
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
    /// What it names.
    pub resource: Resource,
    /// The figures by which it holds.
    pub evidence: String,
}

/// What limited a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bottleneck {
    /// What limited it; `None` when it is unexplained.
    pub limiting: Option<Finding>,
    /// What else was short, in the order of the rules.
    pub also: Vec<Finding>,
    /// What no rule could judge, for nobody looked at it.
    pub unobserved: Vec<&'static str>,
    /// What the server's threads did most of their time, in words; `None` where nobody listed them.
    pub threads: Option<String>,
}

impl Bottleneck {
    /// In a sentence or two.
    ///
    /// ```text
    /// CPU: 98 % busy (server 61 %, client 30 %, others 7 %), tasks waited for a CPU 80 % of the time
    /// ```
    pub fn in_words(&self) -> String {
        let said = |finding: &Finding| format!("{}: {}", finding.resource.name(), finding.evidence);
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
            return format!("unexplained: no resource that was observed was short{threads}{blind}");
        };
        let mut words = said(limiting);
        if !self.also.is_empty() {
            let also: Vec<_> = self.also.iter().map(said).collect();
            words.push_str(&format!("; also {}", also.join("; ")));
        }
        words
    }
}

/// What limited the measured phase of a run; `None` where nothing was measured.
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
    // What speaks of nobody being short adds nothing to somebody who is.
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
