//! Any bytes as a dump: the same statements in pieces of any size, and rows as whole lines or none.

#![no_main]

use dataset::own_data::dump::{ColumnKind, DumpStatement, Role, SplitError, Splitter, insert_head, lines_of};
use libfuzzer_sys::fuzz_target;

fn split(text: &[u8], piece: usize) -> Result<Vec<DumpStatement>, SplitError> {
    let mut splitter = Splitter::default();
    let mut found = Vec::new();
    for piece in text.chunks(piece) {
        splitter.feed(piece);
        while let Some(statement) = splitter.next_statement()? {
            found.push(statement);
        }
    }
    splitter.end();
    while let Some(statement) = splitter.next_statement()? {
        found.push(statement);
    }
    Ok(found)
}

fuzz_target!(|text: &[u8]| {
    let Some((first, text)) = text.split_first() else {
        return;
    };
    let whole = split(text, text.len().max(1));
    assert_eq!(split(text, usize::from(*first).max(1)), whole);
    let kinds = [ColumnKind::Number, ColumnKind::Text, ColumnKind::Ascii, ColumnKind::Bytes];
    for statement in whole.unwrap_or_default() {
        let _ = Role::of(&statement.text);
        let rows_at = insert_head(&statement.text).map_or(0, |head| head.rows_at);
        let mut lines = Vec::new();
        match lines_of(&statement.text[rows_at..], &kinds, true, &mut lines) {
            Some(rows) => assert!(rows > 0 && lines.ends_with(b"\n")),
            None => assert!(lines.is_empty()),
        }
    }
});
