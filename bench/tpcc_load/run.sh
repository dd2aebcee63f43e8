#!/usr/bin/env bash
# Compares `dbdyno tpcc load` and `run` with the statements of tpcc-mysql and go-tpc and with the bound, the same rows
# from files: wall time, client CPU and memory on a private MariaDB.
#
# usage: bench/tpcc_load/run.sh [DBDYNO] [OPTION...]    (default: what `make build` builds)
# Options: --rounds N (5), --slow-rounds N with tpcc-mysql's load (all), --warehouses W (4), --seconds S of a run (15),
# --seed N, --into FILE; --help explains them.
# Needs cargo, go, gcc, mariadb and libmariadb-dev; takes 40 minutes, with --slow-rounds 1 a third of that. Other work
# on any processor makes the figures worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need 'cargo, golang-go, gcc, mariadb-client and libmariadb-dev' cargo go gcc mariadb mariadb_config
given=
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
    given=$1
    shift
fi
dbdyno=$(find_dbdyno "$given")

built=${CARGO_TARGET_DIR:-$here/target}/client_cost
cargo build --quiet --release --package tpcc_load --manifest-path "$here/../client_cost/Cargo.toml" --target-dir "$built"
(cd "$here/peers/go_tpc" && go build -o "$built/go_tpc" .)
# shellcheck disable=SC2046
gcc -O2 -Wall $(mariadb_config --include) -o "$built/tpcc_mysql" "$here/peers/tpcc_mysql.c" \
    $(mariadb_config --libs) -lpthread

work=$(mktemp -d "${TMPDIR:-/tmp}/tpcc-load-XXXXXX")
# The private server would survive a harness that is killed.
trap '"$dbdyno" server destroy "$(basename "${work,,}")" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT
"$built/release/tpcc_load" --work "$work" --dbdyno "$dbdyno" --tpcc-mysql "$built/tpcc_mysql" \
    --tables "$here/peers/tpcc_mysql.sql" --go-tpc "$built/go_tpc" --bound "$here/bound.sh" "$@"
