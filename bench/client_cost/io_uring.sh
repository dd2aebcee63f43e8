#!/usr/bin/env bash
# Measures whether io_uring would make the client cheaper: CPU per query of a minimal client over io_uring and one over
# epoll, against the null server, by connections and transport.
#
# usage: bench/client_cost/io_uring.sh [DBDYNO]    (default: what `make build` builds)
# Prints a table in Markdown. Both clients run in each of ROUNDS (10) rounds, cells and clients in random order, with
# QUERIES (300000) queries at a time; client and null server have one processor each. A figure is the user and system
# time of a long run minus that of a short one (8 queries per connection). Each cell contains the median of the ratios
# with its distribution-free interval: the order statistics that enclose the true median with at least 95 % confidence.
# Needs gcc, taskset and liburing-dev.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need 'gcc and util-linux' gcc taskset
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-10}
queries=${QUERIES:-300000}
work=$(mktemp -d "${TMPDIR:-/tmp}/io-uring-XXXXXX")
server=
trap 'exit 130' INT TERM
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT

gcc -O2 -Wall -o "$work/epoll" "$here/peers/epoll_floor.c"
gcc -O2 -Wall -o "$work/uring" "$here/peers/uring_floor.c" -luring
taskset -c 0 "$dbdyno" null-server --socket "$work/s" --port 0 >"$work/listening" &
server=$!
until grep -q listening "$work/listening"; do sleep 0.1; done
port=$(sed 's/.*://' "$work/listening")

# Microseconds of user and system time.
cpu_us() {
    local TIMEFORMAT='%U %S'
    { time taskset -c 1 "$@"; } 2>&1 | awk '{ if (NF != 2) { print > "/dev/stderr"; exit 1 } print ($1 + $2) * 1e6 }'
}
per_query_us() {
    local floor=$1 endpoint=$2 connections=$3 short=$((8 * $3)) few many
    few=$(cpu_us "$work/$floor" "$endpoint" "$connections" "$short" prepared 100000)
    many=$(cpu_us "$work/$floor" "$endpoint" "$connections" $((short + queries)) prepared 100000)
    awk -v few="$few" -v many="$many" -v queries="$queries" 'BEGIN { print (many - few) / queries }'
}
cells() {
    for connections in 64 512 2048 10000; do
        for transport in unix TCP; do
            for floor in epoll uring; do echo "$transport $connections $floor"; done
        done
    done
}
for round in $(seq "$rounds"); do
    # The round is the seed of its order.
    cells | shuf --random-source=<(yes "$round") >"$work/round"
    while read -r transport connections floor; do
        endpoint=$work/s
        [ "$transport" = unix ] || endpoint=$port
        per_query_us "$floor" "$endpoint" "$connections" >>"$work/$transport-$connections-$floor"
    done <"$work/round"
done

# Median of the sorted values on standard input, with its interval if there are enough values.
median() {
    sort -g | awk '{ value[NR] = $1 }
        END {
            # The k-th value from either end: the median lies outside with 2 P(Binomial(NR, 1/2) < k).
            term = 0.5 ^ NR
            outside = 2 * term
            for (k = 0; outside <= 0.05 && k < NR / 2; outside += 2 * term) { k++; term *= (NR - k + 1) / k }
            printf "%.2f", (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2
            if (k > 0) printf " (%.2f to %.2f)", value[k], value[NR + 1 - k]
        }'
}
echo '| transport | connections | epoll, µs | io_uring, µs | io_uring / epoll |'
echo '| --- | ---: | ---: | ---: | ---: |'
for transport in unix TCP; do
    for connections in 64 512 2048 10000; do
        cell=$work/$transport-$connections
        printf '| %s | %d | %s | %s | %s |\n' "$transport" "$connections" "$(median <"$cell-epoll")" \
            "$(median <"$cell-uring")" "$(paste "$cell-uring" "$cell-epoll" | awk '{ print $1 / $2 }' | median)"
    done
done
