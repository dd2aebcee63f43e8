//! The sequence that glibc's `rand()` returns to a program that never calls `srand()`, generated in blocks.
//!
//! Source: the additive feedback generator (TYPE_3) that glibc documents under `random(3)`; degree 31,
//! separation 3, seed 1.

use std::array;

/// Degree of the recurrence r\[i\] = r\[i-3\] + r\[i-31\].
const DEGREE: usize = 31;
/// Numbers that are discarded before the first one.
const DISCARDED: usize = 310;
/// Numbers that one step of the recurrence computes: the largest step that depends on finished numbers only.
const STEP: usize = 30;
/// Numbers in a block; a multiple of [`STEP`].
pub(crate) const BLOCK: usize = 4080;

/// The generator, at the end of its last block.
#[derive(Debug, Clone)]
pub(crate) struct GlibcRandom {
    /// The last 31 numbers, oldest first.
    history: [u32; DEGREE],
}

impl GlibcRandom {
    /// The generator in the state of a new process.
    pub(crate) fn unseeded() -> Self {
        let mut history = [1_u32; DEGREE];
        for index in 1..DEGREE {
            history[index] = (u64::from(history[index - 1]) * 16_807 % 2_147_483_647) as u32;
        }
        // r[31], r[32] and r[33] repeat r[0], r[1] and r[2].
        history.rotate_left(3);
        let mut generator = Self { history };
        for _ in 0..DISCARDED {
            let next = generator.history[DEGREE - 3].wrapping_add(generator.history[0]);
            generator.history.rotate_left(1);
            generator.history[DEGREE - 1] = next;
        }
        generator
    }

    /// Fills a block with the next numbers, each from 0 to 2^31 - 1.
    pub(crate) fn fill(&mut self, block: &mut [u32; BLOCK]) {
        // Three independent chains of additions, one per residue of the index modulo 3.
        let mut chains = [
            self.history[DEGREE - 3],
            self.history[DEGREE - 2],
            self.history[DEGREE - 1],
        ];
        let mut raw = [0_u32; DEGREE + BLOCK];
        raw[..DEGREE].copy_from_slice(&self.history);
        let mut start = 0;
        while start + DEGREE < raw.len() {
            let (past, next) = raw[start..start + DEGREE + STEP].split_at_mut(DEGREE);
            for (next, past) in next.chunks_exact_mut(3).zip(past.chunks_exact(3)) {
                chains = array::from_fn(|chain| chains[chain].wrapping_add(past[chain]));
                next.copy_from_slice(&chains);
            }
            start += STEP;
        }
        for (number, raw) in block.iter_mut().zip(&raw[DEGREE..]) {
            *number = raw >> 1;
        }
        self.history.copy_from_slice(&raw[BLOCK..]);
    }
}

/// The same numbers one by one.
pub(crate) struct Numbers {
    generator: GlibcRandom,
    block: Box<[u32; BLOCK]>,
    next: usize,
}

impl Numbers {
    /// The sequence from the start of a new process.
    pub(crate) fn unseeded() -> Self {
        Self {
            generator: GlibcRandom::unseeded(),
            block: Box::new([0; BLOCK]),
            next: BLOCK,
        }
    }

    /// The next number, from 0 to 2^31 - 1.
    pub(crate) fn draw(&mut self) -> u32 {
        if self.next == BLOCK {
            self.generator.fill(&mut self.block);
            self.next = 0;
        }
        let number = self.block[self.next];
        self.next += 1;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers() {
        let mut block = [0; BLOCK];
        GlibcRandom::unseeded().fill(&mut block);
        assert_eq!(
            block[..5],
            [
                1_804_289_383,
                846_930_886,
                1_681_692_777,
                1_714_636_915,
                1_957_747_793
            ]
        );
    }

    #[test]
    fn one_by_one_they_are_the_same() {
        let mut generator = GlibcRandom::unseeded();
        let mut numbers = Numbers::unseeded();
        let mut block = [0; BLOCK];
        for _ in 0..2 {
            generator.fill(&mut block);
            assert!(block.iter().all(|number| *number == numbers.draw()));
        }
    }

    #[test]
    fn blocks_join_without_a_seam() {
        let mut generator = GlibcRandom::unseeded();
        let mut plain = generator.history.to_vec();
        let mut block = [0; BLOCK];
        for _ in 0..3 {
            generator.fill(&mut block);
            for number in block {
                let index = plain.len();
                let next = plain[index - 3].wrapping_add(plain[index - 31]);
                plain.push(next);
                assert_eq!(number, next >> 1);
            }
        }
    }
}
