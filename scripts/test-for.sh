#!/usr/bin/env bash
#
# Runs the tests that a file needs, by the table "Which tests a change needs" of CONTRIBUTING.md:
#
#   scripts/test-for.sh PATH
set -euo pipefail
cd "$(dirname "$0")/.."

path=${1:-}
if [ -z "$path" ] || [ ! -e "$path" ]; then
    echo "error: ${path:-no path}: name a file or a folder of this repository" >&2
    echo 'hint: make test-for crates/proxy/src/pool.rs' >&2
    exit 2
fi
case $path in
    crates/*/*) crate=${path#crates/} crate=${crate%%/*} ;;
    *)
        echo "error: $path: only the files of crates/ have tests of their own; make test runs all" >&2
        exit 2
        ;;
esac
# A row: | `proxy` | `proxy` `secrets` | `matrix proxy` |
row=$(grep "^| \`$crate\` |" CONTRIBUTING.md) || {
    echo "error: CONTRIBUTING.md has no row for the crate $crate" >&2
    exit 2
}
words() { tr -d '|' <<<"$1" | grep -o '`[^`]*`' | tr -d '`'; }
suite=$(cut -d'|' -f3 <<<"$row")
CARGO=${CARGO:-cargo}
"$CARGO" test -p "$crate"
"$CARGO" test -p dbdyno --test tidy
for module in $(words "$suite"); do
    "$CARGO" test -p dbdyno --test suite "$module::"
done
long=$(cut -d'|' -f4 <<<"$row")
if [ -n "$(words "$long")" ]; then
    echo "before a release also: $(words "$long" | paste -sd' ')" >&2
fi
