#!/usr/bin/env bash
#
# Writes to standard output the licence notices of everything that is linked into a dbdyno for a target:
#
#   scripts/notices.sh TARGET            all of it, as the packages carry it
#   scripts/notices.sh TARGET --crates   the crates alone, with the C code and the fonts that they bring
#
# They are taken from the sources that cargo built from: every crate that dbdyno depends on for the target (build
# scripts and tests are not linked), each with every licence file in its directory; identical texts are printed once. A
# crate without any licence text is an error, unless it is available under the Apache licence, whose text names no
# owner. The chart library that the report embeds, the Rust standard library, and musl if the target links it, are
# included.
set -euo pipefail

if [ $# -lt 1 ]; then
    echo 'usage: scripts/notices.sh TARGET [--crates]' >&2
    exit 2
fi
target=$1
only=${2:-}
# Even the shortest licences are longer; a shorter file only refers to one.
POINTER_BYTES=500
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/texts"
: >"$work/numbers"

fail() {
    echo "error: $1" >&2
    [ -z "${2:-}" ] || echo "hint: $2" >&2
    exit 4
}

# text FILE: the number under which a text is printed; identical texts have the same number.
text() {
    local sum number
    sum=$(tr -d '\r' <"$1" | sed 's/[[:space:]]*$//' | sha256sum | cut -d ' ' -f 1)
    number=$(grep -n "^$sum$" "$work/numbers" | cut -d : -f 1 || true)
    if [ -z "$number" ]; then
        echo "$sum" >>"$work/numbers"
        number=$(wc -l <"$work/numbers")
        tr -d '\r' <"$1" | sed 's/[[:space:]]*$//' >"$work/texts/$number"
    fi
    echo "$number"
}

# component NAME LICENCE FILE...: a line of the list, and the texts referred to.
component() {
    local name=$1 licence=$2 numbers='' file
    shift 2
    for file in "$@"; do
        [ -s "$file" ] || fail "$name: $file is empty or missing"
        numbers+=" $(text "$file")"
    done
    [ -n "$numbers" ] || fail "$name has no licence text"
    printf '%s\n    licence: %s\n    texts:%s\n' "$name" "$licence" "$(tr ' ' '\n' <<<"$numbers" | sort -un | tr '\n' ' ')" \
        | sed 's/ *$//' >>"$work/list"
}

# A build fetches only the sources that it compiles; cargo's metadata needs those of the tests as well.
"$cargo" fetch --locked --quiet --target "$target" || fail 'the sources of the crates cannot be loaded' \
    "cargo fetch --locked --target $target"
# The directory of each crate's source, from cargo's JSON; only the manifests' paths are needed.
"$cargo" metadata --locked --offline --format-version 1 --filter-platform "$target" >"$work/metadata" \
    || fail 'cargo does not tell where the sources of the crates are' "cargo metadata --locked --offline"
grep -o '"manifest_path":"[^"]*"' "$work/metadata" | cut -d '"' -f 4 | sort -u >"$work/manifests"
"$cargo" tree --locked --offline -p dbdyno -e normal --prefix none --target "$target" --format '{p}|{l}' >"$work/tree"
sed 's/ (\*)$//' "$work/tree" | sort -u >"$work/crates"
[ -s "$work/crates" ] || fail 'cargo lists no crates'

while IFS='|' read -r crate licence; do
    name=${crate%% *}
    version=$(cut -d ' ' -f 2 <<<"$crate")
    version=${version#v}
    # A crate of this repository has a path after its version: its licence is dbdyno's own.
    case $crate in
    *" ($PWD/"*) continue ;;
    esac
    manifest=$(grep -m 1 "/$name-$version/Cargo.toml$" "$work/manifests" || true)
    [ -n "$manifest" ] || fail "$name $version: its source was not found"
    source=$(dirname "$manifest")
    # Also in the directories of third-party code in a crate, such as fonts and C.
    mapfile -t files < <(find "$source" -type f -size +0 -not -path '*/tests/*' -not -path '*/benches/*' \
        \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'copyright*' -o -iname 'unlicense*' \) \
        -not -name '*.rs' -not -name '*.py' | sort)
    if [ "$name" = mlua-sys ]; then
        # A part of mlua, whose licence it has; it links LuaJIT, whose source is in a crate that only builds it.
        for other in mlua luajit-src; do
            manifest=$(grep -m 1 "/$other-[0-9][^/]*/Cargo.toml$" "$work/manifests" || true)
            [ -n "$manifest" ] || fail "$other: its source was not found"
            mapfile -t -O "${#files[@]}" files < <(find "$(dirname "$manifest")" -maxdepth 2 -type f \
                \( -iname 'license*' -o -iname 'copyright*' \) | sort)
        done
    fi
    # A few lines that only name the licences are not a licence text.
    whole=''
    for file in "${files[@]}"; do
        [ "$(stat -c %s "$file")" -le "$POINTER_BYTES" ] || whole=$file
    done
    if [ -z "$whole" ]; then
        [[ $licence == *Apache-2.0* && $licence != *AND* ]] || fail "$name $version ($licence) has no licence text"
        files+=(LICENSE-APACHE)
    fi
    if [ "$name" = libsqlite3-sys ]; then
        # SQLite itself is in the public domain; its file contains a blessing instead of a licence.
        sed -n '/\*\//q;p' "$source/sqlite3/sqlite3.h" | sed -n '1,/\*\*\*\*\*/p' >"$work/sqlite"
        grep -q 'blessing' "$work/sqlite" || fail "$name $version: the notice of SQLite was not found"
        files+=("$work/sqlite")
    fi
    component "$name $version" "${licence:-see the texts}" "${files[@]}"
done <"$work/crates"

if [ "$only" != --crates ]; then
    # Without it the report has static charts only, and embeds nothing.
    uplot=crates/report/assets/node_modules/uplot
    if [ -d "$uplot" ]; then
        version=$(sed -n 's/.*"version": *"\([^"]*\)".*/\1/p' "$uplot/package.json")
        component "uPlot $version (JavaScript, in the report)" MIT "$uplot/LICENSE"
    fi
    documents=$(rustc --print sysroot)/share/doc/rust
    if [ -s "$documents/COPYRIGHT-library.html" ]; then
        sed -e 's/<[^>]*>//g' -e 's/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g' "$documents/COPYRIGHT-library.html" >"$work/rust"
    else
        cp LICENSE-APACHE "$work/rust"
    fi
    component "the Rust standard library, $(rustc --version | cut -d ' ' -f 2)" 'MIT OR Apache-2.0, and of its parts' "$work/rust"
    case $target in
    *-musl)
        musl=''
        for package in musl-dev musl-tools musl; do
            [ -z "$musl" ] && [ -s "/usr/share/doc/$package/copyright" ] && musl=/usr/share/doc/$package/copyright
        done
        [ -n "$musl" ] || fail 'the notice of musl was not found' 'as root: apt-get install --no-install-recommends musl-tools'
        component 'musl' MIT "$musl"
        ;;
    esac
fi

cat <<HEAD
Third-party notices of dbdyno

The program contains the following works, each under its own licence. The numbers name the texts below.

HEAD
cat "$work/list"
for number in $(seq "$(wc -l <"$work/numbers")"); do
    printf '\n======== text %s ========\n\n' "$number"
    cat "$work/texts/$number"
done
