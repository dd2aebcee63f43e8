//! The contents of an experiment file, section by section.

pub(crate) mod answer;
pub(crate) mod chart;
pub(crate) mod compared_versions;
pub(crate) mod data;
pub(crate) mod design;
pub(crate) mod disturbed;
pub(crate) mod each;
pub(crate) mod event;
pub(crate) mod expect;
pub(crate) mod find;
pub(crate) mod load;
mod load_quantity;
pub(crate) mod load_stages;
pub(crate) mod observe;
pub(crate) mod proxy;
pub(crate) mod repeats;
pub(crate) mod selected_table;
pub(crate) mod server;
pub(crate) mod server_access;
pub(crate) mod shared_times;
pub(crate) mod verdict;
pub(crate) mod warm_up;
