#!/usr/bin/env bash
# Compares dbdyno's client with sysbench, mariadb-slap, mysql_async, Go's driver and a bare epoll loop: CPU, rate and
# memory against the null server and a private MariaDB.
#
# usage: bench/client_cost/run.sh [DBDYNO] [OPTION...]    (default: what `make build` builds)
# Options: --quick (about 3 minutes), --rounds N, --targets-only, --only PART,..., --seed N, --into FILE; --help
# explains them.
# Needs sysbench, mariadb-slap, taskset, cargo, go and gcc; the default takes about 25 minutes. Other work on any
# processor makes the figures worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need 'sysbench, mariadb-client, util-linux, cargo, golang-go and gcc' sysbench mariadb-slap mariadb taskset cargo go gcc
given=
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
    given=$1
    shift
fi
dbdyno=$(find_dbdyno "$given")

built=${CARGO_TARGET_DIR:-$here/target}/client_cost
cargo build --quiet --release --workspace --manifest-path "$here/Cargo.toml" --target-dir "$built"
(cd "$here/peers/go_driver" && go build -o "$built/go_driver" .)
gcc -O2 -Wall -o "$built/epoll_floor" "$here/peers/epoll_floor.c"

work=$(mktemp -d "${TMPDIR:-/tmp}/client-cost-XXXXXX")
# The private server would survive a harness that is killed.
trap '"$dbdyno" server destroy "$(basename "${work,,}")" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
"$built/release/client_cost" --work "$work" --dbdyno "$dbdyno" --epoll-floor "$built/epoll_floor" \
    --mysql-async "$built/release/mysql_async_loop" --go-driver "$built/go_driver" "$@"
