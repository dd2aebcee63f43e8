#!/usr/bin/env bash
# How many event loops: point selects per second of a MariaDB that shares the machine, by event loops and connections.
#
# usage: bench/event_loops/run.sh [DBDYNO]    (default: what `make build` builds)
# Prints medians of ROUNDS (5) rounds as a table in Markdown, thousands per second; the runs of a round, each of
# SECONDS_EACH (3) seconds, come in random order. CONNECTIONS ("8 64 512") are those of the rows.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-3}
read -ra rows <<<"${CONNECTIONS:-8 64 512}"
work=$(mktemp -d)
name=bench-loops-$$
trap 'exit 130' INT TERM
trap '"$dbdyno" server destroy "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

"$dbdyno" server create "$name" --set max_connections=600 >/dev/null
table=(--server "$name" --tables 1 --table-size 100k)
"$dbdyno" oltp point_select prepare "${table[@]}" >/dev/null 2>&1
cells() {
    for connections in "${rows[@]}"; do
        for loops in 1 2 4 8; do echo "$connections $loops"; done
    done
}
for round in $(seq "$rounds"); do
    # The round is the seed of its order.
    cells | shuf --random-source=<(yes "$round") >"$work/round"
    while read -r connections loops; do
        "$dbdyno" oltp point_select run "${table[@]}" --connections "$connections" --loops "$loops" \
            --warmup 1s --duration "${seconds}s" --format csv --record "$work/record-$round-$connections-$loops" 2>/dev/null |
            awk -F, '$1 == "operation" { print $4 }' >>"$work/$connections-$loops"
    done <"$work/round"
done

echo '| connections | 1 loop | 2 loops | 4 loops | 8 loops |'
echo '| ---: | ---: | ---: | ---: | ---: |'
for connections in "${rows[@]}"; do
    printf '| %d' "$connections"
    for loops in 1 2 4 8; do
        sort -n "$work/$connections-$loops" | awk '{ value[NR] = $1 }
            END { printf " | %.1f (%.1f to %.1f)", value[int((NR + 1) / 2)] / 1e3, value[1] / 1e3, value[NR] / 1e3 }'
    done
    echo ' |'
done
