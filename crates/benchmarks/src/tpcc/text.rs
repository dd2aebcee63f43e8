//! Random texts of clause 4.3.2: letters and digits, last names, zip codes, and data that contains ORIGINAL.

use std::ops::RangeInclusive;

use super::random::Draw;

/// The syllables of a last name, by digit.
///
/// Source: TPC-C 5.11, clause 4.3.2.3.
const SYLLABLES: [&[u8]; 10] = [
    b"BAR", b"OUGHT", b"ABLE", b"PRI", b"PRES", b"ESE", b"ANTI", b"CALLY", b"ATION", b"EING",
];

/// Mark of the tenth of the items and stocks that are original.
pub(super) const ORIGINAL: &[u8] = b"ORIGINAL";

/// Characters generated at a time: two draws of 64 bits give eight, and eight fill a vector register.
const BLOCK: usize = 16;

/// Appends this number of random letters and digits.
#[inline]
pub(super) fn push_alphanumeric(draw: &mut Draw, length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    while out.len() < end {
        out.extend_from_slice(&alphanumeric_block(draw));
    }
    out.truncate(end);
}

/// Letters and digits, with equal probabilities to within 0.1 %.
///
/// Arithmetic instead of a table lookup, so that the compiler can use vector instructions.
#[inline]
fn alphanumeric_block(draw: &mut Draw) -> [u8; BLOCK] {
    let mut words = [0_u16; BLOCK];
    for four in words.chunks_exact_mut(4) {
        let bits = draw.bits();
        for (index, word) in four.iter_mut().enumerate() {
            *word = (bits >> (16 * index)) as u16;
        }
    }
    words.map(|word| {
        let number = ((u32::from(word) * 62) >> 16) as u8;
        let past_digits = u8::from(number > 9) * (b'A' - b'9' - 1);
        let past_capitals = u8::from(number > 35) * (b'a' - b'Z' - 1);
        b'0' + number + past_digits + past_capitals
    })
}

/// Appends a random a-string: letters and digits, of a uniformly random length.
#[inline]
pub(super) fn push_a_string(draw: &mut Draw, lengths: RangeInclusive<u32>, out: &mut Vec<u8>) {
    let length = draw.uniform(lengths) as usize;
    push_alphanumeric(draw, length, out);
}

/// Appends a random n-string: this number of digits.
pub(super) fn push_digits(draw: &mut Draw, length: usize, out: &mut Vec<u8>) {
    for _ in 0..length {
        out.push(b'0' + draw.uniform(0..=9) as u8);
    }
}

/// Appends two capital letters as a state.
pub(super) fn push_state(draw: &mut Draw, out: &mut Vec<u8>) {
    for _ in 0..2 {
        out.push(b'A' + draw.uniform(0..=25) as u8);
    }
}

/// Appends a zip code: four random digits and `11111`, such as `043711111`.
///
/// Source: TPC-C 5.11, clause 4.3.2.7.
pub(super) fn push_zip(draw: &mut Draw, out: &mut Vec<u8>) {
    push_digits(draw, 4, out);
    out.extend_from_slice(b"11111");
}

/// Appends 26 to 50 characters; in a tenth of the cases they contain ORIGINAL at a random position.
#[inline]
pub(super) fn push_data(draw: &mut Draw, out: &mut Vec<u8>) {
    let start = out.len();
    push_a_string(draw, 26..=50, out);
    if draw.percent(10) {
        let room = (out.len() - start - ORIGINAL.len()) as u32;
        let at = start + draw.uniform(0..=room) as usize;
        out[at..at + ORIGINAL.len()].copy_from_slice(ORIGINAL);
    }
}

/// Appends the last name for a number from 0 to 999, such as `PRICALLYOUGHT` for 371.
pub(super) fn push_last_name(number: u32, out: &mut Vec<u8>) {
    for digit in [number / 100, number / 10 % 10, number % 10] {
        out.extend_from_slice(SYLLABLES[digit as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tpcc::random::Purpose;

    fn draw() -> Draw {
        Draw::new(1, Purpose::Item, 0)
    }

    #[test]
    fn last_names_of_the_specification() {
        for (number, name) in [(371, "PRICALLYOUGHT"), (0, "BARBARBAR"), (40, "BARPRESBAR")] {
            let mut out = Vec::new();
            push_last_name(number, &mut out);
            assert_eq!(String::from_utf8_lossy(&out), name);
        }
    }

    #[test]
    fn all_62_characters_come_alike() {
        let mut out = Vec::new();
        let mut draw = draw();
        push_alphanumeric(&mut draw, 620_000, &mut out);
        assert_eq!(out.len(), 620_000);
        let mut counts = [0_f64; 256];
        for byte in &out {
            counts[usize::from(*byte)] += 1.0;
        }
        let found: Vec<u8> = (0..=255)
            .filter(|b| counts[usize::from(*b)] > 0.0)
            .collect();
        let awaited: Vec<u8> = (b'0'..=b'9')
            .chain(b'A'..=b'Z')
            .chain(b'a'..=b'z')
            .collect();
        assert_eq!(found, awaited);
        let chi_square: f64 = awaited
            .iter()
            .map(|byte| (counts[usize::from(*byte)] - 1e4).powi(2) / 1e4)
            .sum();
        // 61 degrees of freedom: exceeded once in 10,000 sequences.
        assert!(chi_square < 110.0, "{chi_square}");
    }

    #[test]
    fn lengths_are_exact() {
        for length in [0, 1, 15, 16, 17, 24, 500] {
            let mut out = b"x".to_vec();
            push_alphanumeric(&mut draw(), length, &mut out);
            assert_eq!(out.len(), length + 1);
        }
    }

    #[test]
    fn a_tenth_of_the_data_is_original_anywhere() {
        let mut draw = draw();
        let (mut originals, mut first, mut last) = (0, 0, 0);
        for _ in 0..20_000 {
            let mut out = Vec::new();
            push_data(&mut draw, &mut out);
            assert!((26..=50).contains(&out.len()));
            if out.windows(8).any(|window| window == ORIGINAL) {
                originals += 1;
                first += u32::from(out.starts_with(ORIGINAL));
                last += u32::from(out.ends_with(ORIGINAL));
            }
        }
        // 2,000 are expected with a standard deviation of 42.
        assert!((1_830..2_170).contains(&originals), "{originals}");
        assert!(first > 20 && last > 20);
    }

    #[test]
    fn zips_and_states() {
        let mut out = Vec::new();
        push_zip(&mut draw(), &mut out);
        assert_eq!(out.len(), 9);
        assert!(out[..4].iter().all(u8::is_ascii_digit) && out.ends_with(b"11111"));
        out.clear();
        push_state(&mut draw(), &mut out);
        assert!(out.len() == 2 && out.iter().all(u8::is_ascii_uppercase));
    }
}
