#!/usr/bin/env python3
"""Prints the reads per second with which the throughput halves in the middle between the measured buffer pools.

    bench/size/cliff_reads.py RESULTS POOL

RESULTS has one run for each buffer pool. POOL is the level of the one that holds all data: its throughput is halved.
"""

import pathlib, sqlite3, statistics, sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results, all_in_memory = pathlib.Path(sys.argv[1]), sys.argv[2]
    database = sqlite3.connect(results / "summary.sqlite")
    throughput_per_s = dict(database.execute("SELECT pool, throughput_per_s FROM results WHERE complete"))
    misses = dict(database.execute(
        "SELECT pool, per_operation FROM results JOIN costs USING (run) WHERE complete AND name = 'misses'"
    ))
    misses.pop(all_in_memory, None)
    if all_in_memory not in throughput_per_s or not misses:
        sys.exit(f"error: {results}: a run of each buffer pool is needed\nhint: remove this directory, and measure again")
    reads_per_s = throughput_per_s[all_in_memory] / 2 * statistics.mean(misses.values())
    print(int(round(reads_per_s, -1)))


if __name__ == "__main__":
    main()
