//! Sentences of reports, the same in every output.

pub(crate) mod answer;
pub(crate) mod ceiling;
pub(crate) mod clauses;
pub(crate) mod disturbances;
pub(crate) mod doubt;
pub(crate) mod events;
pub(crate) mod figures;
pub(crate) mod groups;
pub(crate) mod limit;
pub(crate) mod max_rates;
pub(crate) mod measured_state;
pub(crate) mod nouns;
pub(crate) mod observers;
pub(crate) mod proxy;
pub(crate) mod set_limit;
pub(crate) mod stage_rates;
pub(crate) mod steadiness;
