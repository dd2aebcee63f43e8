//! Text in columns.

use std::fmt::Write;

/// Columns padded to their longest cell; the last column is not padded.
pub(super) fn aligned<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    });
    let mut text = String::new();
    for row in rows {
        for (cell, width) in row[..N - 1].iter().zip(widths) {
            write!(text, "{cell:width$}  ").expect("writing to a String cannot fail");
        }
        text.push_str(&row[N - 1]);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_without_trailing_blanks() {
        let rows = [["NAME", "PORT"], ["a-long-name", "1"]].map(|row| row.map(str::to_owned));
        assert_eq!(aligned(&rows), "NAME         PORT\na-long-name  1\n");
    }
}
