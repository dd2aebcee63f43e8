#!/usr/bin/env bash
#
# Runs the tests in shuffled order on a machine that is as bad as it may get: a busy loop for each of four programs, a
# writer that waits for the disk after each block, half of the memory taken, and 3 GiB free on the file system of the
# scenes. A test that fails here is flaky, and so is its kind.
#
#   scripts/test-noisy.sh [SEED] [TEST ...]     the seed of the order (1); only tests with these texts in their names
#
# As root in a mount namespace of its own, which takes all of it away again; without root the small file system and the
# memory are left out, and it says so.
set -euo pipefail
cd "$(dirname "$0")/.."

seed=${1:-1}
shift || true
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
noises=()

if [ "$(id -u)" -eq 0 ] && [ -z "${NOISY_TESTS:-}" ]; then
    "${CARGO:-cargo}" test --workspace --no-run
    NOISY_TESTS=1 exec unshare --mount -- "$0" "$seed" "$@"
fi

quiet() {
    kill "${noises[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -f "$target/noise"
    if [ -n "${NOISY_TESTS:-}" ]; then
        umount --lazy "$taken" "$small" 2>/dev/null || true
        rmdir "$taken" "$small" 2>/dev/null || true
        rm -f "$image"
    fi
}
trap quiet EXIT

if [ -n "${NOISY_TESTS:-}" ]; then
    # Too small for scenes, which then stand on the small file system.
    mount -t tmpfs -o size=1G tmpfs /dev/shm
    taken=$(mktemp -d)
    half_mib=$(awk '/^MemTotal/ { print int($2 / 2048) }' /proc/meminfo)
    mount -t tmpfs -o "size=${half_mib}m" tmpfs "$taken"
    dd if=/dev/zero of="$taken/half" bs=1M count=$((half_mib - 16)) status=none
    image=$(mktemp -p "$target" small.XXXXXX) small=$(mktemp -d)
    truncate -s 3300M "$image"
    mkfs.ext4 -q -m 0 "$image"
    mount -o loop "$image" "$small"
    chmod 1777 "$small"
    export TMPDIR=$small
    df -h --output=avail "$small" | tail -n 1 | sed 's/^ */free for the scenes: /' >&2
else
    echo 'without root: memory and disk are as they are' >&2
fi

for _ in 1 2 3 4; do
    while :; do :; done &
    noises+=($!)
done
while :; do
    dd if=/dev/zero of="$target/noise" bs=256k count=64 oflag=dsync status=none || sleep 1
done &
noises+=($!)

# The order of the tests is an unstable option of the harness, which this variable allows the test programs, not the build.
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='env RUSTC_BOOTSTRAP=1'
# Beside the busy loops, half as many tests at a time take twice as long.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((4 * $(nproc)))}
begun=$SECONDS result=0
"${CARGO:-cargo}" test --workspace --lib --bins --tests --no-fail-fast -- \
    -Z unstable-options --shuffle --shuffle-seed "$seed" "$@" || result=$?
echo "noisy, seed $seed: exit code $result after $((SECONDS - begun)) s" >&2
exit "$result"
