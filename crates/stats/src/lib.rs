//! Pure statistics: percentiles, intervals, comparison, steady state, stalls and change points; no input, no output, no
//! clock.
//!
//! Every function documents its result and unit, when it is undefined (`None` or a reason, never a guess), and its
//! source.

mod autocorrelation;
mod batches;
mod bootstrap;
mod burst;
mod comparison;
#[cfg(test)]
mod coverage;
mod disk_steady_state;
mod effect;
mod energy;
#[cfg(test)]
mod experiments;
mod history;
mod levels;
mod mean_interval;
mod mean_shift;
#[cfg(test)]
mod methodology;
mod mser;
#[cfg(test)]
mod noise;
mod percentile;
mod power;
mod random;
mod rate_search;
mod scalability;
mod sections;
mod sequential;
mod sessions;
mod spending;
mod spread;
mod stalls;
mod steadiness;
mod swings;
mod trend;
mod two_groups;
#[cfg(test)]
mod warm_up_simulation;

pub use autocorrelation::{Refusal, RunMean, effective_events, effective_values, run_mean};
pub use batches::{BATCHES_AT_LEAST, Batch, compare_batches, subtract_batches};
pub use bootstrap::{Resampling, bootstrap_interval, bootstrap_ratio, interval_of_draws};
pub use burst::{BURST_FALLS_TO, Burst, burst};
pub use comparison::{
    Comparison, Difference, EXECUTIONS_AT_LEAST, compare, compare_pairs, holm, subtract,
    subtract_pairs,
};
pub use disk_steady_state::{
    STEADY_RANGE_BELOW, STEADY_ROUNDS, STEADY_ROUNDS_AT_MOST, STEADY_SLOPE_BELOW, SteadyWindow,
};
pub use effect::effect_size;
pub use history::{ChangePoint, Threshold, change_points, e_divisive};
pub use levels::{Level, levels};
pub use mean_interval::{ExecutionMean, Interval, chosen_mean, execution_mean, mean_interval};
pub use mean_shift::{
    MeanShift, SHIFT_OBSERVATIONS_AT_LEAST, ShiftShape, chance_of_each, mean_shift,
};
pub use percentile::{
    PercentileRange, Unsupported, percentile_bounds, percentile_interval, percentile_range,
    values_for_bound, values_for_percentile,
};
pub use power::{Design, Deviation};
pub use random::Random;
pub use rate_search::{RateAnswer, RateSearch, RateStage, SearchRules, SearchStep};
pub use scalability::{
    NoPeak, Peak, Point, Scalability, UslModel, curve_residual, scalability, usl_fit,
};
pub use sections::sectioned_interval;
pub use sequential::{InterimResult, Side, StoppingDecision, UntilDecided, level_of_look};
pub use sessions::{FALSE_BY_DRIFT, FALSE_BY_SHIFT};
pub use stalls::{Stalls, stalls};
pub use steadiness::{
    Change, Evidence, Indeterminate, Reason, RunState, Steadiness, judge_measurement, judge_run,
    why_not_steady,
};
pub use swings::{Swings, uneven_swings};
pub use two_groups::{TwoGroups, two_groups};
