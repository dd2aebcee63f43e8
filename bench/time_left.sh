#!/usr/bin/env bash
# Measures how far the time left that `dbdyno run` announces is from the time that it then took.
#
# usage: bench/time_left.sh DBDYNO EXPERIMENT [OPTION..]    (options of `dbdyno run`, such as --scale 0.2)
# Each run of the experiment announces a time left. Prints a line of a Markdown table: how far the announcements after the
# first tenth of the time are off, of the time that was really left. Announcements of the last 10 s are left out, where
# the rounding to whole seconds counts.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/dbdyno.sh
. "$here/dbdyno.sh"
need 'mawk and coreutils' awk mktemp
if [ $# -lt 2 ]; then
    sed -n 's/^# //; 4p' "$0" >&2
    exit 2
fi
dbdyno=$(find_dbdyno "$1")
experiment=$2
shift 2
work=$(mktemp -d "${TMPDIR:-/tmp}/time-left-XXXXXX")
trap 'rm -rf "$work"' EXIT

begun=$EPOCHREALTIME
"$dbdyno" run "$experiment" --results "$work/results" "$@" 2>&1 >/dev/null |
    while IFS= read -r line; do printf '%s %s\n' "$EPOCHREALTIME" "$line"; done >"$work/lines"
ended=$EPOCHREALTIME
awk -v begun="$begun" -v ended="$ended" -v title="$(basename "$experiment" .toml) $*" '
    match($0, /\(about .* left\)/) {
        count = split(substr($0, RSTART + 7, RLENGTH - 13), words, " ")
        said = 0
        for (i = 1; i < count; i += 2)
            said += words[i] * (words[i + 1] == "d" ? 86400 : words[i + 1] == "h" ? 3600 : words[i + 1] == "min" ? 60 : 1)
        left = ended - $1
        if ($1 - begun < (ended - begun) / 10 || left < 10) next
        off = (said - left) / left
        if (!announced++ || off < least) least = off
        if (announced == 1 || off > most) most = off
        within += off <= 0.3 && off >= -0.3
    }
    END {
        if (!announced) { print title ": nothing was announced after the first tenth" > "/dev/stderr"; exit 1 }
        printf "| %s | %.0f | %d | %d | %+.0f to %+.0f %% |\n", title, ended - begun, announced, within, 100 * least, 100 * most
    }' "$work/lines"
