# shellcheck shell=bash
# For the benchmarks that source it: the dbdyno that is measured, and the programs beside it.

# Prints the path of the program: the one given, else what `make build` builds.
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

# Ends unless every program is there.
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
