# shellcheck shell=bash
# Functions for the benchmarks that source this file: finding the measured dbdyno and the required programs.

# Prints the path of the program: the given one, else the one that `make build` builds.
find_dbdyno() { # [DBDYNO]
    local root target given=${1:-}
    if [ -n "$given" ]; then
        if ! [ -f "$given" ] || ! [ -x "$given" ]; then
            echo "error: no program $given" >&2
            echo 'hint: leave it out, and it is built' >&2
            exit 2
        fi
        realpath "$given"
        return
    fi
    root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
    target=$(realpath -m "${CARGO_TARGET_DIR:-$root/target}")
    CARGO_TARGET_DIR=$target make -C "$root" --no-print-directory build >&2
    echo "$target/release/dbdyno"
}

# Exits with an error unless every program is installed.
need() { # 'PACKAGE, PACKAGE and PACKAGE' PROGRAM...
    local packages=$1 program
    shift
    for program in "$@"; do
        if ! command -v "$program" >/dev/null; then
            echo "error: $program is not installed" >&2
            echo "hint: the Debian packages are $packages" >&2
            exit 2
        fi
    done
}
