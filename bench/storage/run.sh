#!/usr/bin/env bash
# Measures dbdyno's storage measurements against fio run by hand, and its commit probe against plain C and a MariaDB.
#
# usage: bench/storage/run.sh [DBDYNO]    (default: what `make build` builds)
# Environment: as the three scripts beside it tell. Takes about ten minutes; other work on the disk makes every figure worse.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
dbdyno=$(find_dbdyno "${1:-}")
for script in parity overhead commits; do
    "$here/$script.sh" "$dbdyno"
    echo
done
