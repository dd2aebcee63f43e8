#!/usr/bin/env bash
# Measures what `dbdyno storage suite` takes for a pattern over the time that fio by itself takes for it: the time of ten patterns
# less that of two, for one, against fio by hand. Target: at most one second.
#
# usage: bench/storage/overhead.sh [DBDYNO]    (default: what `make build` builds)
# Environment: ROUNDS (default 3), DISK (default /var/tmp). Needs fio and awk.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
# shellcheck source=bench/storage/rounds.sh
. "$here/rounds.sh"
need 'fio and mawk' fio awk
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-3}
work_on_disk
mkdir "$work/disk"
patterns() { # COUNT
    for number in $(seq "$1"); do
        printf '[[pattern]]\nname = "p%s"\nblock = "16k"\nreads = 100\ndepth = 4\n' "$number"
    done
}
for count in 2 10; do
    patterns "$count" >"$work/$count.toml"
done

TIMEFORMAT=%R
suite_s() { # COUNT ROUND
    {
        time "$dbdyno" storage suite "$work/disk" --patterns "$work/$1.toml" --size 64M --seconds 1 \
            --results "$work/results-$1-$2" >/dev/null 2>&1
    } 2>&1
}

for round in $(seq "$rounds"); do
    few=$(suite_s 2 "$round")
    many=$(suite_s 10 "$round")
    sed "s|^filename=.*|filename=$work/hand.dat|" "$work/results-2-$round/patterns.fio" >"$work/hand.fio"
    fio --section=p1 "$work/hand.fio" >/dev/null
    alone=$({ time fio --section=p1 --output-format=json+ "$work/hand.fio" >/dev/null; } 2>&1)
    awk -v few="$few" -v many="$many" -v alone="$alone" 'BEGIN { print (many - few) / 8 - alone }' >>"$work/overheads"
done
printf 'Time of a pattern over that of fio by itself: %.3f s (median of %d rounds; target: at most 1 s)\n' \
    "$(median <"$work/overheads")" "$rounds"
