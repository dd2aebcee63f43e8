//! Decides what results show: compares executions of an experiment's combinations with a baseline's, and names the
//! limit of a run.
//!
//! The unit is the execution, never a second within one: two runs of the same workload differ by more than the seconds
//! of one run show. Of runs side by side it is a batch of slices. A verdict is faster, slower, equivalent within a stated
//! margin, or inconclusive; an inconclusive one reports the number of executions that would decide.

mod answer;
mod bottleneck;
mod contrast;
mod costs;
mod decision;
mod differences;
mod elimination;
#[cfg(test)]
mod error_rate;
mod explanation;
mod family;
mod history;
mod interim_answer;
mod likeness;
mod max_rate;
mod measure;
mod measure_comparison;
mod metric;
#[cfg(test)]
mod noise;
mod question;
mod sentence;
mod short_slices;
mod side;
mod steadiness;
mod steady_runs;
#[cfg(test)]
mod testing;
mod timings;
mod tolerance;
mod values;

pub use answer::{
    Answer, InterimAnalyses, answers, are_decided, decided_combinations, explained_answer,
    undecidable_slices,
};
pub use bottleneck::{Bottleneck, Finding, Resource, bottleneck};
pub use contrast::{
    ComparisonParameters, Contrast, SharedCombination, contrast, contrast_of_answer,
};
pub use costs::{Cost, Costs, Unit};
pub use decision::{ComparedExecutions, Decision, why_undecided};
pub use differences::{Difference, DifferenceKind};
pub use elimination::{
    ComparedConfiguration, Elimination, Part, PartStatus, Parts, Purpose, Round,
};
pub use explanation::Cause;
pub use history::{Headline, Point, Series, headline, rate_series, series, server_versions};
pub use interim_answer::interim_answer;
pub use max_rate::{MaxRate, RateLimit, RateQuestion};
pub use measure::{Measure, Scale};
pub use measure_comparison::Compared;
pub use metric::Metric;
pub use question::{Budget, Question};
pub use sentence::{executions_a_side, sentence, short_sentence, subject};
pub use short_slices::ShortSlices;
pub use side::{Execution, Levels, Side};
pub use steadiness::{CountedSeries, RunStalls, TimeSeries, run_stalls, run_state};
pub use steady_runs::SteadyRuns;
pub use timings::TimedFamily;
pub use tolerance::{Check, Outcome, Tolerance, ToleranceError, checks};
