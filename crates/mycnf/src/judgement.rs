//! What a version makes of a value that it does not take as it is written.

use crate::finding::Severity;
use crate::size::size;

/// Numbers from here on are shown as a size.
const SIZE_MIN: i128 = 1 << 20;

/// The effect of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// The server does not start, for this reason.
    Refused(String),
    /// The server starts and ignores the line, for this reason.
    Ignored(&'static str),
    /// The value of a switch is neither on nor off.
    ///
    /// Source: `slow_query_log = yes` on MariaDB 10.11 and MySQL 8.0.33.
    TakenForOff,
    /// The server uses this number in its place.
    Number(i128),
    /// The server uses this word in its place.
    Word(String),
}

impl Judgement {
    pub(crate) fn severity(&self) -> Severity {
        match self {
            Self::Refused(_) | Self::Ignored(_) => Severity::Refused,
            Self::TakenForOff | Self::Number(_) | Self::Word(_) => Severity::Note,
        }
    }

    /// The effect in words: `becomes 4M`.
    pub(crate) fn what(&self) -> String {
        match self {
            Self::Refused(why) => why.clone(),
            Self::Ignored(why) => (*why).to_owned(),
            Self::TakenForOff => {
                "the value is neither on nor off: the server warns and uses OFF".to_owned()
            }
            Self::Number(number) if *number >= SIZE_MIN => format!("becomes {}", size(*number)),
            Self::Number(number) => format!("becomes {number}"),
            Self::Word(word) => format!("becomes {word}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_a_file_has_them() {
        for (number, what) in [
            (1, "becomes 1"),
            (-1, "becomes -1"),
            (1024, "becomes 1024"),
            (4 << 20, "becomes 4M"),
            ((1 << 20) + 1, "becomes 1048577"),
        ] {
            assert_eq!(Judgement::Number(number).what(), what);
        }
        assert_eq!(Judgement::Word("OFF".to_owned()).what(), "becomes OFF");
    }

    #[test]
    fn only_a_refusal_prevents_the_start() {
        let refused = Judgement::Refused("the value is empty".to_owned());
        assert_eq!(refused.severity(), Severity::Refused);
        assert_eq!(refused.what(), "the value is empty");
        assert_eq!(Judgement::TakenForOff.severity(), Severity::Note);
    }
}
