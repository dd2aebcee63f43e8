#!/usr/bin/env bash
#
# Makes the packages of a dbdyno that is already built (`make static` builds one without dependencies):
#
#   scripts/make-deb.sh BINARY DIRECTORY
#
# writes into DIRECTORY dbdyno_VERSION_ARCHITECTURE.deb and the same tree as dbdyno-VERSION-MACHINE-linux.tar.gz: the
# program, its completions and man pages, docs, experiments, scripts of the proxy, and the notices of everything linked into it. The .deb has
# no dependencies: a server is searched for when one is needed. The names of the tools that dbdyno replaces are left to
# their own packages.
set -euo pipefail
umask 022

if [ $# -ne 2 ]; then
    echo 'usage: scripts/make-deb.sh BINARY DIRECTORY' >&2
    exit 2
fi
binary=$(realpath -e "$1")
mkdir -p "$2"
out=$(realpath -e "$2")
cd "$(dirname "$0")/.."

version=$("$binary" --version | cut -d ' ' -f 2)
# A static dbdyno for another machine could not have printed its version.
machine=$(uname -m)
architecture=$(dpkg --print-architecture)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
share=$tree/usr/share

install -D "$binary" "$tree/usr/bin/dbdyno"
mkdir -p "$share/bash-completion/completions" "$share/zsh/vendor-completions" "$share/fish/vendor_completions.d"
"$binary" completions bash >"$share/bash-completion/completions/dbdyno"
"$binary" completions zsh >"$share/zsh/vendor-completions/_dbdyno"
"$binary" completions fish >"$share/fish/vendor_completions.d/dbdyno.fish"
"$binary" man "$share/man/man1"
gzip -9n "$share"/man/man1/*.1

mkdir -p "$share/dbdyno/proxy" "$share/doc/dbdyno"
cp -r experiments "$share/dbdyno/"
cp crates/proxy/scripts/*.lua "$share/dbdyno/proxy/"
cp -r README.md docs "$share/doc/dbdyno/"
gzip -9nc CHANGELOG.md >"$share/doc/dbdyno/changelog.gz"
# The binary's path contains its target; a binary built without a named target is for this machine.
target=$(basename "$(dirname "$(dirname "$binary")")")
[[ $target == *-linux-* ]] || target=$(rustc -vV | sed -n 's/^host: //p')
scripts/notices.sh "$target" >"$share/doc/dbdyno/NOTICES"
# deb822 FILE: prints a text as the continuation of a field.
deb822() {
    sed -e 's/[[:space:]]*$//' -e 's/^$/./' -e 's/^/ /' "$1"
}
{
    cat <<'COPYRIGHT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: dbdyno
Comment: The program contains the crates and other works that NOTICES, in this
 directory, names with their licences.

Files: *
Copyright: The dbdyno authors
License: Expat or Apache-2.0

License: Expat
COPYRIGHT
    deb822 LICENSE-MIT
    printf '\nLicense: Apache-2.0\n'
    deb822 LICENSE-APACHE
} >"$share/doc/dbdyno/copyright"

tar -C "$tree/usr" --owner=0 --group=0 --numeric-owner --sort=name \
    --transform "s,^\.,dbdyno-$version," -czf "$out/dbdyno-$version-$machine-linux.tar.gz" .

size=$(du -sk "$tree/usr" | cut -f 1)
mkdir "$tree/DEBIAN"
cat >"$tree/DEBIAN/control" <<CONTROL
Package: dbdyno
Version: $version
Architecture: $architecture
Maintainer: The dbdyno authors <dbdyno@localhost>
Installed-Size: $size
Recommends: mariadb-server-core | virtual-mysql-server-core
Section: database
Priority: optional
Description: answers performance questions about MySQL-family servers
 One experiment file says which server, which data, which queries, how many
 clients, and what to vary. dbdyno starts a private server for it or uses yours,
 drives the load, watches the machine, and says what came out and how sure it is.
CONTROL
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"
dpkg-deb --root-owner-group -Zxz --build "$tree" "$out/dbdyno_${version}_$architecture.deb" >&2
printf '%s\n' "$out/dbdyno_${version}_$architecture.deb" "$out/dbdyno-$version-$machine-linux.tar.gz"
