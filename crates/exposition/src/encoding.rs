//! Metrics of one name, and the text of several of them.

use std::fmt::Write;

use crate::metric::{Labels, Metric, MetricKind};

/// Ends the text.
const END: &str = "# EOF\n";

/// Metrics of one name.
#[derive(Debug, Clone)]
pub struct Family {
    name: String,
    kind: &'static str,
    /// Suffix of the name; empty for a plain number.
    unit: &'static str,
    help: String,
    samples: Vec<Sample>,
}

#[derive(Debug, Clone)]
struct Sample {
    suffix: &'static str,
    labels: Labels,
    value: f64,
}

impl Family {
    /// Metrics without a sample. The kind is a word of the format; the name is without prefix and unit, and the unit may
    /// be empty.
    pub fn new(kind: &'static str, name: &str, unit: &'static str, help: &str) -> Self {
        let end = match unit {
            "" => String::new(),
            unit => format!("_{unit}"),
        };
        Self {
            name: format!("dbdyno_{name}{end}"),
            kind,
            unit,
            help: help.to_owned(),
            samples: Vec::new(),
        }
    }

    /// Adds a sample, if its value is a finite number. The suffix is that of the kind, such as `_total`.
    pub fn push(&mut self, suffix: &'static str, labels: Labels, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.samples.push(Sample {
                suffix,
                labels,
                value,
            });
        }
    }
}

/// The text of these metrics; those without a sample are left out.
pub fn document(families: &[Family]) -> String {
    let filled = families.iter().filter(|family| !family.samples.is_empty());
    filled.map(text).collect::<String>() + END
}

/// A document, or nothing, with more metrics behind its own.
pub fn extended(document_before: &str, metrics: &[Metric]) -> String {
    let families: Vec<Family> = metrics
        .iter()
        .map(|metric| {
            let (kind, suffix) = match metric.kind {
                MetricKind::Gauge => ("gauge", ""),
                MetricKind::Counter => ("counter", "_total"),
            };
            let mut family = Family::new(kind, &metric.name, metric.unit, &metric.help);
            for (labels, value) in &metric.samples {
                family.push(suffix, labels.clone(), Some(*value));
            }
            family
        })
        .collect();
    let before = document_before.strip_suffix(END);
    before.unwrap_or(document_before).to_owned() + &document(&families)
}

fn text(family: &Family) -> String {
    const INFALLIBLE: &str = "writing to a string does not fail";
    let mut out = String::new();
    let name = &family.name;
    writeln!(out, "# TYPE {name} {}", family.kind).expect(INFALLIBLE);
    if !family.unit.is_empty() {
        writeln!(out, "# UNIT {name} {}", family.unit).expect(INFALLIBLE);
    }
    writeln!(out, "# HELP {name} {}", escaped(&family.help)).expect(INFALLIBLE);
    for sample in &family.samples {
        let labels = sample.labels.iter();
        let labels = labels.map(|(name, value)| format!("{name}=\"{}\"", escaped(value)));
        let labels = labels.collect::<Vec<_>>().join(",");
        let (suffix, value) = (sample.suffix, sample.value);
        writeln!(out, "{name}{suffix}{{{labels}}} {value}").expect(INFALLIBLE);
    }
    out
}

fn escaped(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    let mut out = String::with_capacity(escaped.len());
    for character in escaped.chars() {
        // The format has no other escape, and some readers treat several of these characters as the end of a line.
        if samples::is_unprintable(character) {
            out.push('\\');
            out.push_str(&samples::printable(character.encode_utf8(&mut [0; 4])));
        } else {
            out.push(character)
        }
    }
    out
}
