#!/usr/bin/env bash
# Measures the cost of telemetry: CPU time of each collector, by its own thread's clock, in percent of a core.
#
# usage: bench/telemetry/run.sh [DBDYNO]    (default: what `make build` builds)
# Prints the median, the lowest and the highest of ROUNDS (5) rounds as a table in Markdown; the runs of a round, each of
# SECONDS_EACH (20) seconds at 200 point selects per second, sample every second and every 100 ms, in turn.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-20}
work=$(mktemp -d)
name=bench-telemetry-$$
trap 'exit 130' INT TERM
trap '"$dbdyno" server destroy "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

"$dbdyno" server create "$name" >/dev/null
table=(--server "$name" --tables 1 --table-size 10k)
"$dbdyno" oltp point_select prepare "${table[@]}" >/dev/null 2>&1
for round in $(seq "$rounds"); do
    for every in 1s 100ms; do
        record=$work/record-$round-$every
        "$dbdyno" oltp point_select run "${table[@]}" --connections 8 --rate 200 \
            --duration "${seconds}s" --sample-every "$every" --record "$record" >/dev/null 2>&1
        # One line for each collector: share of a core in percent; CPU time of a sample, the longest sample and, for the
        # server, the longest statement that is part of every sample, milliseconds.
        statement=$(sed -n 's/^{"line":"server_observation".*"statement_max_s":\([^,]*\),.*/\1/p' "$record")
        sed -n '/^{"line":"collected"/p' "$record" | while read -r line; do
            field() { sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p" <<<"$line"; }
            awk -v cpu="$(field cpu_s)" -v length_s="$(field length_s)" -v samples="$(field samples)" \
                -v longest="$(field longest_s)" -v statement="$statement" \
                'BEGIN { print cpu / length_s * 100, cpu / samples * 1e3, longest * 1e3, statement * 1e3 }' \
                >>"$work/$(field collector)-$every"
        done
    done
done

echo '| collector | sampled every | % of a core | CPU time of a sample, ms | longest sample, ms | longest statement, ms |'
echo '| --- | ---: | ---: | ---: | ---: | ---: |'
for file in "$work"/*-1s "$work"/*-100ms; do
    case $file in *record-*) continue ;; esac
    cell=$(basename "$file")
    printf '| %s | %s' "${cell%-*}" "${cell##*-}"
    case ${cell%-*} in
        server) columns='1 2 3 4' end=' |' ;;
        *) columns='1 2 3' end=' | – |' ;;
    esac
    for column in $columns; do
        sort -n -k "$column,$column" "$file" | awk -v column="$column" '{ value[NR] = $column }
            END { printf " | %.2f (%.2f to %.2f)", value[int((NR + 1) / 2)], value[1], value[NR] }'
    done
    echo "$end"
done
