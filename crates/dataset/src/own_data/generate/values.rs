//! One value as LOAD DATA reads it: drawn, or one of many different ones.

use rand_xoshiro::{Xoshiro256PlusPlus, rand_core::Rng};

use super::{date, rule::Values};
use crate::random::below;

pub(super) fn draw(values: &Values, row: u64, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    match values {
        Values::Sequence { first } => write_number(first.saturating_add_unsigned(row), out),
        Values::Numbers {
            first,
            last,
            scale,
            law,
        } => write_scaled(
            first + law.draw(last.abs_diff(*first) + 1, random) as i64,
            *scale,
            out,
        ),
        Values::Moments {
            first,
            last,
            with_time,
            law,
        } => {
            let step = if *with_time { 1 } else { 86_400 };
            let place = law.draw(last.abs_diff(*first) / step + 1, random);
            date::write(first + (place * step) as i64, *with_time, out);
        }
        Values::Text { min, max } => write_text(min + below(max - min + 1, random), random, out),
        Values::OneOf(choices) => {
            let sum = choices.last().map_or(1, |(_, sum)| *sum);
            let drawn = below(sum, random);
            let at = choices.partition_point(|(_, sum)| *sum <= drawn);
            escape(choices[at].0.as_bytes(), out);
        }
        Values::Constant(text) => escape(text.as_bytes(), out),
        Values::Uuid => write_uuid(random.next_u64(), random.next_u64(), out),
        Values::TimeOfDay => write_time(below(86_400, random), out),
        Values::Bits(bits) => write_bits(random.next_u64(), *bits, out),
        Values::Json => write_json(below(1_000_000, random), random, out),
        Values::References { .. } => unreachable!("a reference is a foreign key"),
    }
}

pub(super) fn write_distinct(
    values: &Values,
    place: u64,
    count: u64,
    random: &mut Xoshiro256PlusPlus,
    out: &mut Vec<u8>,
) {
    match values {
        Values::Numbers { first, scale, .. } => write_scaled(first + place as i64, *scale, out),
        Values::Moments {
            first, with_time, ..
        } => {
            let step = if *with_time { 1 } else { 86_400 };
            date::write(first + place as i64 * step, *with_time, out);
        }
        Values::Text { min, max } => {
            let digits = digits36(count.max(2) - 1);
            let from = out.len();
            write_base36(place, digits, out);
            let length = min + below(max - min + 1, random);
            write_text(
                length.saturating_sub((out.len() - from) as u64),
                random,
                out,
            );
        }
        Values::OneOf(choices) => escape(choices[place as usize].0.as_bytes(), out),
        Values::TimeOfDay => write_time(place, out),
        Values::Bits(bits) => {
            // Seven bits of a byte are used, so that the byte is ASCII.
            let spread = (0..8).fold(0, |sum, byte| {
                sum | (place >> (7 * byte) & 0x7f) << (8 * byte)
            });
            write_bits(spread, *bits, out);
        }
        Values::Json => write_json(place, random, out),
        other => draw(other, place, random, out),
    }
}

pub(super) fn write_number(number: i64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

fn write_scaled(number: i64, scale: u32, out: &mut Vec<u8>) {
    if scale == 0 {
        return write_number(number, out);
    }
    let unit = 10_u64.pow(scale);
    if number < 0 {
        out.push(b'-');
    }
    let number = number.unsigned_abs();
    let (whole, behind) = (number / unit, number % unit);
    out.extend_from_slice(format!("{whole}.{behind:0width$}", width = scale as usize).as_bytes());
}

/// Letters with blanks between them, none at an end.
fn write_text(length: u64, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz  eato";
    let from = out.len();
    let mut left = length;
    while left > 0 {
        let mut bits = random.next_u64();
        for _ in 0..left.min(12) {
            out.push(LETTERS[(bits & 31) as usize]);
            bits >>= 5;
        }
        left -= left.min(12);
    }
    let end = out.len();
    for at in [from, end.saturating_sub(1)] {
        if out.get(at) == Some(&b' ') && at >= from {
            out[at] = b'e';
        }
    }
}

fn digits36(number: u64) -> usize {
    let mut digits = 1;
    let mut rest = number / 36;
    while rest > 0 {
        digits += 1;
        rest /= 36;
    }
    digits
}

fn write_base36(mut number: u64, digits: usize, out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + digits, b'0');
    for at in (from..from + digits).rev() {
        out[at] = b"0123456789abcdefghijklmnopqrstuvwxyz"[(number % 36) as usize];
        number /= 36;
    }
}

fn write_uuid(high: u64, low: u64, out: &mut Vec<u8>) {
    let high = high & !0xf000 | 0x4000;
    let low = low & !(0b11 << 62) | 0b10 << 62;
    let text = format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    );
    out.extend_from_slice(text.as_bytes());
}

fn write_time(seconds: u64, out: &mut Vec<u8>) {
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    out.extend_from_slice(format!("{hours:02}:{minutes:02}:{:02}", seconds % 60).as_bytes());
}

fn write_bits(drawn: u64, bits: u32, out: &mut Vec<u8>) {
    let drawn = drawn & 0x7f7f_7f7f_7f7f_7f7f & (u64::MAX >> (64 - bits));
    let bytes = drawn.to_be_bytes();
    escape(&bytes[8 - bits.div_ceil(8) as usize..], out);
}

fn write_json(number: u64, random: &mut Xoshiro256PlusPlus, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{{\"id\": {number}, \"name\": \"").as_bytes());
    let length = 5 + below(16, random);
    write_text(length, random, out);
    out.extend_from_slice(b"\"}");
}

/// Appends a value as LOAD DATA reads it.
pub(super) fn escape(value: &[u8], out: &mut Vec<u8>) {
    for byte in value {
        if matches!(byte, b'\\' | b'\t' | b'\n') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}
