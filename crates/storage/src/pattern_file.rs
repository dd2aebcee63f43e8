//! Patterns of a user's own, from a TOML file.

use std::collections::BTreeSet;

use samples::{Access, Pattern};
use serde::Deserialize;

use crate::error::Error;

/// More patterns than this are a mistake.
const PATTERNS_AT_MOST: usize = 1000;
/// Requests in flight that fio and the kernel still take.
const DEPTH_AT_MOST: u32 = 4096;
/// Largest request, bytes.
const BLOCK_AT_MOST: u64 = 64 << 20;
/// Blocks are multiples of this, so that they can go past the page cache.
const BLOCK_UNIT: u64 = 512;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternFile {
    pattern: Vec<PatternTable>,
}

/// For example `name = "pages"`, `block = "16k"`, `reads = 70`, `depth = 8`, `access = "random"`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PatternTable {
    name: String,
    block: String,
    reads: u32,
    depth: u32,
    access: Option<Access>,
}

/// The patterns of a file's text: `[[pattern]]` tables with `name`, `block`, `reads` (percent), `depth` and, unless random,
/// `access = "sequential"`.
pub fn parse_patterns(text: &str) -> Result<Vec<Pattern>, Error> {
    let file: PatternFile =
        toml::from_str(text).map_err(|error| Error::Patterns(error.to_string()))?;
    if file.pattern.is_empty() || file.pattern.len() > PATTERNS_AT_MOST {
        let message = format!("a file contains 1 to {PATTERNS_AT_MOST} [[pattern]] tables");
        return Err(Error::Patterns(message));
    }
    let mut names = BTreeSet::new();
    let patterns = file.pattern.into_iter().map(|table| {
        let name = table.name.clone();
        let wrong = |why: String| Error::Patterns(format!("pattern {name:?}: {why}"));
        let pattern = checked(table).map_err(wrong)?;
        if names.insert(pattern.name.clone()) {
            Ok(pattern)
        } else {
            Err(wrong("this name is used twice".to_owned()))
        }
    });
    patterns.collect()
}

fn checked(table: PatternTable) -> Result<Pattern, String> {
    // It becomes a section of fio's job file.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let is_named = (1..=64).contains(&table.name.len()) && table.name.chars().all(is_plain);
    if !is_named || table.name == "global" {
        return Err(
            "a name has 1 to 64 letters, digits, `_`, `-` and `.`, and is not `global`".to_owned(),
        );
    }
    let block = settings::quantity::bytes(&table.block);
    let Some(block_bytes) =
        block.filter(|it| (BLOCK_UNIT..=BLOCK_AT_MOST).contains(it) && it % BLOCK_UNIT == 0)
    else {
        return Err(format!(
            "block = {:?}: a multiple of {BLOCK_UNIT} bytes up to 64M, for example \"16k\"",
            table.block
        ));
    };
    if table.reads > 100 {
        return Err(format!("reads = {}: a percentage, 0 to 100", table.reads));
    }
    if !(1..=DEPTH_AT_MOST).contains(&table.depth) {
        return Err(format!("depth = {}: 1 to {DEPTH_AT_MOST}", table.depth));
    }
    Ok(Pattern {
        name: table.name,
        access: table.access.unwrap_or(Access::Random),
        block_bytes,
        reads_percent: table.reads,
        depth: table.depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read() {
        let text = "[[pattern]]\nname = \"pages\"\nblock = \"16k\"\nreads = 70\ndepth = 8\n\
                    [[pattern]]\nname = \"dump\"\nblock = \"1M\"\nreads = 100\ndepth = 2\naccess = \"sequential\"\n";
        let patterns = parse_patterns(text).unwrap();
        assert_eq!(patterns[0].block_bytes, 16384);
        assert_eq!(patterns[0].access, Access::Random);
        assert_eq!(patterns[1].access, Access::Sequential);
        let cases = [
            ("block = \"16k\"", "block = \"100\"", "block = \"100\""),
            ("reads = 70", "reads = 101", "reads = 101"),
            ("depth = 8", "depth = 0", "depth = 0"),
            ("\"pages\"", "\"global\"", "global"),
            ("\"pages\"", "\"a]\\n[b\"", "letters"),
            ("\"pages\"", "\"dump\"", "this name is used twice"),
            ("reads = 70", "read = 70", "read"),
        ];
        for (from, to, expected) in cases {
            let error = parse_patterns(&text.replacen(from, to, 1))
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
        assert!(parse_patterns("pattern = []").is_err());
    }
}
