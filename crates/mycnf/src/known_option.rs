//! One line of an option table: an option in one form, and the versions that have it in this form.

/// The values that an option accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// None: the server has a variable of this name, but no option.
    VariableOnly,
    /// Anything: the option exists for old files and has no effect.
    NoEffect,
    Boolean,
    /// An integer or size; the limits are `None` if the server does not report them.
    Integer {
        min: Option<i128>,
        max: Option<i128>,
    },
    Decimal,
    /// One of these comma-separated words.
    Word(&'static str),
    /// Some of these comma-separated words.
    Words(&'static str),
    Text,
}

/// One line of a table.
#[derive(Debug, Clone)]
pub(crate) struct KnownOption {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// One character per version: `x` if it has the option in this form.
    columns: String,
}

impl KnownOption {
    /// Reads `name`, columns, kind, minimum, maximum and words, separated by tabs; further fields are the caller's.
    pub(crate) fn parse(line: &'static str) -> Self {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (name, columns, kind) = (next(), next(), next());
        let (min, max, words) = (next(), next(), next());
        Self {
            name,
            columns: columns.to_owned(),
            kind: match kind {
                "v" => Kind::VariableOnly,
                "n" => Kind::NoEffect,
                "b" => Kind::Boolean,
                "i" => Kind::Integer {
                    min: min.parse().ok(),
                    max: max.parse().ok(),
                },
                "f" => Kind::Decimal,
                "e" => Kind::Word(words),
                "s" => Kind::Words(words),
                _ => Kind::Text,
            },
        }
    }

    /// The same option in the columns of another table.
    pub(crate) fn with_columns(&self, is_in: &[bool]) -> Self {
        let columns = is_in.iter().map(|is_in| if *is_in { 'x' } else { '.' });
        Self {
            columns: columns.collect(),
            ..self.clone()
        }
    }

    /// Whether the version of this column has the option in this form.
    pub(crate) fn is_in(&self, column: usize) -> bool {
        self.columns.as_bytes().get(column) == Some(&b'x')
    }

    /// The columns of the versions that have the option in this form.
    pub(crate) fn columns(&self) -> impl Iterator<Item = usize> {
        self.columns.match_indices('x').map(|(column, _)| column)
    }

    /// The number of columns.
    #[cfg(test)]
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }

    /// Whether it is an option, and not a variable alone.
    pub(crate) fn is_option(&self) -> bool {
        self.kind != Kind::VariableOnly
    }
}
