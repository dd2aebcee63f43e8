//! Mutations of text: damage to a file or an option, as by a typing error, a torn write or an attack.

use crate::torture::{chance::Chance, mischief::flip};

/// Values at the ends of ranges.
const EXTREMES: [&str; 22] = [
    "0",
    "-1",
    "-0",
    "1e309",
    "nan",
    "inf",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "99999999999999999999999999999",
    "0.0000000001",
    "1e-400",
    "",
    "''",
    "\"",
    "584542046090y",
    "18446744073709551615s",
    "9e18ms",
    "../../../../etc/passwd",
    "/dev/null",
    "\u{1b}[31mred\u{1b}[0m",
    "\u{feff}",
];
/// Fragments of words; only one of them is a line break.
const FRAGMENTS: [&str; 12] = [
    "[", "]", "{", "}", "=", "\"", "'", "\\", "%", "$", "\n", "\0",
];

/// The text after one to three mutations.
pub(crate) fn mutated(text: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..1 + chance.below(3) {
        mutate(&mut bytes, chance);
    }
    bytes
}

fn mutate(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let at = chance.below(bytes.len() + 1);
    let end = (at + chance.below(40)).min(bytes.len());
    match chance.below(13) {
        0 => flip(bytes, chance),
        1 => bytes.truncate(at),
        2 => drop(bytes.drain(at..end)),
        3 => {
            let again = bytes[at..end].to_vec();
            bytes.splice(at..at, again);
        }
        4 => {
            let count = 1 + chance.below(8);
            let strange = chance.bytes(count);
            bytes.splice(at..end, strange);
        }
        5..=7 => replace_number(bytes, chance),
        8 => swap_lines(bytes, chance),
        9 => {
            let many = chance.one_of(&FRAGMENTS).repeat(1 + chance.below(20_000));
            bytes.splice(at..at, many.into_bytes());
        }
        10 => drop(bytes.splice(at..end, chance.one_of(&EXTREMES).bytes())),
        11 => repeat_line(bytes, chance),
        _ => {
            let fragment = chance.one_of(&FRAGMENTS);
            bytes.splice(at..at, fragment.bytes());
        }
    }
}

/// Replaces one of the numbers by an extreme value.
fn replace_number(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let is_start =
        |at: &usize| bytes[*at].is_ascii_digit() && (*at == 0 || !bytes[at - 1].is_ascii_digit());
    let starts: Vec<_> = (0..bytes.len()).filter(is_start).collect();
    if starts.is_empty() {
        return;
    }
    let start = *chance.one_of(&starts);
    let length = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    bytes.splice(start..start + length, chance.one_of(&EXTREMES).bytes());
}

fn swap_lines(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let mut lines: Vec<_> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let (one, other) = (chance.below(lines.len()), chance.below(lines.len()));
    lines.swap(one, other);
    *bytes = lines.join(&b'\n');
}

fn repeat_line(bytes: &mut Vec<u8>, chance: &mut Chance) {
    let mut lines: Vec<_> = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::to_vec)
        .collect();
    let at = chance.below(lines.len());
    let line = lines[at].clone();
    // A line of a record has kilobytes.
    let times = 1 + chance.below(200);
    lines.splice(at..at, std::iter::repeat_n(line, times));
    *bytes = lines.join(&b'\n');
}

/// An option's word after one mutation, mostly of the part after its `=`.
pub(crate) fn mutated_word(word: &str, chance: &mut Chance) -> String {
    if let Some((name, value)) = word.split_once('=')
        && !chance.one_in(5)
    {
        return format!("{name}={}", mutated_word(value, chance));
    }
    let mut bytes = word.as_bytes().to_vec();
    match chance.below(3) {
        0 => chance.one_of(&EXTREMES).to_string(),
        1 => {
            replace_number(&mut bytes, chance);
            String::from_utf8_lossy(&bytes).into_owned()
        }
        _ => {
            flip(&mut bytes, chance);
            String::from_utf8_lossy(&bytes).into_owned()
        }
    }
}

#[test]
fn a_mutation_changes_and_is_the_same_again() {
    let text = b"format = 1\nseed = 3\nconnections = [1, 2]\n";
    let mutate = |number| mutated(text, &mut Chance::new(1, "mutation", number));
    let changed = (0..200).filter(|number| mutate(*number) != text).count();
    assert!(changed > 180, "{changed}");
    assert_eq!(mutate(7), mutate(7));
    for number in 0..200 {
        let mut chance = Chance::new(1, "empty", number);
        mutated(b"", &mut chance);
        mutated_word("", &mut chance);
    }
}
