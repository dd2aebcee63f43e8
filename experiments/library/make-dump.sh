#!/usr/bin/env bash
#
# Makes library.sql.gz again from schema.sql and rows.sql: on a private MariaDB, by mariadb-dump. The same version of both
# writes the same bytes.
#
#   experiments/library/make-dump.sh                       dbdyno from PATH
#   DBDYNO=target/release/dbdyno experiments/library/make-dump.sh
set -euo pipefail

dbdyno=${DBDYNO:-dbdyno}
here=$(cd "$(dirname "$0")" && pwd)
server=library-dump-$$
data=$(mktemp -d)
destroy() {
    "$dbdyno" server destroy "$server"
    rm -r "$data"
}
trap 'rm -r "$data"' EXIT
"$dbdyno" server create "$server" --run mariadb --dir "$data/server"
trap destroy EXIT

"$dbdyno" server client "$server" -- -e 'CREATE DATABASE library'
"$dbdyno" server client "$server" -- library < "$here/schema.sql"
"$dbdyno" server client "$server" -- library < "$here/rows.sql"
mariadb-dump --defaults-file="$data/server/client.cnf" --routines --single-transaction --skip-dump-date library |
    gzip -9n > "$here/library.sql.gz.new"
mv "$here/library.sql.gz.new" "$here/library.sql.gz"
