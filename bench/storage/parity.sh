#!/usr/bin/env bash
# Compares a pattern of `dbdyno storage suite` with fio run by hand from the job file that dbdyno prints, in alternating rounds:
# the ratio of requests per second with its interval. Then the percentiles that dbdyno computes from fio's bins against the
# table of the same output, which may differ by one bin (1/64).
#
# usage: bench/storage/parity.sh [DBDYNO]    (default: what `make build` builds)
# Environment: ROUNDS (default 5), EACH in seconds (default 10), SIZE (default 1G), DISK (default /var/tmp).
# Needs fio, jq and awk.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
# shellcheck source=bench/storage/rounds.sh
. "$here/rounds.sh"
need 'fio, jq and mawk' fio jq awk
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5} each=${EACH:-10} size=${SIZE:-1G}
work_on_disk
mkdir "$work/disk"
cat >"$work/patterns.toml" <<'TOML'
[[pattern]]
name = "reads"
block = "16k"
reads = 100
depth = 16

[[pattern]]
name = "writes"
block = "16k"
reads = 0
depth = 16
TOML

ours() { # ROUND
    "$dbdyno" storage suite "$work/disk" --patterns "$work/patterns.toml" --size "$size" --seconds "$each" \
        --results "$work/ours-$1" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; exit 3; }
    jq -r 'select(.line == "pattern") | "\(.pattern.name) \((.read.iops // 0) + (.write.iops // 0))"' \
        "$work/ours-$1/storage.jsonl"
}

theirs() { # ROUND
    for pattern in reads writes; do
        fio --section="$pattern" --output-format=json+ --output="$work/theirs-$1-$pattern.json" "$work/hand.fio"
        jq -r --arg name "$pattern" '.jobs[0] | "\($name) \(.read.iops + .write.iops)"' "$work/theirs-$1-$pattern.json"
    done
}

# The first round gives the job file; by hand it runs on a file of its own that was written in the same way.
ours 0 >/dev/null
sed "s|^filename=.*|filename=$work/hand.dat|" "$work/ours-0/patterns.fio" >"$work/hand.fio"
head -c "$(sed -n 's/^size=//p' "$work/hand.fio")" /dev/urandom >"$work/hand.dat"
sync "$work/hand.dat"
for round in $(seq "$rounds"); do
    # The first one alternates between rounds.
    if [ $((round % 2)) -eq 0 ]; then
        ours "$round" >"$work/ours"
        theirs "$round" >"$work/theirs"
    else
        theirs "$round" >"$work/theirs"
        ours "$round" >"$work/ours"
    fi
    join "$work/ours" "$work/theirs" >>"$work/pairs"
done
echo "| pattern | dbdyno / fio by hand, 95 % interval | rounds |"
echo "| --- | ---: | ---: |"
for pattern in reads writes; do
    shown=$(awk -v name="$pattern" '$1 == name { print $2, $3 }' "$work/pairs" | ratio)
    echo "| 16 KiB, depth 16, $pattern | $shown | $rounds |"
done
echo
echo "Percentiles from the bins against fio's table of the same output:"
for pattern in reads writes; do
    "$dbdyno" import fio "$work/theirs-1-$pattern.json" --results "$work/import-$pattern" >/dev/null
    side=${pattern%s}
    jq -rn --arg side "$side" --slurpfile fio "$work/theirs-1-$pattern.json" --slurpfile ours "$work/import-$pattern/storage.json" '
        $fio[0].jobs[0][$side].clat_ns.percentile as $table | $ours[0].patterns[0][$side].latency as $latency
        | [["50.000000", "p50_ns"], ["95.000000", "p95_ns"], ["99.000000", "p99_ns"], ["99.900000", "p999_ns"]]
        | map($latency[.[1]] / $table[.[0]] - 1 | fabs) | max
        | "\($side)s: largest difference of p50, p95, p99 and p99.9 \(. * 100) % (one bin is 1.6 %)"'
done
