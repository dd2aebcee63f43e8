//! Which lines of an option file earn their place: the answer of `dbdyno config prove` as text, JSON and a page.

mod json;
mod page;
mod text;

use mycnf::DurabilityClass;
use stats::Interval;
use units::{change, fine_percent};
use verdict::{PartStatus, Purpose};

pub use json::proof_as_json;
pub use page::proof_as_html;
pub use text::proof_as_text;

/// The answer about a file.
#[derive(Debug, Clone)]
pub struct Proof {
    pub file: String,
    /// The file that it is compared with; `None` for the defaults.
    pub against: Option<String>,
    /// The server's version.
    pub version: String,
    /// The load: `oltp read_write, 8 connections`.
    pub workload: String,
    /// The metric in words: `throughput`.
    pub metric: &'static str,
    /// The smallest difference that matters, as a share.
    pub margin: f64,
    /// Whether every line is judged and the shortest file certainly loses less than the margin.
    pub is_finished: bool,
    /// The loss that the last check does not exclude, if that is the margin or more.
    pub possible_loss: Option<PossibleLoss>,
    /// The lines that were to be tested, in their groups.
    pub lines: Vec<ProofLine>,
    /// Lines that were not tested, each with the reason.
    pub untested: Vec<UntestedText>,
    /// The shortest file over the base, or the whole file if no shorter one was measured.
    pub over_base: Option<Gain>,
    /// The shortest file over the whole one; `None` if it is the same or was not measured.
    pub over_whole: Option<Interval>,
    /// The smallest loss against the whole file that the check would have shown, as a share.
    pub smallest_loss: Option<f64>,
    /// Durability of the file.
    pub class: DurabilityClass,
    /// Durability of the shortest file.
    pub class_of_shortest: DurabilityClass,
    /// What was measured.
    pub rounds: Vec<ProofRound>,
    /// Directory of the results.
    pub results: String,
}

/// A loss that measurements do not exclude.
#[derive(Debug, Clone, Copy)]
pub struct PossibleLoss {
    /// The share of the metric that the shortest file may lose.
    pub share: f64,
    /// Whether it is against the whole file without its harmful lines, and not against the whole one.
    pub without_harmful: bool,
}

impl PossibleLoss {
    /// `the shorter file may be up to 12 % slower than the whole one`.
    pub fn in_words(&self) -> String {
        let against = if self.without_harmful {
            "the whole file without its harmful lines"
        } else {
            "the whole one"
        };
        let share = fine_percent(self.share);
        format!("the shorter file may be up to {share} slower than {against}")
    }
}

/// A gain over the base.
#[derive(Debug, Clone, Copy)]
pub struct Gain {
    /// Whether it is that of the shortest file, and not of the whole one.
    pub of_shortest: bool,
    pub ratio: Interval,
}

/// Lines that were tested together.
#[derive(Debug, Clone)]
pub struct ProofLine {
    /// The lines as in the file; without any, what the base sets and the file leaves to the default.
    pub lines: Vec<String>,
    pub options: Vec<String>,
    pub fate: PartStatus,
    /// The metric with them over the metric without them.
    pub effect: Option<Interval>,
    /// The smallest effect that would have been seen, as a share.
    pub smallest: Option<f64>,
    /// Whether the effect is certain to be less than the margin.
    pub is_equivalent: bool,
    /// Executions of each side.
    pub executions: usize,
    /// The round of effect and executions, from 1; `None` if none was measured.
    pub round: Option<usize>,
    /// What they change in the cost of an operation, from without to with.
    pub causes: Vec<String>,
    /// What they cost in memory, durability and recovery.
    pub prices: Vec<String>,
    /// The durability class of the file without them, if it is another one.
    pub class_without: Option<DurabilityClass>,
}

#[derive(Debug, Clone)]
pub struct UntestedText {
    pub line: String,
    pub why: String,
}

#[derive(Debug, Clone)]
pub struct ProofRound {
    pub purpose: Purpose,
    pub results: String,
    /// Files that were measured in the same blocks.
    pub files: usize,
    /// Complete runs.
    pub runs: usize,
    pub blocks: u32,
}

impl Proof {
    pub(crate) fn of(&self, fate: PartStatus) -> impl Iterator<Item = &ProofLine> {
        self.lines.iter().filter(move |line| line.fate == fate)
    }

    /// The lines of the shortest file.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &ProofLine> {
        let stays = |line: &&ProofLine| {
            matches!(
                line.fate,
                PartStatus::Helps | PartStatus::Jointly | PartStatus::Pinned
            )
        };
        self.lines.iter().filter(stays)
    }

    /// `the defaults`, or the name of the base.
    pub(crate) fn base(&self) -> &str {
        self.against.as_deref().unwrap_or("the defaults")
    }

    /// The answer in a sentence.
    pub(crate) fn answer(&self) -> String {
        let (all, kept) = (self.lines.len(), self.kept().count());
        let of = if all == 1 {
            "group of lines"
        } else {
            "groups of lines"
        };
        let (file, version, load) = (&self.file, &self.version, &self.workload);
        if !self.is_finished {
            let why = self.possible_loss.map_or_else(
                || "the time or the blocks were used up".to_owned(),
                |loss| loss.in_words(),
            );
            return format!("{file} for {version} under {load}: not decided; {why}");
        }
        let harmful = match self.of(PartStatus::Harms).count() {
            0 => String::new(),
            harmful => format!(
                ", {harmful} {}",
                if harmful == 1 { "harms" } else { "harm" }
            ),
        };
        let earn = if kept == 1 {
            "is worth keeping"
        } else {
            "are worth keeping"
        };
        format!("{file} for {version} under {load}: {kept} of {all} {of} {earn}{harmful}")
    }

    /// How the shortest file compares, in a sentence.
    pub(crate) fn comparison(&self) -> String {
        let metric = self.metric;
        let mut parts = Vec::new();
        let shortest = if self.is_finished {
            "shortest file"
        } else {
            "shorter file"
        };
        if let Some(gain) = &self.over_base {
            let of = if gain.of_shortest {
                shortest
            } else {
                "whole file"
            };
            parts.push(format!(
                "{of}: {metric} {} over {}",
                interval(&gain.ratio),
                self.base()
            ));
        }
        match (&self.over_whole, self.is_finished) {
            (Some(ratio), _) => {
                let is_named = self.over_base.as_ref().is_some_and(|gain| gain.of_shortest);
                let of = if is_named {
                    String::new()
                } else {
                    format!("{shortest}: {metric} ")
                };
                parts.push(format!(
                    "{of}{} over the whole file: {}",
                    interval(ratio),
                    self.judged(ratio)
                ));
            }
            (None, true) => parts.push("it is the whole file".to_owned()),
            (None, false) => parts.push("not compared with the whole file".to_owned()),
        }
        parts.join("; ")
    }

    /// Whether the shortest file is slower than the whole one.
    fn judged(&self, ratio: &Interval) -> String {
        let least = 1.0 / (1.0 + self.margin);
        if ratio.low > 1.0 {
            "faster".to_owned()
        } else if ratio.low >= least {
            format!(
                "not slower, within the margin of {}",
                fine_percent(self.margin)
            )
        } else if ratio.high < 1.0 {
            "slower".to_owned()
        } else {
            let smallest = self.smallest_loss.map(fine_percent);
            let smallest = smallest.unwrap_or_else(|| "unknown".to_owned());
            format!("no difference found; smallest detectable: {smallest}")
        }
    }

    /// The durability of both files, in a sentence.
    pub(crate) fn durability(&self) -> String {
        let (class, shortest) = (self.class, self.class_of_shortest);
        let loses = shortest.in_words();
        match shortest.cmp(&class) {
            std::cmp::Ordering::Equal => format!("durability {}: {loses}", class.name()),
            std::cmp::Ordering::Greater => {
                format!(
                    "durability rises from {} to {}: {loses}",
                    class.name(),
                    shortest.name()
                )
            }
            std::cmp::Ordering::Less => {
                format!(
                    "durability falls from {} to {}: {loses}",
                    class.name(),
                    shortest.name()
                )
            }
        }
    }
}

impl ProofLine {
    /// The lines, or what is left to the default.
    pub(crate) fn in_words(&self) -> String {
        if self.lines.is_empty() {
            return format!("no {}", self.options.join(", no "));
        }
        self.lines.join(", ")
    }

    /// Effect and evidence in a phrase.
    pub fn evidence(&self) -> String {
        let effect = self.effect.as_ref().map(interval);
        let round = self.round.map(|round| format!(" of round {round}"));
        let pairs = format!("{} pairs{}", self.executions, round.unwrap_or_default());
        match (self.fate, effect) {
            (PartStatus::Pinned, _) => {
                let class = self
                    .class_without
                    .map_or("a lower class", DurabilityClass::name);
                format!("not tested: without it durability is {class}")
            }
            (PartStatus::Untested, _) => "not decided".to_owned(),
            (PartStatus::Unresolved, _) => {
                "not resolved: the file is slower if this line and others are removed together; which of them are needed is unknown"
                    .to_owned()
            }
            (PartStatus::Jointly, _) => {
                "no effect of its own, but the file is slower if this line and others are removed together".to_owned()
            }
            (PartStatus::NoEffect, Some(effect)) if self.is_equivalent => {
                format!("less than the margin: {effect}, {pairs}")
            }
            (PartStatus::NoEffect, effect) => format!(
                "no effect found: {}, {pairs}; smallest detectable {}",
                effect.unwrap_or_else(|| "no interval".to_owned()),
                self.smallest
                    .map_or_else(|| "unknown".to_owned(), fine_percent)
            ),
            (PartStatus::Helps | PartStatus::Harms, effect) => {
                format!("{}, {pairs}", effect.unwrap_or_default())
            }
        }
    }
}

/// `+15.7 % (+9.1 % to +22.7 %)`.
fn interval(ratio: &Interval) -> String {
    let [estimate, low, high] = [ratio.estimate, ratio.low, ratio.high].map(change);
    format!("{estimate} ({low} to {high})")
}

fn fate_word(fate: PartStatus) -> &'static str {
    match fate {
        PartStatus::Helps => "helps",
        PartStatus::Harms => "harms",
        PartStatus::NoEffect => "no effect",
        PartStatus::Jointly => "jointly",
        PartStatus::Pinned => "pinned",
        PartStatus::Untested => "undecided",
        PartStatus::Unresolved => "not resolved",
    }
}

fn purpose_in_words(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Screening => {
            "screening: the whole file against the file without one line, for each line"
        }
        Purpose::Check => "check: the shortest file against the whole file",
        Purpose::AddingBack => "adding back: the shortest file with each line that was dropped",
    }
}

#[cfg(test)]
mod tests;
