#!/bin/sh
# Compares dbdyno's gen-data with a plain C loop over glibc's rand(): CPU time for the same bytes.
#
# usage: bench/gen_data/run.sh [DBDYNO]    (default: target/release/dbdyno)
# Needs gcc, md5sum and GNU time or bash's `times`; takes about a minute.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dbdyno=${1:-$here/../../target/release/dbdyno}
rounds=${ROUNDS:-7}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

gcc -O2 -o "$work/plain" "$here/plain.c"

narrow='%12-12s%n,%25-25s,%n,%d'
wide='%12-12s%n,%25-25s,%255s,%255s,%255s,%255s,%n,%d'

# CPU seconds (user and system) of a command whose output is discarded.
cpu_seconds() {
    bash -c 'TIMEFORMAT="%U %S"; { time "$@" >/dev/null; } 2>&1' cpu "$@" | awk '{ print $1 + $2 }'
}

compare() { # name format rows
    plain_sum=$("$work/plain" "$1" "$3" | md5sum)
    our_sum=$("$dbdyno" gen-data -n "$3" -f "$2" | md5sum)
    if [ "$plain_sum" != "$our_sum" ]; then
        echo "$1: the bytes differ" >&2
        exit 1
    fi
    : >"$work/$1"
    round=0
    while [ "$round" -lt "$rounds" ]; do
        plain_cpu=$(cpu_seconds "$work/plain" "$1" "$3")
        our_cpu=$(cpu_seconds "$dbdyno" gen-data -n "$3" -f "$2")
        echo "$plain_cpu $our_cpu" >>"$work/$1"
        round=$((round + 1))
    done
    # Medians of the rounds, so that a disturbance does not decide.
    plain_cpu=$(cut -d' ' -f1 "$work/$1" | sort -n | sed -n "$((rounds / 2 + 1))p")
    our_cpu=$(cut -d' ' -f2 "$work/$1" | sort -n | sed -n "$((rounds / 2 + 1))p")
    awk -v name="$1" -v rows="$3" -v plain="$plain_cpu" -v our="$our_cpu" 'BEGIN {
        printf "%-6s %9d rows: plain C %6.3f s, gen-data %6.3f s of CPU time, %.1f times as fast\n",
            name, rows, plain, our, plain / our }'
}

compare narrow "$narrow" 3000000
compare wide "$wide" 300000
