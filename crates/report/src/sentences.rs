//! What reports say in sentences, each the same wherever it stands.

pub(crate) mod answer;
pub(crate) mod ceiling;
pub(crate) mod clauses;
pub(crate) mod disturbances;
pub(crate) mod figures;
pub(crate) mod groups;
pub(crate) mod limit;
pub(crate) mod observers;
pub(crate) mod steadiness;
