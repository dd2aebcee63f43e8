#!/usr/bin/env bash
#
# Installs each package in a separate directory tree, with an empty home and nothing else of this checkout, and runs the
# first steps of a new user:
#
#   scripts/check-packages.sh DIRECTORY           the .deb and the archive that scripts/make-deb.sh wrote there
#   scripts/check-packages.sh DIRECTORY --cargo   and `cargo install` from a fresh clone (some minutes)
#
# The quickstart runs scaled down; DBDYNO_SCALE=1 runs it in full. A MariaDB or MySQL server must be installed.
set -euo pipefail

if [ $# -lt 1 ]; then
    echo 'usage: scripts/check-packages.sh DIRECTORY [--cargo]' >&2
    exit 2
fi
packages=$(realpath -e "$1")
scale=${DBDYNO_SCALE:-0.05}
repository=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# step WORDS: prints the current step.
step() {
    echo "== $*" >&2
}

# clean TREE COMMAND...: runs a command in an empty home, with the tree's programs first in PATH and nothing of ours.
clean() {
    local tree=$1
    shift
    mkdir -p "$tree/home"
    (cd "$tree/home" && env -i HOME="$tree/home" LANG=C.UTF-8 \
        PATH="$tree/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$@")
}

# notices DIRECTORY: checks that the licences of dbdyno and of everything linked into it are there.
notices() {
    local pattern
    for pattern in '^Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/$' '^License: Apache-2.0$'; do
        if ! grep -q "$pattern" "$1/copyright"; then
            echo "error: $1/copyright has no $pattern" >&2
            exit 1
        fi
    done
    for pattern in '^ring ' '^rustls ' '^libsqlite3-sys ' 'blessing' 'Bitstream Vera Fonts Copyright' \
        '^the Rust standard library' '^musl$'; do
        if ! grep -q "$pattern" "$1/NOTICES"; then
            echo "error: $1/NOTICES has no $pattern" >&2
            exit 1
        fi
    done
}

# first_steps TREE EXPERIMENTS: runs the first steps of the README.
first_steps() {
    local tree=$1 experiments=$2 found
    found=$(clean "$tree" sh -c 'command -v dbdyno')
    if [ "$found" != "$tree/bin/dbdyno" ]; then
        echo "error: $found runs and not what was installed" >&2
        exit 1
    fi
    clean "$tree" dbdyno --version
    clean "$tree" dbdyno quick --results quick
    clean "$tree" dbdyno run "$experiments/quickstart.toml" --scale "$scale" --results quickstart
    clean "$tree" dbdyno report quickstart --charts charts --format png
    local file
    for file in quick/report.html quick/summary.sqlite quickstart/report.html charts/throughput.png; do
        if [ ! -s "$tree/home/$file" ]; then
            echo "error: $file was not written" >&2
            exit 1
        fi
    done
}

deb=$(ls "$packages"/dbdyno_*.deb)
step "$deb"
mkdir "$work/deb"
dpkg-deb -x "$deb" "$work/deb"
# If the tree is not the root, the program is not in its /bin.
ln -s usr/bin "$work/deb/bin"
for file in bash-completion/completions/dbdyno zsh/vendor-completions/_dbdyno fish/vendor_completions.d/dbdyno.fish \
    man/man1/dbdyno.1.gz man/man1/dbdyno-run.1.gz doc/dbdyno/copyright doc/dbdyno/NOTICES doc/dbdyno/docs/quick.md \
    dbdyno/proxy/rw-splitting.lua; do
    if [ ! -s "$work/deb/usr/share/$file" ]; then
        echo "error: the package has no $file" >&2
        exit 1
    fi
done
notices "$work/deb/usr/share/doc/dbdyno"
first_steps "$work/deb" "$work/deb/usr/share/dbdyno/experiments"

archive=$(ls "$packages"/dbdyno-*-linux.tar.gz)
step "$archive"
mkdir "$work/archive"
tar -C "$work/archive" --strip-components=1 -xzf "$archive"
notices "$work/archive/share/doc/dbdyno"
first_steps "$work/archive" "$work/archive/share/dbdyno/experiments"

if [ "$(id -u)" -eq 0 ]; then
    step 'the program alone, in a root directory with nothing else'
    mkdir -p "$work/alone/proc" "$work/alone/tmp" "$work/alone/dev"
    mknod -m 666 "$work/alone/dev/null" c 1 3
    cp "$work/archive/bin/dbdyno" "$work/alone/"
    cp -r "$work/archive/share/dbdyno/experiments" "$work/alone/"
    # unshare removes the mount when the command ends.
    # shellcheck disable=SC2016 # the inner shell expands $1
    unshare --mount sh -euc '
        mount -t proc proc "$1/proc"
        exec chroot "$1" /dbdyno run /experiments/quickstart.toml --simulate --scale 0.02 --results /nothing
    ' sh "$work/alone"
    chroot "$work/alone" /dbdyno report /nothing --chart throughput --output /throughput.png
    test -s "$work/alone/throughput.png"
fi

if [ "${2:-}" = --cargo ]; then
    step 'cargo install from a fresh clone'
    git clone --quiet "$repository" "$work/clone"
    cargo install --quiet --locked --path "$work/clone/crates/dbdyno" --root "$work/cargo" --no-track
    first_steps "$work/cargo" "$work/clone/experiments"
fi
echo 'all packages work' >&2
