#!/usr/bin/env bash
# Measures the CPU time per query of `dbdyno mariadb-slap` and mariadb-slap: the same command line, alternating, on the
# null server; first with one processor for the server and one for the clients, then with all processors shared.
#
# usage: bench/mysqlslap/run.sh [DBDYNO]    (default: what `make build` builds)
# Environment: ROUNDS (default 10), QUERIES per run (default 200000), CLIENTS (default "8 64").
# Needs mariadb-slap, awk and taskset; the default takes about 4 minutes. Other work on any processor makes the figures
# of both worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need 'mariadb-client, mawk and util-linux' mariadb-slap awk taskset
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-10} queries=${QUERIES:-200000}
work=$(mktemp -d "${TMPDIR:-/tmp}/mysqlslap-XXXXXX")
"$dbdyno" null-server --socket "$work/null.sock" >"$work/null.log" 2>&1 &
null_server=$!
trap 'kill "$null_server" 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
    [ -S "$work/null.sock" ] && break
    sleep 0.1
done

# Microseconds of user and system time per query of one run.
cost() { # CLIENTS PROGRAM...
    local clients=$1 TIMEFORMAT='%U %S'
    shift
    {
        time "${placed[@]}" "$@" --no-defaults --socket="$work/null.sock" --user=bench --create-schema=bench \
            --query='select c from sbtest1 where id=42' --number-of-queries="$queries" \
            --concurrency="$clients" --silent >"$work/out" 2>"$work/err" || {
            cat "$work/err" >&2
            exit 3
        }
    } 2>"$work/time"
    awk -v queries="$queries" '{ printf "%.3f\n", ($1 + $2) * 1e6 / queries }' "$work/time"
}

# The prefix of the clients' command: it pins them to their processor.
placed=()
table() {
    echo "| clients | dbdyno mariadb-slap, µs | mariadb-slap, µs | median of the ratios | smallest to largest | rounds |"
    echo "| ---: | ---: | ---: | ---: | ---: | ---: |"
    for clients in ${CLIENTS:-8 64}; do
        : >"$work/pairs"
        for round in $(seq "$rounds"); do
            # The first program alternates between rounds.
            if [ $((round % 2)) -eq 0 ]; then
                ours=$(cost "$clients" "$dbdyno" mariadb-slap)
                theirs=$(cost "$clients" mariadb-slap)
            else
                theirs=$(cost "$clients" mariadb-slap)
                ours=$(cost "$clients" "$dbdyno" mariadb-slap)
            fi
            echo "$ours $theirs" >>"$work/pairs"
        done
        awk -v clients="$clients" '
            function median(values, count,    i, j, swap) {
                for (i = 1; i < count; i++)
                    for (j = i + 1; j <= count; j++)
                        if (values[j] < values[i]) { swap = values[i]; values[i] = values[j]; values[j] = swap }
                return (values[int((count + 1) / 2)] + values[int((count + 2) / 2)]) / 2
            }
            { ours[NR] = $1; theirs[NR] = $2; ratio[NR] = $1 / $2 }
            END {
                middle = median(ratio, NR)
                printf "| %d | %.2f | %.2f | %.3f | %.3f to %.3f | %d |\n", clients, median(ours, NR), median(theirs, NR), \
                    middle, ratio[1], ratio[NR], NR
            }' "$work/pairs"
    done
}

all_cpus=$(taskset -cp "$null_server" | sed 's/.*: //')
server_cpu=${all_cpus%%[-,]*} client_cpu=${all_cpus##*[-,]}
if [ "$server_cpu" != "$client_cpu" ]; then
    echo "One processor for the null server ($server_cpu), one for its clients ($client_cpu):"
    echo
    taskset -acp "$server_cpu" "$null_server" >/dev/null
    placed=(taskset -c "$client_cpu")
    table
    echo
    taskset -acp "$all_cpus" "$null_server" >/dev/null
    placed=()
fi
echo "All processors shared:"
echo
table
