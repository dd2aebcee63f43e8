//! Buffers that begin where requests past the page cache need them to.

/// Alignment of memory, offset and length that every disk and file system takes.
pub(crate) const ALIGNMENT: usize = 4096;

/// Bytes that begin at a multiple of [`ALIGNMENT`].
#[derive(Debug)]
pub(crate) struct AlignedBuffer {
    memory: Vec<u8>,
    begin: usize,
    length: usize,
}

impl AlignedBuffer {
    /// This number of bytes that no disk can compress; equal for equal seeds.
    pub(crate) fn random(length: usize, seed: u64) -> Self {
        let memory = vec![0; length + ALIGNMENT];
        let begin = memory.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        let mut buffer = Self {
            memory,
            begin,
            length,
        };
        buffer.refill(seed);
        buffer
    }

    /// Other bytes.
    pub(crate) fn refill(&mut self, seed: u64) {
        let mut random = SplitMix(seed);
        for chunk in self.bytes_mut().chunks_mut(8) {
            let word = random.next().to_ne_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.begin..self.begin + self.length]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..self.begin + self.length]
    }
}

/// A small random generator. Source: G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom number
/// generators", OOPSLA 2014.
#[derive(Debug, Clone)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below a limit, almost evenly spread.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_aligned_and_not_compressible() {
        let buffer = AlignedBuffer::random(1 << 16, 7);
        assert_eq!(buffer.bytes().as_ptr() as usize % ALIGNMENT, 0);
        assert_eq!(buffer.bytes().len(), 1 << 16);
        let mut counts = [0u32; 256];
        for byte in buffer.bytes() {
            counts[usize::from(*byte)] += 1;
        }
        assert!(counts.iter().all(|count| (150..400).contains(count)));
    }
}
