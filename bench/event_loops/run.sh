#!/usr/bin/env bash
# Finds the best number of event loops: throughput of a MariaDB on the same machine, and cost of the client, by event
# loops and connections, for point selects, sysbench's read_write transactions and TPC-C.
#
# usage: bench/event_loops/run.sh [DBDYNO]    (default: what `make build` builds)
# Prints two tables for each workload in Markdown, medians of ROUNDS (5) rounds with the lowest and the highest:
# operations per second, and client CPU per operation in microseconds. The runs of a round, each of SECONDS_EACH (3)
# seconds, are in random order. CONNECTIONS ("1 8 64 512") are those of the rows, LOOPS ("1 2 4 8") those of the
# columns, WORKLOADS ("point_select read_write tpcc") are the measured workloads. The default takes 20 minutes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need 'mawk and coreutils' awk shuf
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-3}
read -ra rows <<<"${CONNECTIONS:-1 8 64 512}"
read -ra columns <<<"${LOOPS:-1 2 4 8}"
read -ra workloads <<<"${WORKLOADS:-point_select read_write tpcc}"
work=$(mktemp -d)
name=bench-loops-$$
trap 'exit 130' INT TERM
trap '"$dbdyno" server destroy "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

# Commits that wait for the disk would hide the client's cost.
"$dbdyno" server create "$name" --set max_connections=600 --set innodb_buffer_pool_size=1G \
    --set innodb_flush_log_at_trx_commit=2 >/dev/null
oltp=(--server "$name" --tables 4 --table-size 50k)
tpcc=(--server "$name" --warehouses 4)
for workload in "${workloads[@]}"; do
    if [ "$workload" = tpcc ]; then
        "$dbdyno" tpcc prepare "${tpcc[@]}" >/dev/null 2>&1
    elif [ ! -e "$work/oltp" ]; then
        "$dbdyno" oltp read_write prepare "${oltp[@]}" >/dev/null 2>&1
        touch "$work/oltp"
    fi
done

run() { # WORKLOAD CONNECTIONS LOOPS RECORD
    local common=(--connections "$2" --warmup 1s --duration "${seconds}s" --record "$4")
    if [ "$1" = tpcc ]; then
        "$dbdyno" tpcc run "${tpcc[@]}" "${common[@]}" --loops "$3"
    else
        "$dbdyno" oltp "$1" run "${oltp[@]}" "${common[@]}" --loops "$3"
    fi >/dev/null 2>&1
}
# Operations per second and client CPU per operation for the whole run, from the program's own export.
figures() { # RECORD
    "$dbdyno" report "$1" --format csv | awk -F, '
        # The columns before are the options of the run.
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["load"] $column["operation"] $column["statement"] == "" { of[$column["measure"]] = $column["value"] }
        END { if (!of["throughput"]) exit 1; print of["throughput"], of["client_cpu"] }'
}

cells() {
    for workload in "${workloads[@]}"; do
        for connections in "${rows[@]}"; do
            for loops in "${columns[@]}"; do echo "$workload $connections $loops"; done
        done
    done
}
for round in $(seq "$rounds"); do
    # The round is the seed of its order.
    cells | shuf --random-source=<(yes "$round") >"$work/round"
    while read -r workload connections loops; do
        # There cannot be more loops than connections.
        [ "$loops" -le "$connections" ] || continue
        record=$work/record-$round-$workload-$connections-$loops
        run "$workload" "$connections" "$loops" "$record" </dev/null
        figures "$record" >>"$work/$workload-$connections-$loops"
        rm -f "$record"
    done <"$work/round"
done

table() { # WORKLOAD FIELD DIVISOR
    local connections loops
    printf '| connections |'
    printf ' loops: %s |' "${columns[@]}"
    printf '\n| ---: |'
    printf ' ---: |%.0s' "${columns[@]}"
    echo
    for connections in "${rows[@]}"; do
        printf '| %d |' "$connections"
        for loops in "${columns[@]}"; do
            if [ "$loops" -gt "$connections" ]; then
                printf ' - |'
                continue
            fi
            awk -v field="$2" -v divisor="$3" '{ print $field / divisor }' "$work/$1-$connections-$loops" | sort -n |
                awk '{ value[NR] = $1 } END { printf " %.3g (%.3g to %.3g) |", value[int((NR + 1) / 2)], value[1], value[NR] }'
        done
        echo
    done
}
for workload in "${workloads[@]}"; do
    printf '\n%s, thousands of operations per second:\n\n' "$workload"
    table "$workload" 1 1000
    printf '\n%s, client CPU per operation, µs:\n\n' "$workload"
    table "$workload" 2 1
done
