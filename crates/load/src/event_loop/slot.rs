//! The position of a user: its group in the load, and itself among its loop's users.

/// The offsets of a user's group in the lists of the whole load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupOffsets {
    pub(crate) group: usize,
    /// Index of the group's first operation type among those of all groups.
    pub(crate) first_operation: usize,
    /// Index of the group's first statement among those of all groups.
    pub(crate) first_statement: usize,
}

/// One user before it has a slot.
#[derive(Debug)]
pub(crate) struct UserAssignment<U> {
    pub(crate) offsets: GroupOffsets,
    /// Its place among the users that stages need, from 0; `None` for a user of every stage.
    pub(crate) place: Option<u32>,
    pub(crate) user: U,
}

/// One user of an event loop.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserSlot {
    pub(super) offsets: GroupOffsets,
    /// Its index among the loop's users.
    pub(super) slot: usize,
    /// Its place among the users that stages need, from 0; `None` for a user of every stage.
    pub(super) place: Option<u32>,
}
