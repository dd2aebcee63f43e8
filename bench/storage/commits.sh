#!/usr/bin/env bash
# Measures what the commit probe itself costs, against a loop of the same calls in C (target: at most 2 %), and how well it
# predicts the durable commits of a private MariaDB with one connection, on ext4 and xfs in loop images (root).
#
# usage: bench/storage/commits.sh [DBDYNO]    (default: what `make build` builds)
# Environment: ROUNDS (default 5), EACH in seconds (default 5), DISK (default /var/tmp).
# Needs gcc, jq and awk; for the prediction root, mkfs.ext4, mkfs.xfs, mariadbd and mariadb-slap: what is missing is left out.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
# shellcheck source=bench/storage/rounds.sh
. "$here/rounds.sh"
need 'gcc, jq and mawk' gcc jq awk
dbdyno=$(find_dbdyno "${1:-}")
rounds=${ROUNDS:-5} each=${EACH:-5}
work_on_disk
mounted='' server=''
end() {
    [ -z "$server" ] || { kill "$server" && wait "$server"; } 2>/dev/null || true
    [ -z "$mounted" ] || umount "$mounted" || true
    rm -rf "$work"
}
trap end EXIT
gcc -O2 -o "$work/plain" "$here/plain.c"

probe() { # DIRECTORY
    rm -rf "$work/probe"
    "$dbdyno" storage commit "$1" --writers 1 --seconds "$each" --results "$work/probe" >/dev/null 2>"$work/err" ||
        { cat "$work/err" >&2; exit 3; }
    jq -r 'select(.line == "commit") | .commits / .elapsed_s' "$work/probe/storage.jsonl"
}

mkdir "$work/disk"
for round in $(seq "$rounds"); do
    if [ $((round % 2)) -eq 0 ]; then
        ours=$(probe "$work/disk")
        theirs=$("$work/plain" "$work/disk" "$each")
    else
        theirs=$("$work/plain" "$work/disk" "$each")
        ours=$(probe "$work/disk")
    fi
    echo "$ours $theirs" >>"$work/pairs"
done
echo "Commits per second, the probe / plain C: $(ratio <"$work/pairs"), $rounds rounds (target: at least 0.98)"

for program in mariadbd mariadb-install-db mariadb-slap mariadb-admin; do
    command -v "$program" >/dev/null || { echo "prediction left out: $program is not installed"; exit; }
done
[ "$(id -u)" = 0 ] || { echo 'prediction left out: loop images take root'; exit; }
echo
echo "| file system | MariaDB / the probe, 95 % interval | rounds |"
echo "| --- | ---: | ---: |"
for kind in ext4 xfs; do
    command -v "mkfs.$kind" >/dev/null || { echo "| $kind | left out: mkfs.$kind is not installed | |"; continue; }
    truncate -s 2G "$work/image"
    "mkfs.$kind" -q "$work/image"
    mkdir -p "$work/mount"
    mount -o loop "$work/image" "$work/mount"
    mounted=$work/mount
    mkdir "$mounted/data" "$mounted/probe"
    mariadb-install-db --no-defaults --datadir="$mounted/data" --user=root --auth-root-authentication-method=normal >/dev/null
    socket=$work/server.sock
    mariadbd --no-defaults --datadir="$mounted/data" --user=root --socket="$socket" --skip-networking --log-bin=binlog \
        --sync-binlog=1 --innodb-flush-log-at-trx-commit=1 --pid-file="$work/pid" >"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        mariadb-admin --no-defaults --socket="$socket" --user=root ping >/dev/null 2>&1 && break
        sleep 0.1
    done
    : >"$work/predictions"
    for _ in $(seq "$rounds"); do
        rate=$(probe "$mounted/probe")
        queries=$(awk -v rate="$rate" -v each="$each" 'BEGIN { printf "%d", rate * each / 2 + 100 }')
        seconds=$(mariadb-slap --no-defaults --socket="$socket" --user=root --concurrency=1 --iterations=1 \
            --create-schema=bench --create='CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY, c CHAR(100)) ENGINE=InnoDB' \
            --query="INSERT INTO t (c) VALUES (REPEAT('x', 100))" --number-of-queries="$queries" --csv | cut -d, -f3)
        awk -v count="$queries" -v seconds="$seconds" -v rate="$rate" 'BEGIN { print count / seconds, rate }' \
            >>"$work/predictions"
    done
    echo "| $kind | $(ratio <"$work/predictions") | $rounds |"
    kill "$server"
    wait "$server" || true
    server=''
    umount "$mounted"
    mounted=''
    rm "$work/image"
done
