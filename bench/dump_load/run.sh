#!/usr/bin/env bash
# Compares the load of a dump by `[data] dump` with its bounds: the same rows by parallel LOAD DATA from ready files,
# and the same INSERTs sent in parallel by the mariadb client, each into a fresh private server with the same settings.
#
# usage: bench/dump_load/run.sh [DBDYNO]    (default: what `make build` builds)
# Prints tables in Markdown: time, rows and MB per second and the ratio to the bound (target: at least 0.9), CPU of the
# decompression apart, and the most memory that dbdyno held (target: 200 MB). ROUNDS (3) rounds, in each all loads in
# random order, or those that LOADS names ("lines plain gzip inserts as-inserts"); the dump has about MB (1024). DATA says
# whose tables it holds: "oltp" (4 tables with AUTO_INCREMENT, the default), "oltp-plain-ids" (the same without) or "tpcc"
# (9 tables with foreign keys, one without a primary key). DISK (/var/tmp) holds servers and files, and needs 7 times the
# dump and 2 GB. The same rows are checked by count and checksum after each load. The default takes half an hour and
# writes about 60 GB. Other work on any processor makes the figures worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
# shellcheck source=bench/storage/rounds.sh
. "$here/../storage/rounds.sh"
need 'mariadb-client, jq, gzip, coreutils and mawk' mariadb mariadb-dump jq gzip shuf split awk
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-3}
mb=${MB:-1024}
data=${DATA:-oltp}
clients=$(nproc)
loads=${LOADS:-lines plain gzip inserts as-inserts}
for load in $loads; do
    case $load in
    lines | plain | gzip | inserts | as-inserts) ;;
    *)
        echo "error: LOADS names $load; it can be lines, plain, gzip, inserts or as-inserts" >&2
        exit 2
        ;;
    esac
done
case $data in
oltp | oltp-plain-ids)
    database=sbtest
    # A row has 198 bytes in the dump.
    ids=on
    [ "$data" = oltp ] || ids=off
    prepare=(oltp read_write prepare --tables 4 --table-size "$((mb * 1048576 / 198 / 4))" --auto-inc="$ids")
    ;;
tpcc)
    database=tpcc
    # A warehouse has 85 MB in the dump.
    prepare=(tpcc prepare --warehouses "$(((mb + 84) / 85))")
    ;;
*)
    echo "error: DATA is $data; it can be oltp, oltp-plain-ids or tpcc" >&2
    exit 2
    ;;
esac
free_mb=$(df --output=avail -B1M "${DISK:-/var/tmp}" | tail -n 1)
if [ "$free_mb" -lt "$((7 * mb + 2048))" ]; then
    echo "error: ${DISK:-/var/tmp} has $free_mb MB free, and a dump of $mb MB needs $((7 * mb + 2048))" >&2
    echo 'hint: DISK names a directory on another disk, MB a smaller dump' >&2
    exit 2
fi
# Names are those of the private servers, so that each run of this script ends its own only.
name=bench-dump-$$
work_on_disk
started=()
end() {
    if [ ${#started[@]} != 0 ]; then
        kill "${started[@]}" 2>/dev/null || true
        wait "${started[@]}" 2>/dev/null || true
    fi
    local server
    for server in $("$dbdyno" server list 2>/dev/null | awk -v name="$name-" 'index($1, name) { print $1 }'); do
        "$dbdyno" server destroy "$server" >/dev/null 2>&1 || true
    done
    rm -rf "$work"
}
trap 'exit 130' INT TERM
trap end EXIT

# The settings of all servers. All others are the defaults, with which a commit waits for the disk.
settings=(innodb_buffer_pool_size=2G innodb_log_file_size=512M character_set_server=utf8mb4)
compared='innodb_flush_log_at_trx_commit sync_binlog log_bin innodb_doublewrite innodb_flush_method innodb_buffer_pool_size
    innodb_log_file_size innodb_autoinc_lock_mode innodb_io_capacity innodb_change_buffering character_set_server version'
create() { # NAME
    local options=() setting
    for setting in "${settings[@]}"; do options+=(--set "$setting"); done
    "$dbdyno" server create "$1" --run mariadb --dir "$work/$1" "${options[@]}" >/dev/null 2>"$work/err" || failed create
}
destroy() { # NAME
    "$dbdyno" server destroy "$1" >/dev/null 2>"$work/err" || failed destroy
}
failed() { # WHAT
    echo "error: $1 failed" >&2
    cat "$work/err" >&2
    exit 3
}
ask() { # DIRECTORY DATABASE SQL
    mariadb --defaults-file="$1/client.cnf" --batch --skip-column-names "$2" -e "$3"
}
# Count and checksum of each table, a line each.
content() { # DIRECTORY DATABASE
    local table sql=
    for table in "${tables[@]}"; do sql+="SELECT '$table', COUNT(*) FROM \`$table\`; CHECKSUM TABLE \`$table\`;"; done
    ask "$1" "$2" "$sql" | sed "s/^$2\\.//"
}
settings_of() { # DIRECTORY
    ask "$1" test 'SHOW GLOBAL VARIABLES' | awk -F'\t' -v names="$compared" '
        BEGIN { split(names, list, /[ \n]+/); for (i in list) is[list[i]] = 1 }
        $1 in is { print $1, $2 }' | sort
}
# CPU of a command whose output is dropped, seconds.
cpu() {
    local TIMEFORMAT='%U %S'
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
}

# The dump, from a server that dbdyno filled.
source=$work/$name-source
create "$name-source"
echo "filling the tables" >&2
"$dbdyno" "${prepare[@]}" --server "$name-source" >/dev/null 2>"$work/err" || failed prepare
mapfile -t tables < <(ask "$source" "$database" "SELECT table_name FROM information_schema.tables
    WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE' ORDER BY table_name")
content "$source" "$database" >"$work/expected"
# Of the two lines of a table the first one is the count.
rows=$(awk 'NR % 2 { sum += $2 } END { print sum }' "$work/expected")
echo "dumping $rows rows" >&2
mariadb-dump --defaults-file="$source/client.cnf" "$database" >"$work/plain.sql"
gzip -c "$work/plain.sql" >"$work/packed.sql.gz"
bytes=$(stat -c %s "$work/plain.sql")
# Its tables, and the session's settings that it makes for its rows.
mariadb-dump --defaults-file="$source/client.cnf" --no-data "$database" | grep -v '^/\*M!999999' >"$work/tables.sql"
sed '/^-- Table structure/,$d' "$work/plain.sql" | grep -v '^/\*M!999999' >"$work/head.sql"

# Ready files: each table in as many parts as there are clients, and for each client the statements that load its parts.
# A client begins with another table than its neighbour: two LOAD DATA into one table with AUTO_INCREMENT would wait for
# each other.
echo "writing the files of the bounds" >&2
mkdir "$work/parts"
for table in "${tables[@]}"; do
    mariadb --defaults-file="$source/client.cnf" --defaults-group-suffix=-root "$database" \
        -e "SELECT * FROM \`$table\` INTO OUTFILE '$source/files/$table'"
    split -d -a 3 -n "l/$clients" "$source/files/$table" "$work/parts/$table-"
    rm -f "$source/files/$table"
done
destroy "$name-source"
awk -v clients="$clients" -v parts="$work/parts/" '
    BEGIN { RS = ";\n"; ORS = ";\n" }
    !/^INSERT INTO `/ { next }
    { split($0, part, "`"); table = part[2] }
    NR == FNR { count[table]++; next }
    { printf "%s;\n", $0 >(parts table sprintf("-%03d.sql", int(done[table]++ * clients / count[table]))) }
' "$work/plain.sql" "$work/plain.sql"
for client in $(seq 0 $((clients - 1))); do
    cp "$work/head.sql" "$work/lines-$client.sql"
    cp "$work/head.sql" "$work/inserts-$client.sql"
    for step in $(seq 0 $((${#tables[@]} - 1))); do
        table=${tables[$(((step + client * ${#tables[@]} / clients) % ${#tables[@]}))]}
        part=$work/parts/$table-$(printf %03d "$client")
        echo "LOAD DATA LOCAL INFILE '$part' INTO TABLE \`$table\` CHARACTER SET binary;" >>"$work/lines-$client.sql"
        # A table of a few rows has no statement for some of the clients.
        if [ -e "$part.sql" ]; then
            cat "$part.sql" >>"$work/inserts-$client.sql"
            rm -f "$part.sql"
        fi
    done
done

# The experiment whose data the dump is; its load is as short as one can be.
echo 'SELECT 1;' >"$work/nothing.sql"
experiment() { # WAY
    local set='' setting keys
    for setting in "${settings[@]}"; do set+="${setting%%=*} = \"${setting#*=}\", "; done
    case $1 in
    plain) keys='dump = "plain.sql"' ;;
    gzip) keys='dump = "packed.sql.gz"' ;;
    as-inserts) keys=$'dump = "plain.sql"\ndump_as = "inserts"' ;;
    esac
    cat >"$work/$name.toml" <<TOML
format = 1
question = "How long does the load of a dump take?"
[server]
run = "mariadb"
datadir = "servers"
restart = "never"
set = { ${set%, } }
[data]
$keys
[load]
script = "nothing.sql"
connections = 1
warmup = "100ms"
duration = "300ms"
[disturbed]
repeats = "0 %"
TOML
}
mkdir "$work/servers"
mkfifo "$work/never"
exec 9<>"$work/never"

# Watches a load of dbdyno until the process ends: prints "SECONDS CPU READER PEAK", the time between the start and the
# end of its loading threads, CPU seconds of the process meanwhile and of the thread that reads the dump, and the most
# memory, in kB. Only what bash has built in: other programs would take the load's CPU.
watch_load() { # PID
    local pid=$1 stat fields task comm ns rest first='' last='' begin=0 cpu=0 reader=0 peak=0 is_loading
    while read -r stat 2>/dev/null <"/proc/$pid/stat" && [[ ${stat##*) } != Z* ]]; do
        is_loading=
        for task in "/proc/$pid/task/"*; do
            read -r comm 2>/dev/null <"$task/comm" || continue
            [[ $comm == dump-* ]] || continue
            is_loading=yes
            if [ "$comm" = dump-reader ]; then read -r ns rest 2>/dev/null <"$task/schedstat" && reader=$ns; fi
        done
        if [ -n "$is_loading" ]; then
            last=$EPOCHREALTIME
            read -ra fields <<<"${stat##*) }"
            cpu=$((fields[11] + fields[12]))
            if [ -z "$first" ]; then first=$last begin=$cpu; fi
            while read -r comm ns rest; do
                if [ "$comm" = VmHWM: ]; then
                    peak=$ns
                    break
                fi
            done 2>/dev/null <"/proc/$pid/status" || true
        fi
        read -rt 0.05 -u 9 || true
    done
    awk -v first="${first:-0}" -v last="${last:-0}" -v tick="$(getconf CLK_TCK)" -v cpu="$((cpu - begin))" -v reader="$reader" \
        -v peak="$peak" 'BEGIN { printf "%.3f %.2f %.2f %d\n", last - first, cpu / tick, reader / 1e9, peak }'
}

# Checks that a server has the rows of the dump.
check() { # WAY DIRECTORY DATABASE
    content "$2" "$3" >"$work/found"
    if ! cmp -s "$work/expected" "$work/found"; then
        echo "error: $1 left other rows than the dump has (count and checksum of each table):" >&2
        diff "$work/expected" "$work/found" >&2 || true
        exit 3
    fi
}

# Loads the dump by dbdyno; appends "SECONDS WATCHED CPU READER PEAK" to the file of its way.
by_dbdyno() { # WAY
    local watched server seconds
    experiment "$1"
    rm -rf "$work/results"
    "$dbdyno" run "$work/$name.toml" --keep --results "$work/results" >"$work/out" 2>"$work/err" &
    started=($!)
    # In the background, because bash 5.2 crashes where a signal ends it within `read -t`.
    watch_load "$!" >"$work/watched" &
    started+=($!)
    wait "${started[0]}" || failed "the load $1"
    wait "${started[1]}" || failed "watching the load $1"
    started=()
    # Such a load is held to the bound of INSERTs.
    [ "$1" = as-inserts ] || sed -n 's/^note: \([0-9]* of [0-9]* INSERTs were sent as they are\).*/\1/p' "$work/err" >"$work/as-they-are"
    seconds=$(jq -r 'select(.line == "dataset") | .load_s' "$work/results/run-0001.jsonl")
    read -ra watched <"$work/watched"
    # Its own figure is believed where the threads that load lived as long.
    if ! awk -v own="$seconds" -v watched="${watched[0]}" 'BEGIN {
        off = own - watched; if (off < 0) off = -off; exit !(off < 0.5 || off < 0.05 * own) }'; then
        echo "error: dbdyno reports a load of $seconds s, and its threads lived ${watched[0]} s" >&2
        exit 3
    fi
    jq -r --arg names "$compared" '($names | [splits("[ \n]+")]) as $list | select(.line == "server" and .at == "start").variables
        | to_entries[] | select(.key | IN($list[])) | "\(.key) \(.value)"' "$work/results/run-0001.jsonl" | sort >"$work/settings-ours"
    server=$(sed -n 's/^kept: dbdyno server start //p' "$work/err")
    "$dbdyno" server start "$server" >/dev/null 2>"$work/err" || failed start
    check "$1" "$work/servers/$server" test
    destroy "$server"
    echo "$seconds ${watched[*]}" >>"$work/$1"
}

# Loads by the mariadb client; appends "SECONDS" to the file of its way.
by_clients() { # WAY FILES
    local from to client pid
    create "$name-bound"
    settings_of "$work/$name-bound" >"$work/settings-theirs"
    sync
    from=$EPOCHREALTIME
    mariadb --defaults-file="$work/$name-bound/client.cnf" test <"$work/tables.sql"
    started=()
    : >"$work/err"
    for client in $(seq 0 $((clients - 1))); do
        mariadb --defaults-file="$work/$name-bound/client.cnf" --local-infile=1 test <"$work/$2-$client.sql" 2>>"$work/err" &
        started+=($!)
    done
    for pid in "${started[@]}"; do wait "$pid" || failed "the load $1"; done
    to=$EPOCHREALTIME
    started=()
    check "$1" "$work/$name-bound" test
    destroy "$name-bound"
    awk -v from="$from" -v to="$to" 'BEGIN { printf "%.3f\n", to - from }' >>"$work/$1"
}

for round in $(seq "$rounds"); do
    # The round is the seed of its order.
    tr ' ' '\n' <<<"$loads" | shuf --random-source=<(yes "$round") >"$work/round"
    while read -r way <&3; do
        echo "round $round of $rounds: $way" >&2
        sync
        case $way in
        lines | inserts) by_clients "$way" "$way" ;;
        *) by_dbdyno "$way" ;;
        esac
    done 3<"$work/round"
    if [ -e "$work/settings-ours" ] && [ -e "$work/settings-theirs" ] \
        && ! cmp -s "$work/settings-ours" "$work/settings-theirs"; then
        echo 'error: the servers have other settings:' >&2
        diff "$work/settings-ours" "$work/settings-theirs" >&2 || true
        exit 3
    fi
    cpu gzip -dc "$work/packed.sql.gz" >>"$work/unpacked"
done

column() { awk -v field="$2" '{ print $field }' "$work/$1"; } # WAY FIELD
line() { # WHAT WAY BOUND
    local seconds shown='| 1 | |'
    [ -e "$work/$2" ] || return 0
    seconds=$(column "$2" 1 | median)
    # A ratio of rates: the bound's time by ours.
    [ -z "$3" ] || shown='| | 0.9 |'
    [ -z "$3" ] || [ ! -e "$work/$3" ] || shown="| $(paste -d' ' <(column "$3" 1) <(column "$2" 1) | ratio) | 0.9 |"
    awk -v what="$1" -v s="$seconds" -v rows="$rows" -v bytes="$bytes" -v shown="$shown" 'BEGIN {
        printf "| %s | %.1f | %.0f | %.1f %s\n", what, s, rows / s / 1000, bytes / s / 1e6, shown }'
}
bound=lines
awk -v bytes="$bytes" -v rows="$rows" -v data="$data" -v rounds="$rounds" 'BEGIN {
    printf "A dump of %.0f MB, %d rows of %s; medians over rounds (%d), MB are those of the plain dump.", bytes / 1e6, rows, data, rounds }'
if [ -s "$work/as-they-are" ]; then
    bound=inserts
    printf ' %s by dbdyno, because LOAD DATA could have changed their rows: their bound is that of INSERTs.' "$(cat "$work/as-they-are")"
fi
printf '\n\n'
echo '| load | s | thousand rows/s | MB/s | rate by that of the bound, 95 % interval | target |'
echo '| --- | ---: | ---: | ---: | ---: | ---: |'
line "LOAD DATA LOCAL from ready files, $clients mariadb clients" lines ''
line 'dbdyno, the plain dump' plain "$bound"
line 'dbdyno, the dump by gzip' gzip "$bound"
line "the INSERTs by $clients mariadb clients" inserts ''
line 'dbdyno, the plain dump, dump_as = "inserts"' as-inserts inserts
echo
echo '| dbdyno during the load | its CPU, s | of which its reading thread, s | peak memory, MB (target: 200) |'
echo '| --- | ---: | ---: | ---: |'
for way in plain gzip as-inserts; do
    [ -e "$work/$way" ] || continue
    printf '| %s | %.2f | %.2f | %.0f |\n' "$way" "$(column "$way" 3 | median)" "$(column "$way" 4 | median)" \
        "$(column "$way" 5 | sort -n | tail -n 1 | awk '{ print $1 * 1024 / 1e6 }')"
done
echo
[ -e "$work/plain" ] && [ -e "$work/gzip" ] || exit 0
awk -v plain="$(column plain 4 | median)" -v gzip="$(column gzip 4 | median)" -v alone="$(median <"$work/unpacked")" 'BEGIN {
    printf "Decompression: %.2f s of CPU in dbdyno (its reading thread with gzip, less without), %.2f s by gzip -dc alone.\n", gzip - plain, alone }'
