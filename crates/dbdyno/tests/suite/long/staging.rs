//! What staged limits and sabotages have in common: the server, control groups, a detour for its traffic, and whether
//! other programs disturbed a round.

pub(crate) mod cgroup;
pub(crate) mod detour;
pub(crate) mod disturbance;
pub(crate) mod stage;
