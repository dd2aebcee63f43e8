#!/usr/bin/env bash
# Measures the design side by side: error rate on equal servers, time to decide beside the classical design, truth of
# the intervals, and all of it beside a noisy neighbour.
#
# usage: bench/side_by_side/measure.sh PART [DBDYNO] [OPTION...]    (default of DBDYNO: what `make build` builds)
# Parts: aa (1 hour), decide (at most 7 hours), truth (at most 4 hours), neighbour (at most 5 hours after decide).
# Options: --results DIR (results/side_by_side), --seed N, --into FILE; --help after PART explains them and the others.
# Prints a table in Markdown. The same command continues an interrupted part: what is in DIR is not measured again. All
# results directories, outputs and JSON reports stay in DIR. Other work on any processor makes the figures worse.
# `make bench` leaves it out, because it takes hours.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/../dbdyno.sh"
need 'cargo and util-linux' cargo setsid
if [ $# -lt 1 ] || [[ $1 == -* ]]; then
    sed -n 's/^# //; 5,6p' "$0" >&2
    exit 2
fi
part=$1
shift
given=
if [ $# -gt 0 ] && [[ $1 != -* ]]; then
    given=$1
    shift
fi
dbdyno=$(find_dbdyno "$given")

built=${CARGO_TARGET_DIR:-$here/../client_cost/target}/client_cost
cargo build --quiet --release --package side_by_side --manifest-path "$here/../client_cost/Cargo.toml" \
    --target-dir "$built"

# For the null servers' sockets, whose paths must be short.
work=$(mktemp -d "${TMPDIR:-/tmp}/side-by-side-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$built/release/side_by_side" "$part" --dbdyno "$dbdyno" --work "$work" "$@"
