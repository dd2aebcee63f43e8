#!/usr/bin/env bash
# Measures what `dbdyno sql` costs beside the server: per execution of a short statement, and per row that it adds up.
#
# usage: bench/sql/run.sh [DBDYNO]    (default: what `make build` builds)
# Prints a table in Markdown: CPU and time of `dbdyno sql time` for an execution of `SELECT 1` (target: at most 20 us over
# the server's time), and the CPU of 39,434 rows fetched and added up, against the mariadb client writing them to
# /dev/null (target: at most 1.2 times), medians of ROUNDS (5) alternating rounds. Takes two minutes. Needs jq, cargo and
# mariadb; other work on any processor makes the figures worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need 'mariadb-client, jq, cargo and mawk' mariadb jq cargo awk
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5}
target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
cargo build --quiet --release --package protocol --example checksum_rows --manifest-path "$root/Cargo.toml" \
    --target-dir "$target"
work=$(mktemp -d)
name=bench-sql-$$
trap 'exit 130' INT TERM
trap '"$dbdyno" server destroy "$name" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

"$dbdyno" server create "$name" --dir "$work/server" --set innodb_buffer_pool_size=64M --set performance_schema=ON \
    >/dev/null
ask() { "$dbdyno" server client "$name" -- --batch --skip-column-names -e "$1"; }
# CPU of a command, seconds; its output is dropped.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}
median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# A short statement. The difference of many and few rounds has no start, no login and no reading of counters in it.
statements=1000 few=5 many=45
for _ in $(seq "$statements"); do echo 'SELECT 1;'; done >"$work/short.sql"
short() { # ROUNDS
    "$dbdyno" sql time "$work/short.sql" --server "$name" --commit --runs "$1" --precision 1 --budget 5min \
        --format json
}
short "$few" >/dev/null 2>&1
for _ in $(seq "$rounds"); do
    cpu short "$few" >>"$work/few"
    cpu short "$many" >>"$work/many"
done
short_cpu_us=$(paste "$work/few" "$work/many" |
    awk -v n=$(((many - few) * statements)) '{ print ($2 - $1) / n * 1e6 }' | median)
ask "TRUNCATE performance_schema.events_statements_summary_by_digest" >/dev/null
short "$many" 2>/dev/null >"$work/short.json"
# A mean, as that of the server is one.
short_us=$(jq '[.statements[].warm_s[]] | add / length * 1e6' "$work/short.json")
server_us=$(ask "SELECT avg_timer_wait / 1e6 FROM performance_schema.events_statements_summary_by_digest
    WHERE digest_text LIKE 'SELECT ?%' ORDER BY count_star DESC LIMIT 1")

# The rows of the fourth query of the tuning contest: a user and a count.
rows='SELECT seq, seq % 97 AS c FROM test.seq_1_to_39434'
times=100
for _ in $(seq "$times"); do echo "$rows;"; done >"$work/rows.sql"
client=$work/server/client.cnf
of_client() { sed -n "s/^$1 *= *\"\{0,1\}\([^\"]*\)\"\{0,1\}$/\1/p" "$client" | head -n 1; }
user=$(of_client user)
socket=$(of_client socket)
(
    umask 077
    of_client password >"$work/password"
)
fetched() { mariadb --defaults-file="$client" test <"$work/rows.sql"; }
summed() {
    "$target/release/examples/checksum_rows" "$socket" "$user" "$work/password" "$times" "$rows"
}
# A program that fails at once would look cheap.
fetched >/dev/null
summed
for _ in $(seq "$rounds"); do
    cpu fetched >>"$work/fetched"
    cpu summed >>"$work/summed"
done
fetched_ms=$(median <"$work/fetched" | awk -v n="$times" '{ print $1 / n * 1e3 }')
summed_ms=$(median <"$work/summed" | awk -v n="$times" '{ print $1 / n * 1e3 }')

awk -v cpu="$short_cpu_us" -v time="$short_us" -v server="$server_us" -v fetched="$fetched_ms" -v summed="$summed_ms" '
    BEGIN {
        print "| what | measured | target |"
        print "| --- | ---: | ---: |"
        printf "| CPU of dbdyno per execution of SELECT 1, us | %.1f | |\n", cpu
        printf "| its time, by dbdyno and by the server, us | %.1f and %.1f | |\n", time, server
        printf "| over the time of the server, us | %.1f | 20 |\n", time - server
        printf "| CPU of 39,434 rows added up, ms | %.2f | |\n", summed
        printf "| CPU of the mariadb client for them, ms | %.2f | |\n", fetched
        printf "| ratio | %.2f | 1.2 |\n", summed / fetched
    }'
