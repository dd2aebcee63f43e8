//! The rules that cannot be evaluated yet, and what they wait for.

use crate::rule::WaitingRule;

/// All of them, in the order of the page.
pub const WAITING: &[WaitingRule] = &[
    WaitingRule {
        id: "H02",
        name: "the disk's write cache is known by what it does",
        waits_for: "a probe of the disk: 16 KiB writes past the page cache, with and without a flush after each",
    },
    WaitingRule {
        id: "H05",
        name: "the magnitudes of this host are those of its class",
        waits_for: "measured times of memory, disk, flush and network of the host",
    },
    WaitingRule {
        id: "H09",
        name: "the load uses the parallelism that the disk has",
        waits_for: "the disk's requests per second at one and at many requests at a time",
    },
    WaitingRule {
        id: "H13",
        name: "the gain is stated end to end",
        waits_for: "the share of the application's own time, which only its author knows",
    },
    WaitingRule {
        id: "W01",
        name: "a claim about storage comes from random access past the page cache",
        waits_for: "records of storage benchmarks",
    },
    WaitingRule {
        id: "W04",
        name: "the load touches as much of the data as production does",
        waits_for: "a count of the distinct keys that were asked for",
    },
    WaitingRule {
        id: "W05",
        name: "a dictionary's stride reaches all keys",
        waits_for: "the keys that a Super Smack dictionary hands out, in the record",
    },
    WaitingRule {
        id: "W07",
        name: "rows per statement are spread as in production",
        waits_for: "the distribution of rows returned per statement",
    },
    WaitingRule {
        id: "W08",
        name: "pages read per statement are those that its plan needs",
        waits_for: "the expected pages of each statement, from its plan",
    },
    WaitingRule {
        id: "W11",
        name: "the results are right before and after",
        waits_for: "the outcome of the benchmark's own checks in the record",
    },
];
