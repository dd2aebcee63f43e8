//! By what a list is sorted.

/// By what a list is sorted, the largest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Sorting {
    /// Time that it took altogether; of a connection, how long it has been at it.
    #[default]
    Time,
    /// How often it came; of a connection, its number.
    Count,
    /// Time that one took; of a connection, its account.
    Mean,
    /// Errors.
    Errors,
}

impl Sorting {
    /// The next one, the first after the last.
    pub(crate) fn next(self) -> Self {
        match self {
            Self::Time => Self::Count,
            Self::Count => Self::Mean,
            Self::Mean => Self::Errors,
            Self::Errors => Self::Time,
        }
    }

    /// As the title of a list of statements or waits says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Count => "count",
            Self::Mean => "mean",
            Self::Errors => "errors",
        }
    }
}
