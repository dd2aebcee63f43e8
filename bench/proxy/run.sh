#!/usr/bin/env bash
# Measures what `dbdyno proxy` costs: CPU of its process per point select, beside a bare relay in C that knows no protocol, before
# the same server that does nothing (`dbdyno null-server`); the response time that each adds; and the memory of idle sessions.
#
# usage: bench/proxy/run.sh [DBDYNO]    (default: what `make build` builds)
# Prints Markdown. Each of ROUNDS (5) rounds runs the relay, the proxy without a script, with a script that does nothing, and with one
# that injects every command and reads its result, in random order, SECONDS_EACH (5) seconds each at CONNECTIONS ("1 16 256").
# IDLE (2000) is the number of connections whose memory is measured. The default takes eight minutes.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
# shellcheck source=bench/storage/rounds.sh
. "$here/../storage/rounds.sh"
need 'gcc, mawk, coreutils and python3' gcc awk shuf python3
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5}
seconds=${SECONDS_EACH:-5}
read -ra connections <<<"${CONNECTIONS:-1 16 256}"
idle=${IDLE:-2000}
ways=(relay plain noop inject)
work=$(mktemp -d)
started=()
trap 'exit 130' INT TERM
trap 'kill "${started[@]}" 2>/dev/null || true; rm -rf "$work"' EXIT
ulimit -n "$(ulimit -Hn)"

gcc -O2 -o "$work/relay" "$here/relay.c"
# One free port after another, held by nothing.
free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
wait_for() { # PORT
    for _ in $(seq 100); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.05
    done
    echo "error: nothing listens on port $1" >&2
    exit 1
}

server=$(free_port)
"$dbdyno" null-server --port "$server" --dialect mysql >/dev/null 2>&1 &
started+=($!)
wait_for "$server"
declare -A port pid
proxy() { # WAY [OPTION...]
    port[$1]=$(free_port)
    "$dbdyno" proxy --proxy-address="127.0.0.1:${port[$1]}" --proxy-backend-addresses="127.0.0.1:$server" "${@:2}" &
    pid[$1]=$!
}
port[relay]=$(free_port)
"$work/relay" "${port[relay]}" "$server" &
pid[relay]=$!
proxy plain
proxy noop --proxy-lua-script="$here/noop.lua"
proxy inject --proxy-lua-script="$here/inject.lua"
started+=("${pid[@]}")
for way in "${ways[@]}"; do wait_for "${port[$way]}"; done
port[direct]=$server

# CPU time of a process so far, microseconds.
cpu_us() { # PID
    awk -v tick="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1000000 / tick }' "/proc/$1/stat"
}
# Appends "CPU per query in µs, p50 in µs" of a run to a file.
measure() { # WAY CONNECTIONS
    local before=0 after=0 record=$work/record
    [ "$1" = direct ] || before=$(cpu_us "${pid[$1]}")
    "$dbdyno" oltp point_select run --host 127.0.0.1 --port "${port[$1]}" --user bench --ssl-mode disabled --connections "$2" \
        --tables 1 --table-size 10k --db-ps-mode disable --warmup 1s --duration "${seconds}s" --record "$record" >/dev/null 2>&1
    [ "$1" = direct ] || after=$(cpu_us "${pid[$1]}")
    "$dbdyno" report "$record" --format csv | awk -F, -v cpu=$((after - before)) -v seconds="$seconds" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["load"] $column["operation"] $column["statement"] == "" { of[$column["measure"]] = $column["value"] }
        # The warm-up of a second has its queries, too, at the same pace.
        END { if (!of["throughput"]) exit 1; print cpu / (of["throughput"] * (seconds + 1)), of["p50"] / 1000 }' >>"$work/$1-$2"
    rm -f "$record" "$record.html"
}

for round in $(seq "$rounds"); do
    for way in direct "${ways[@]}"; do
        for count in "${connections[@]}"; do echo "$way $count"; done
    done | shuf --random-source=<(yes "$round") >"$work/round"
    while read -r way count; do measure "$way" "$count" </dev/null; done <"$work/round"
done

column() { # FILE FIELD
    awk -v field="$2" '{ print $field }' "$work/$1"
}
echo "CPU of the process per point select, µs (median), and its ratio to the relay's (mean and 95 % interval over $rounds rounds):"
echo
echo '| connections | relay | no script | script that does nothing | script that injects and reads |'
echo '| ---: | ---: | ---: | ---: | ---: |'
for count in "${connections[@]}"; do
    printf '| %d | %.2f |' "$count" "$(column "relay-$count" 1 | median)"
    for way in plain noop inject; do
        printf ' %.2f: %s |' "$(column "$way-$count" 1 | median)" \
            "$(paste -d' ' <(column "$way-$count" 1) <(column "relay-$count" 1) | ratio)"
    done
    echo
done
echo
echo 'Response time added to that without anything in between, median at 1 connection, µs:'
echo
direct=$(column "direct-${connections[0]}" 2 | median)
for way in "${ways[@]}"; do
    printf -- '- %s: %.1f\n' "$way" "$(awk -v with="$(column "$way-${connections[0]}" 2 | median)" -v without="$direct" 'BEGIN { print with - without }')"
done
echo

# Memory that sessions take, by opening them in a process of their own.
resident_mb() { # PID
    awk '/^VmRSS/ { print $2 / 1024 }' "/proc/$1/status"
}
for way in plain noop; do
    proxy "idle-$way" "$([ "$way" = plain ] && echo --log-level=critical || echo "--proxy-lua-script=$here/noop.lua")"
    started+=("${pid[idle-$way]}")
    wait_for "${port[idle-$way]}"
    before=$(resident_mb "${pid[idle-$way]}")
    "$dbdyno" oltp point_select run --host 127.0.0.1 --port "${port[idle-$way]}" --user bench --ssl-mode disabled --connections "$idle" \
        --tables 1 --table-size 10k --rate 200 --warmup 1s --duration 4s --record "$work/idle-$way" >/dev/null 2>&1 &
    load=$!
    most=0
    while kill -0 "$load" 2>/dev/null; do
        most=$(awk -v a="$most" -v b="$(resident_mb "${pid[idle-$way]}")" 'BEGIN { print (a > b ? a : b) }')
        sleep 0.2
    done
    wait "$load"
    printf 'Memory of %s: %d connections %.1f MB, of which %.1f MB before the first.\n' "$way" "$idle" "$most" "$before"
done
