#!/usr/bin/env bash
# Measures whether a change made dbdyno's client slower: a build from before and one from after the change alternate
# with the same command lines, on the null server and on a private MariaDB.
#
# usage: bench/before_after.sh BEFORE [AFTER]    (default of AFTER: what `make build` builds)
# Environment: ROUNDS (8), QUERIES of a run on the null server (400000), WAREHOUSES (1), SECONDS_EACH of a TPC-C run (10).
# Prints a table in Markdown: medians of both, and the median of the rounds' ratios with the lowest and the highest,
# which contain the true median with 99 % confidence (for 8 rounds). The default takes 15 minutes. Other work on any
# processor makes the figures of both worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/dbdyno.sh"
need 'mawk, util-linux and coreutils' awk taskset timeout
if [ $# -lt 1 ]; then
    sed -n 's/^# //; 5p' "$0" >&2
    exit 2
fi
before=$(find_dbdyno "$1")
after=$(find_dbdyno "${2:-}")
rounds=${ROUNDS:-8} queries=${QUERIES:-400000} warehouses=${WAREHOUSES:-1} seconds=${SECONDS_EACH:-10}
work=$(mktemp -d "${TMPDIR:-/tmp}/before-after-XXXXXX")
name=before-after-$$
# The server is the same for both; its build does not affect its clients.
"$after" null-server --socket "$work/null.sock" >"$work/null.log" 2>&1 &
null_server=$!
trap 'exit 130' INT TERM
trap 'kill "$null_server" 2>/dev/null || true; "$after" server destroy "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
for _ in $(seq 100); do
    [ -S "$work/null.sock" ] && break
    sleep 0.1
done
# Commits that wait for the disk would hide the client's cost.
"$after" server create "$name" --set innodb_flush_log_at_trx_commit=0 --set innodb_buffer_pool_size=1G >/dev/null

all_cpus=$(taskset -cp "$null_server" | sed 's/.*: //')
server_cpu=${all_cpus%%[-,]*} client_cpu=${all_cpus##*[-,]}
taskset -acp "$server_cpu" "$null_server" >/dev/null

# Prints the time of a command: user and system together, and wall, in seconds.
timed() { # PROGRAM...
    local TIMEFORMAT='%U %S %R'
    {
        time "$@" >"$work/out" 2>"$work/err" || {
            cat "$work/err" >&2
            exit 3
        }
    } 2>"$work/time"
    awk '{ print $1 + $2, $3 }' "$work/time"
}
on_null() { # DBDYNO WORD...
    local dbdyno=$1
    shift
    timed taskset -c "$client_cpu" "$dbdyno" "$@" --socket "$work/null.sock" |
        awk -v queries="$queries" '{ print $1 * 1e6 / queries }'
}
# Each prints one figure of one run.
point_select() { # DBDYNO CONNECTIONS
    on_null "$1" oltp point_select run --table-size 100k --connections "$2" --operations "$queries"
}
slap() { # DBDYNO CLIENTS
    on_null "$1" mariadb-slap --no-defaults --user=bench --create-schema=bench --silent \
        --query='select c from sbtest1 where id=42' --number-of-queries="$queries" --concurrency="$2"
}
load() { # DBDYNO WHICH
    "$after" tpcc drop --server "$name" >/dev/null 2>&1 || true
    timed "$1" tpcc load --server "$name" --warehouses "$warehouses" | awk -v which="$2" '{ print $which }'
}
# Client CPU per transaction in microseconds, or transactions per second, from the program's own export.
run() { # DBDYNO MEASURE
    rm -f "$work/record" "$work/record.html"
    timed "$1" tpcc run --server "$name" --warehouses "$warehouses" --connections 8 --warmup 2s --duration "${seconds}s" \
        --no-check --record "$work/record" >/dev/null
    # One build reads the records of both.
    "$after" report "$work/record" --format csv | awk -F, -v measure="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["load"] $column["operation"] $column["statement"] == "" && $column["measure"] == measure {
            print measure == "client_cpu" ? $column["value"] : 1 / $column["value"]
            exit
        }'
}

row() { # TITLE FUNCTION ARGUMENT
    local title=$1 round first second
    shift
    : >"$work/pairs"
    for round in $(seq "$rounds"); do
        # The first build alternates between rounds.
        if [ $((round % 2)) -eq 0 ]; then
            first=$("$1" "$before" "$2")
            second=$("$1" "$after" "$2")
        else
            second=$("$1" "$after" "$2")
            first=$("$1" "$before" "$2")
        fi
        echo "$first $second" >>"$work/pairs"
    done
    awk -v title="$title" '
        function median(values, count,    i, j, swap) {
            for (i = 1; i < count; i++)
                for (j = i + 1; j <= count; j++)
                    if (values[j] < values[i]) { swap = values[i]; values[i] = values[j]; values[j] = swap }
            return (values[int((count + 1) / 2)] + values[int((count + 2) / 2)]) / 2
        }
        { before[NR] = $1; after[NR] = $2; ratio[NR] = $2 / $1 }
        END {
            middle = median(ratio, NR)
            printf "| %s | %.4g | %.4g | %.3f | %.3f to %.3f | %d |\n", title, median(before, NR), median(after, NR), \
                middle, ratio[1], ratio[NR], NR
        }' "$work/pairs"
}

echo '| what | before | after | median of the ratios | least to greatest | rounds |'
echo '| --- | ---: | ---: | ---: | ---: | ---: |'
row 'point select, null server, 64 connections: CPU per query, µs' point_select 64
row 'point select, null server, 512 connections: CPU per query, µs' point_select 512
row 'mariadb-slap, null server, 8 clients: CPU per query, µs' slap 8
row 'mariadb-slap, null server, 64 clients: CPU per query, µs' slap 64
row 'TPC-C load, MariaDB: CPU, s' load 1
row 'TPC-C load, MariaDB: wall time, s' load 2
row 'TPC-C run, MariaDB, 8 connections: client CPU per transaction, µs' run client_cpu
row 'TPC-C run, MariaDB, 8 connections: time per transaction, s' run throughput
