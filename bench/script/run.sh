#!/usr/bin/env bash
# Measures what a script costs the client beside native `oltp`: CPU per point select, and what ten expressions add to a
# transaction of seven statements.
#
# usage: bench/script/run.sh [DBDYNO]    (default: what `make build` builds)
# Prints a table in Markdown: medians of ROUNDS (5) rounds, in each all runs in random order, at CONNECTIONS (64) on the
# unix socket of the null server. Targets: a script's point select at most 1.15 times the client CPU of the native one,
# the ten expressions at most 2 µs for each statement of their transaction. That no operation allocates is a test
# (crates/load/tests/allocations.rs). The server is alone on processor 0, the client on processor 1. A cost is the
# difference of a run of SECONDS_EACH (5) and one of 1 second, so that no start, login or report is in it; the
# statements are those that the server counted. Takes five minutes. Other work on any processor makes the figures worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
# shellcheck source=bench/storage/rounds.sh
. "$here/../storage/rounds.sh"
need 'mariadb-client, util-linux, coreutils and mawk' mariadb taskset shuf awk
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-5}
connections=${CONNECTIONS:-64}
if [ "$seconds" -lt 2 ]; then
    echo "error: SECONDS_EACH is $seconds; the short run takes 1 second, so it must be at least 2" >&2
    exit 2
fi
work=$(mktemp -d)
socket=$work/null.sock
server=
trap 'exit 130' INT TERM
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT

taskset -c 0 "$dbdyno" null-server --socket "$socket" --port 0 >"$work/null-server" 2>&1 &
server=$!
for _ in $(seq 100); do
    if [ -S "$socket" ] || ! kill -0 "$server" 2>/dev/null; then break; fi
    sleep 0.05
done
if ! [ -S "$socket" ]; then
    cat "$work/null-server" >&2
    exit 3
fi
# Statements that the server has answered, without those that prepare them and its own SHOW.
answered() {
    mariadb --no-defaults --socket="$socket" --user=bench --batch --skip-column-names -e "SHOW STATUS LIKE 'Questions'" |
        cut -f 2
}

rows=100000
cat >"$work/point.sql" <<SQL
\set id random(1, $rows)
SELECT c FROM sbtest1 WHERE id = :id;
SQL
# pgbench's transaction; the INSERT takes all ten values.
cat >"$work/without.sql" <<'SQL'
BEGIN;
UPDATE accounts SET balance = balance + :delta WHERE aid = :aid;
SELECT balance FROM accounts WHERE aid = :aid;
UPDATE tellers SET balance = balance + :delta WHERE tid = :tid;
UPDATE branches SET balance = balance + :delta WHERE bid = :bid;
INSERT INTO history VALUES (:aid, :bid, :tid, :delta, :popular, :middle, :early, :place, :part, :price);
COMMIT;
SQL
statements_of_transaction=7
cat - "$work/without.sql" >"$work/with.sql" <<'SQL'
\set aid random(1, 100000 * :scale)
\set bid random(1, 10 * :scale)
\set tid random(1, 100 * :scale)
\set delta random(-5000, 5000)
\set popular random_zipfian(1, 100000, 1.1)
\set middle random_gaussian(1, 100000, 2.5)
\set early random_exponential(1, 100000, 5.0)
\set place 1 + permute(:popular - 1, 100000)
\set part 1 + (hash(:aid) & 1023)
\set price case when :delta < 0 then abs(:delta) else least(2 * :delta, 8000) end
SQL
constants=()
for variable in aid=50321 bid=4 tid=37 delta=-2719 popular=31 middle=50122 early=12043 place=77012 part=513 price=2719; do
    constants+=(-D "$variable")
done

common=(--no-defaults --socket "$socket" --user bench --connections "$connections")
native() { # OPTION...
    taskset -c 1 "$dbdyno" oltp point_select run "${common[@]}" --tables 1 --table-size "$rows" --rand-type uniform "$@"
}
script() { # FILE OPTION...
    taskset -c 1 "$dbdyno" script run "$work/$1.sql" "${common[@]}" --database sbtest "${@:2}"
}
start() { # WAY OPTION...
    case $1 in
    native-prepared) native "${@:2}" ;;
    native-text) native --db-ps-mode disable "${@:2}" ;;
    script-prepared) script point "${@:2}" ;;
    script-text) script point --mode text "${@:2}" ;;
    without-prepared) script without "${constants[@]}" "${@:2}" ;;
    without-text) script without "${constants[@]}" --mode text "${@:2}" ;;
    with-prepared) script with "${@:2}" ;;
    with-text) script with --mode text "${@:2}" ;;
    esac
}
ways=()
for way in native script without with; do ways+=("$way-prepared" "$way-text"); done

# Prints "CPU in seconds, statements" of one run.
measure() { # WAY SECONDS
    local record=$work/record before after operations each=1 TIMEFORMAT='%U %S'
    before=$(answered)
    if ! { time start "$1" --duration "${2}s" --record "$record" >"$work/out" 2>&1; } 2>"$work/time"; then
        echo "error: the run $1 failed" >&2
        cat "$work/out" >&2
        exit 3
    fi
    after=$(answered)
    [[ $1 == with* ]] && each=$statements_of_transaction
    operations=$("$dbdyno" report "$record" --format csv | awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["load"] $column["operation"] $column["statement"] == "" && $column["measure"] == "operations" { print $column["value"] }')
    rm -f "$record" "$record.html"
    # A run that does less than it says would look cheap. Each connection may ask a few questions of its own.
    local more=$((after - before - operations * each))
    if [ "$more" -lt 0 ] || [ "$more" -gt "$((2 * connections))" ]; then
        echo "error: $1 reports $operations operations of $each statements, the server answered $((after - before)) statements" >&2
        exit 3
    fi
    awk -v statements=$((after - before)) '{ print $1 + $2, statements }' "$work/time"
}

for round in $(seq "$rounds"); do
    # The round is the seed of its order.
    printf '%s\n' "${ways[@]}" | shuf --random-source=<(yes "$round") >"$work/round"
    while read -r way; do
        short=$(measure "$way" 1 </dev/null)
        long=$(measure "$way" "$seconds" </dev/null)
        echo "$short $long" | awk '{ print ($3 - $1) / ($4 - $2) * 1e6 }' >>"$work/$way"
    done <"$work/round"
done

echo "CPU of the client per statement, µs, at $connections connections (medians of $rounds rounds; ratios and differences of the rounds' pairs):"
echo
echo '| point select | native oltp | script | ratio, 95 % interval | target |'
echo '| --- | ---: | ---: | ---: | ---: |'
for mode in prepared text; do
    printf '| %s | %.2f | %.2f | %s | 1.15 |\n' "$mode" "$(median <"$work/native-$mode")" "$(median <"$work/script-$mode")" \
        "$(paste -d' ' "$work/script-$mode" "$work/native-$mode" | ratio)"
done
echo
echo "| transaction of $statements_of_transaction statements | without expressions | with ten | added per statement | target |"
echo '| --- | ---: | ---: | ---: | ---: |'
for mode in prepared text; do
    printf '| %s | %.2f | %.2f | %.2f | 2 |\n' "$mode" "$(median <"$work/without-$mode")" "$(median <"$work/with-$mode")" \
        "$(paste -d' ' "$work/with-$mode" "$work/without-$mode" | awk '{ print $1 - $2 }' | median)"
done
