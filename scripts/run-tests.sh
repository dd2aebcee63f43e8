#!/usr/bin/env bash
#
# Builds all tests and runs them: those of the program, and beside them those of the crates, whose output follows. Used by
# `make test`, by whose variables clippy's driver compiles our crates: a lint is an error of the build.
set -uo pipefail
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
driver=${RUSTC_WORKSPACE_WRAPPER:?by make test}
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
# Two thirds of the tests of the program wait for something at any time; those of the crates shall not end after them.
threads=$((3 * $(nproc)))
threads_of_crates=$((2 * $(nproc)))
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

is_accepted() {
    printf '%s' "$1" | "$driver" --crate-name probe --crate-type lib --emit metadata -o "$scratch/probe" - 2>"$scratch/why"
}

# No document promises the variable by which clippy takes its arguments.
if ! is_accepted 'pub fn f() {}' || is_accepted 'pub fn f() { return; }'; then
    echo "error: $driver does not refuse what clippy warns of" >&2
    cat "$scratch/why" >&2
    echo 'hint: rustup component add clippy; then make lint shows whether its lints hold' >&2
    exit 1
fi
"$cargo" test --workspace --no-run || exit
make --no-print-directory mysql || exit

# Always of the whole workspace: for a part of it, the crates of others would be built with other features.
of_crates() {
    local code=0
    export RUST_TEST_THREADS=$threads_of_crates
    "$cargo" test --workspace --no-fail-fast --lib --bins --test '[!s]*' --test 's[!u]*' || code=$?
    "$cargo" test --workspace --no-fail-fast --doc || code=$?
    # A workspace of its own.
    env -u RUSTC_WORKSPACE_WRAPPER "$cargo" test --manifest-path bench/client_cost/Cargo.toml --target-dir "$target" \
        -p client_cost -p harness -p side_by_side -p tpcc_load || code=$?
    return "$code"
}

of_crates >"$scratch/crates" 2>&1 &
RUST_TEST_THREADS=$threads "$cargo" test --workspace --test suite
program=$?
wait $!
crates=$?
cat "$scratch/crates"
if [ "$program" -ne 0 ] || [ "$crates" -ne 0 ]; then
    echo "tests failed: of the program with exit code $program, of the crates with $crates" >&2
    exit 1
fi
