//! The comments in the experiment file of a comparison, which depend on its design and its servers.

use experiment::Design;

use crate::commands::ab::measurement::Measurement;

/// What the comments of a file say.
pub(super) struct Comments {
    pub(super) repeats: &'static str,
    pub(super) server: &'static str,
    pub(super) data: &'static str,
    /// On the design side by side; empty for the other one.
    pub(super) turns: &'static [&'static str],
}

const CLASSICAL: Comments = Comments {
    repeats: "Blocks with one run of each level, in random order, until every comparison is decided or a budget is spent.",
    server: "a private one, restarted before each run",
    data: "loaded once, and restored before each run",
    turns: &[],
};

/// Of servers that are there.
const GIVEN: Comments = Comments {
    server: "each exists, and is not changed",
    data: "loaded once on each server",
    ..CLASSICAL
};

const SIDE_BY_SIDE: Comments = Comments {
    repeats: "Sessions, in which each combination has a run, until every comparison is decided or a budget is spent.",
    server: "a private one for each combination, restarted before each session",
    data: "loaded once on each server, and restored before each session",
    turns: &[
        "The servers of a session run at the same time, and one at a time is loaded: it settles, and is then measured",
        "for a slice. All slices of a combination together take the `duration` of [load].",
    ],
};

const GIVEN_SIDE_BY_SIDE: Comments = Comments {
    server: GIVEN.server,
    data: GIVEN.data,
    ..SIDE_BY_SIDE
};

/// Of one server, on which the values of settings take turns.
const ON_THIS_SERVER: Comments = Comments {
    server: "exists; SET GLOBAL sets these values before each slice, and the original ones at the end",
    data: "loaded once",
    turns: &[
        "The combinations of a session take turns: each sets its values, settles, and is then measured for a slice.",
        "All slices of a combination together take the `duration` of [load].",
    ],
    ..SIDE_BY_SIDE
};

impl Comments {
    /// Those of a comparison on new servers, or on servers that are there.
    pub(super) fn of(measurement: &Measurement, are_there: bool) -> Self {
        match measurement.design() {
            _ if measurement.on_this_server => ON_THIS_SERVER,
            Design::Classical if are_there => GIVEN,
            Design::Classical => CLASSICAL,
            Design::SideBySide(_) if are_there => GIVEN_SIDE_BY_SIDE,
            Design::SideBySide(_) => SIDE_BY_SIDE,
        }
    }
}
