#!/bin/sh
# Measures the time until a private server answers: initialised from nothing, and copied from a template.
#
# usage: bench/server_ready/run.sh [DBDYNO [SPEC...]]    (default: target/release/dbdyno, and the server of this
#                                                          machine with all that dbdyno installed)
# Prints the medians of ROUNDS (5) rounds and the spread, in seconds, each the whole time of
# `dbdyno server create NAME --run SPEC`: from nothing with an empty template cache, from the template after it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dbdyno=${1:-$here/../../target/release/dbdyno}
[ $# -eq 0 ] || shift
rounds=${ROUNDS:-5}
work=$(mktemp -d)
name=bench-ready-$$
trap 'exit 130' INT TERM
trap '"$dbdyno" server destroy "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

if [ $# -eq 0 ]; then
    # shellcheck disable=SC2046 # names have no blanks
    set -- $("$dbdyno" server installed | awk 'NR > 1 { print $1 }')
    [ $# -gt 0 ] || set -- mariadb
fi

# Wall-clock seconds of making one server, with templates in the given directory.
ready_s() { # spec cache
    start=$(date +%s%N)
    XDG_CACHE_HOME=$2 "$dbdyno" server create "$name" --run "$1" >/dev/null 2>"$work/log" || {
        cat "$work/log" >&2
        exit 1
    }
    end=$(date +%s%N)
    "$dbdyno" server destroy "$name"
    awk -v ns="$((end - start))" 'BEGIN { printf "%.2f\n", ns / 1e9 }'
}

# Median, lowest and highest of a file of numbers.
spread() {
    sort -n "$1" | awk '{ value[NR] = $1 }
        END { printf "%5.2f (%.2f to %.2f)", value[int((NR + 1) / 2)], value[1], value[NR] }'
}

echo "# $(date -u +%Y-%m-%d), $(nproc) CPUs, $rounds rounds, $(stat -f -c %T "$work") for the templates"
printf '%-16s  %-24s  %s\n' VERSION 'FROM NOTHING, s' 'FROM TEMPLATE, s'
for spec in "$@"; do
    : >"$work/nothing"
    : >"$work/template"
    round=0
    while [ "$round" -lt "$rounds" ]; do
        rm -rf "$work/cache"
        ready_s "$spec" "$work/cache" >>"$work/nothing"
        ready_s "$spec" "$work/cache" >>"$work/template"
        round=$((round + 1))
    done
    printf '%-16s  %-24s  %s\n' "$spec" "$(spread "$work/nothing")" "$(spread "$work/template")"
done
