//! Columns and keys of a table as the server describes them, and the values of a column that has no rule.

use super::{law::Law, rule::Values};

/// Numbers without a rule are at most this high.
const NUMBER_AT_MOST: i64 = 1_000_000;
/// 2020-01-01 and 2026-01-01 in seconds from 1970-01-01: moments without a rule are between them.
const MOMENTS: (i64, i64) = (1_577_836_800, 1_767_225_600);
/// Lengths of a text without a rule, where the column is long enough.
const TEXT: (u64, u64) = (10, 100);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColumnInfo {
    pub name: String,
    /// Its type without its length: `varchar`.
    pub data_type: String,
    /// Its type as SHOW CREATE TABLE has it: `varchar(40)`.
    pub column_type: String,
    pub is_nullable: bool,
    /// Characters of a text at most.
    pub characters: Option<u64>,
    /// Digits of a number, and those of them behind the point.
    pub digits: Option<(u32, u32)>,
    /// The server counts it.
    pub is_auto_increment: bool,
    /// The server computes it.
    pub is_generated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    pub columns: Vec<String>,
    /// The table that it refers to.
    pub table: String,
    pub parent_columns: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UniqueKey {
    /// Its name, `PRIMARY` for the primary key.
    pub name: String,
    pub columns: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TableInfo {
    pub name: String,
    /// Its columns in their order.
    pub columns: Vec<ColumnInfo>,
    pub foreign_keys: Vec<ForeignKey>,
    /// Its unique keys, the primary one first.
    pub unique_keys: Vec<UniqueKey>,
}

impl ColumnInfo {
    /// The values of a column without a rule; `None` for a type of which any could be wrong.
    pub(super) fn values(&self) -> Option<Values> {
        let numbers = |first: i64, last: i64, scale: u32| Values::Numbers {
            first,
            last,
            scale,
            law: Law::Uniform,
        };
        let is_signed = !self.column_type.contains("unsigned");
        let whole = |bits: u32| {
            let last = (1_i64 << (bits - u32::from(is_signed))) - 1;
            numbers(1, last.min(NUMBER_AT_MOST), 0)
        };
        Some(match self.data_type.as_str() {
            "tinyint" if self.column_type.starts_with("tinyint(1)") => numbers(0, 1, 0),
            "tinyint" => whole(8),
            "smallint" => whole(16),
            "mediumint" | "int" | "bigint" => whole(24),
            "decimal" | "numeric" => {
                let (digits, scale) = self.digits.unwrap_or((10, 0));
                // Beyond that a number with its digits behind the point has no place in 64 bits.
                let scale = scale.min(10);
                let before = digits.saturating_sub(scale).min(6);
                numbers(0, 10_i64.pow(before + scale) - 1, scale)
            }
            "float" | "double" | "real" => numbers(0, NUMBER_AT_MOST * 100, 2),
            "bit" => Values::Bits(self.digits.map_or(1, |(bits, _)| bits).clamp(1, 64)),
            "date" | "datetime" | "timestamp" => Values::Moments {
                first: MOMENTS.0,
                last: MOMENTS.1 - 1,
                with_time: self.data_type != "date",
                law: Law::Uniform,
            },
            "time" => Values::TimeOfDay,
            "year" => numbers(2000, 2025, 0),
            "char" | "varchar" | "binary" | "varbinary" | "tinytext" | "text" | "mediumtext"
            | "longtext" | "tinyblob" | "blob" | "mediumblob" | "longblob" => {
                let most = self.characters.unwrap_or(TEXT.1);
                Values::Text {
                    min: TEXT.0.min(most),
                    max: TEXT.1.min(most),
                }
            }
            "enum" | "set" => Values::OneOf(self.members()),
            "json" => Values::Json,
            "uuid" => Values::Uuid,
            _ => return None,
        })
    }

    /// The members of an `enum('a','b')`, each with the sum of the weights up to it.
    fn members(&self) -> Vec<(String, u64)> {
        let list = self
            .column_type
            .split_once('(')
            .map_or("", |(_, list)| list);
        let mut members = Vec::new();
        let mut characters = list.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '\'' {
                continue;
            }
            let mut member = String::new();
            while let Some(character) = characters.next() {
                if character == '\'' && characters.next_if_eq(&'\'').is_none() {
                    break;
                }
                member.push(character);
            }
            members.push((member, members.len() as u64 + 1));
        }
        members
    }
}

impl TableInfo {
    /// The position of a column; names are compared as the server does.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        let mut columns = self.columns.iter();
        columns.position(|column| column.name.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_members_of_an_enum_are_its_values() {
        let column = ColumnInfo {
            data_type: "enum".to_owned(),
            column_type: "enum('a','it''s','b,c')".to_owned(),
            ..ColumnInfo::default()
        };
        let members = ["a", "it's", "b,c"].map(str::to_owned);
        let members: Vec<_> = members.into_iter().zip(1..).collect();
        assert_eq!(column.values(), Some(Values::OneOf(members)));
    }

    #[test]
    fn numbers_fit_their_type() {
        for (data_type, column_type, last) in [
            ("tinyint", "tinyint(4)", 127),
            ("tinyint", "tinyint(3) unsigned", 255),
            ("tinyint", "tinyint(1)", 1),
            ("smallint", "smallint", 32_767),
            ("bigint", "bigint(20)", 1_000_000),
        ] {
            let column = ColumnInfo {
                data_type: data_type.to_owned(),
                column_type: column_type.to_owned(),
                ..ColumnInfo::default()
            };
            let values = column.values();
            let found = matches!(values, Some(Values::Numbers { last: it, .. }) if it == last);
            assert!(found, "{column_type}: {values:?}");
        }
    }
}
