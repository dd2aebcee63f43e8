//! The syntax tree of a .smack file.

use bstr::{BString, ByteSlice};

/// A whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) sections: Vec<Section>,
    pub(super) main: Vec<Statement>,
}

/// A section such as `query "name" { ... }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) kind: SectionKind,
    pub(super) name: Text,
    pub(super) members: Vec<Member>,
}

/// The four kinds of sections before `main`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    Client,
    Table,
    Dictionary,
    Query,
}

/// A string in quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) value: BString,
    /// Byte offset of its opening quote.
    pub(super) at: usize,
}

/// A word outside quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) value: String,
    /// Byte offset of its first character.
    pub(super) at: usize,
}

/// `min_rows "9000";`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) key: Word,
    pub(super) value: Text,
}

/// One statement of `main`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Statement {
    /// `smacker.connect();`
    Call {
        client: Word,
        method: Word,
        arguments: Vec<Expression>,
    },
    /// `$total = "x" . $1;`
    Assignment { variable: Word, value: Expression },
}

/// The value between commas, or after `=`: parts joined by `.`, at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression(pub(super) Vec<Operand>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Operand {
    Number(String),
    Text(Text),
    /// `$2`: an argument of the command line.
    Argument(Word),
    /// `$name`
    Variable(Word),
    /// A figure of a client's report: `smacker::max_connect_time`
    OfClient {
        client: Word,
        field: Word,
    },
    /// A figure of a query type in a report: `smacker::select_index::q_per_s`
    OfQueryType {
        client: Word,
        query_type: Word,
        field: Word,
    },
}

impl SectionKind {
    pub(super) fn keyword(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Table => "table",
            Self::Dictionary => "dictionary",
            Self::Query => "query",
        }
    }
}

impl Text {
    /// The value as text; invalid UTF-8 becomes replacement characters.
    pub(super) fn text(&self) -> String {
        self.value.to_str_lossy().into_owned()
    }
}
