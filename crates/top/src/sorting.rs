//! The sort orders of a list.

/// The sort order of a list, the largest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sorting {
    /// Total time; for a connection, the time in its present state.
    #[default]
    Time,
    /// Number of events; for a connection, its id.
    Count,
    /// Mean time; for a connection, its account.
    Mean,
    Errors,
}

impl Sorting {
    /// The next order, the first after the last.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Time => Self::Count,
            Self::Count => Self::Mean,
            Self::Mean => Self::Errors,
            Self::Errors => Self::Time,
        }
    }

    /// The name in the title of a list of statements or waits.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Count => "count",
            Self::Mean => "mean",
            Self::Errors => "errors",
        }
    }
}
