//! The sets of patterns that dbdyno knows by name.

use samples::{Access, Pattern};

use crate::aligned::SplitMix;

/// Block sizes of the suite: 8 KiB is the block of Oracle and PostgreSQL, 16 KiB the page of InnoDB.
const BLOCKS_KIB: [u64; 3] = [4, 8, 16];
const READS_PERCENT: [u32; 5] = [100, 90, 50, 10, 0];
const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Block size and depth of the sequential patterns; the article does not tell them.
const SEQUENTIAL_KIB: u64 = 1024;

/// The 137 patterns: two sequential ones, and random ones of 3 block sizes, 5 shares of reads and 9 depths.
///
/// Source: "Provisioned IOPS" of JPOUG's advent calendar 2012; names and order are `001_seq_read`, `002_seq_write`,
/// `003_rand_4k_r100_q1` to `137_rand_16k_r0_q256`.
pub fn sh2_137() -> Vec<Pattern> {
    let mut patterns = vec![sequential(1, 100), sequential(2, 0)];
    patterns.extend(randoms(3, &BLOCKS_KIB, &READS_PERCENT, &DEPTHS));
    patterns
}

/// The 30 random patterns that matter to MySQL: 4 and 16 KiB, reads, half and half, writes, at five depths.
pub fn mysql_30() -> Vec<Pattern> {
    randoms(1, &[4, 16], &[100, 50, 0], &[1, 4, 16, 64, 256])
}

/// The few patterns of a first look: pages of InnoDB read, written and both, and files read and written.
pub fn commit_relevant() -> Vec<Pattern> {
    let mut patterns = vec![sequential(1, 100), sequential(2, 0)];
    let pages = [(100, 1), (100, 16), (100, 64), (0, 1), (0, 16), (50, 16)];
    let numbered = (3..).zip(pages);
    patterns.extend(numbered.map(|(number, (reads, depth))| random(number, 16, reads, depth)));
    patterns
}

/// The patterns of one repeat in a random order that depends on the seed and on the number of the repeat: a disk that
/// becomes slower or faster meanwhile makes no difference of patterns.
pub fn shuffled(patterns: &[Pattern], seed: u64, repeat: u32) -> Vec<Pattern> {
    let mut patterns = patterns.to_vec();
    let mut random = SplitMix(SplitMix(seed).next() ^ u64::from(repeat));
    // Source: R. Durstenfeld, "Algorithm 235: Random permutation", CACM 7 (1964).
    for last in (1..patterns.len()).rev() {
        let chosen = random.below(last as u64 + 1) as usize;
        patterns.swap(last, chosen);
    }
    patterns
}

fn randoms(first: usize, blocks_kib: &[u64], reads: &[u32], depths: &[u32]) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for block_kib in blocks_kib {
        for reads_percent in reads {
            for depth in depths {
                let number = first + patterns.len();
                patterns.push(random(number, *block_kib, *reads_percent, *depth));
            }
        }
    }
    patterns
}

fn sequential(number: usize, reads_percent: u32) -> Pattern {
    let verb = if reads_percent == 100 {
        "read"
    } else {
        "write"
    };
    Pattern {
        name: format!("{number:03}_seq_{verb}"),
        access: Access::Sequential,
        block_bytes: SEQUENTIAL_KIB << 10,
        reads_percent,
        depth: 1,
    }
}

fn random(number: usize, block_kib: u64, reads_percent: u32, depth: u32) -> Pattern {
    Pattern {
        name: format!("{number:03}_rand_{block_kib}k_r{reads_percent}_q{depth}"),
        access: Access::Random,
        block_bytes: block_kib << 10,
        reads_percent,
        depth,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_has_the_numbers_of_the_rule() {
        let patterns = sh2_137();
        assert_eq!(patterns.len(), 137);
        let cases = [
            (1, "001_seq_read", 1 << 20, 100, 1),
            (2, "002_seq_write", 1 << 20, 0, 1),
            (3, "003_rand_4k_r100_q1", 4096, 100, 1),
            (11, "011_rand_4k_r100_q256", 4096, 100, 256),
            (12, "012_rand_4k_r90_q1", 4096, 90, 1),
            (47, "047_rand_4k_r0_q256", 4096, 0, 256),
            (48, "048_rand_8k_r100_q1", 8192, 100, 1),
            (93, "093_rand_16k_r100_q1", 16384, 100, 1),
            (119, "119_rand_16k_r50_q256", 16384, 50, 256),
            (137, "137_rand_16k_r0_q256", 16384, 0, 256),
        ];
        for (number, name, block_bytes, reads_percent, depth) in cases {
            let it = &patterns[number - 1];
            assert_eq!(
                (it.name.as_str(), it.block_bytes, it.reads_percent, it.depth),
                (name, block_bytes, reads_percent, depth)
            );
        }
    }

    #[test]
    fn each_repeat_has_its_own_order_of_the_same_patterns() {
        let patterns = mysql_30();
        let first = shuffled(&patterns, 7, 1);
        assert_eq!(first, shuffled(&patterns, 7, 1));
        assert_ne!(first, shuffled(&patterns, 7, 2));
        assert_ne!(first, shuffled(&patterns, 8, 1));
        assert_ne!(first, patterns);
        let mut sorted = first.clone();
        sorted.sort_by(|a, b| a.name.cmp(&b.name));
        assert_eq!(sorted, patterns);
        // Over many seeds each pattern is first about as often.
        let firsts = (0..600).filter(|seed| shuffled(&patterns[..6], *seed, 1)[0] == patterns[0]);
        assert!((70..130).contains(&firsts.count()));
    }

    #[test]
    fn the_small_sets() {
        let patterns = mysql_30();
        assert_eq!(patterns.len(), 30);
        assert_eq!(patterns[0].name, "001_rand_4k_r100_q1");
        assert_eq!(patterns[29].name, "030_rand_16k_r0_q256");
        assert_eq!(commit_relevant()[7].name, "008_rand_16k_r50_q16");
    }
}
