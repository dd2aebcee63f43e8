//! The records behind an answer, in words.

use crate::prediction::CONFIDENCE;

/// How much was measured, for the line `measured` of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MeasuredRecords<'a> {
    pub(crate) executions: usize,
    /// The load and the server, in words.
    pub(crate) subject: &'a str,
    pub(crate) blocks: usize,
}

impl MeasuredRecords<'_> {
    /// `45 executions of shop on 10.11.18-MariaDB in 3 blocks; 90 % intervals`
    pub(crate) fn in_words(&self) -> String {
        format!(
            "{} of {} in {}; {} intervals",
            units::counted(self.executions, "execution"),
            self.subject,
            units::counted(self.blocks, "block"),
            units::percent(CONFIDENCE)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_records_are_counted() {
        let in_words = |executions, blocks| {
            let subject = "shop on 10.11.18-MariaDB";
            let records = MeasuredRecords {
                executions,
                subject,
                blocks,
            };
            records.in_words()
        };
        assert_eq!(
            in_words(45, 3),
            "45 executions of shop on 10.11.18-MariaDB in 3 blocks; 90 % intervals"
        );
        assert_eq!(
            in_words(2, 1),
            "2 executions of shop on 10.11.18-MariaDB in 1 block; 90 % intervals"
        );
    }
}
