#!/usr/bin/env bash
#
# Installs the Debian packages whose commands are missing on this machine:
#
#   scripts/install-packages.sh run     to build dbdyno and to run the quickstart
#   scripts/install-packages.sh test    also for the tests
#
# Never removes a package: if a server of another vendor is installed, apt refuses and nothing changes.
# mariadb-server-core contains the server and its system tables but starts no service; mariadb-server would start one.
set -euo pipefail

needed=()
for_tests=()

# missing COMMAND: true when it is not installed; servers are in sbin, which is not in every user's PATH.
missing() {
    ! PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1" >/dev/null
}

# as_root COMMAND...: runs it as root, through sudo if needed.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# progress LABEL: shows the percentage and the time left from apt's status lines on standard input.
progress() {
    local label=$1 line phase='' doing='' begun=$SECONDS percent shown=-1 left
    # For example: pmstatus:mariadb-server-core:41.6667:Unpacking ...
    local status='^(dl|pm)status:[^:]*(:[a-z0-9]+)?:([0-9]+)(\.[0-9]+)?:'
    while IFS= read -r line; do
        if ! [[ $line =~ $status ]]; then
            continue
        fi
        percent=${BASH_REMATCH[3]}
        # Downloading and installing each count from 0 to 100.
        if [ "${BASH_REMATCH[1]}" != "$phase" ]; then
            phase=${BASH_REMATCH[1]} begun=$SECONDS shown=-1
            doing=installing
            if [ "$phase" = dl ]; then doing=downloading; fi
        fi
        left=''
        if [ "$percent" -gt 0 ]; then
            left=", $(((SECONDS - begun) * (100 - percent) / percent)) s left"
        fi
        if [ -t 2 ]; then
            printf '\r%s: %s %d %%%s\033[K' "$label" "$doing" "$percent" "$left" >&2
        elif [ $((percent / 25)) -ne "$shown" ]; then
            shown=$((percent / 25))
            printf '%s: %s %d %%%s\n' "$label" "$doing" "$percent" "$left" >&2
        fi
    done
    if [ -t 2 ]; then
        printf '\r\033[K' >&2
    fi
}

# apt_get LABEL ARGUMENT...: runs apt-get with a line of progress; prints its output when it fails.
apt_get() {
    local label=$1 log result=0
    shift
    log=$(mktemp)
    # The status lines need a descriptor of their own: apt closes it for the packages' scripts. sudo passes on no more
    # than the first three, so it is opened inside sudo.
    # shellcheck disable=SC2016 # the inner shell expands it
    as_root env DEBIAN_FRONTEND=noninteractive \
        sh -c 'exec apt-get -qq -o APT::Status-Fd=3 "$@" 3>&1 >&2' apt-get "$@" </dev/null 2>"$log" |
        progress "$label" || result=$?
    if [ "$result" -ne 0 ]; then
        tail -n 20 "$log" >&2
    fi
    rm -f "$log"
    return "$result"
}

# install_packages PACKAGE...: prints the reason when it fails.
install_packages() {
    if ! command -v apt-get >/dev/null; then
        echo 'error: this is no Debian; install what corresponds to these packages' >&2
    elif [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        echo 'error: installing packages takes root, and sudo is not installed' >&2
    else
        apt_get 'package lists' update || echo 'warning: the package lists could not be updated' >&2
        apt_get 'packages' install --no-remove --no-install-recommends "$@" && return
        echo 'error: apt-get could not install the packages' >&2
    fi
    echo "hint: as root: apt-get install --no-install-recommends $*" >&2
    return 1
}

case ${1:-} in
    run | test) ;;
    *)
        echo 'usage: scripts/install-packages.sh run|test' >&2
        exit 2
        ;;
esac

# Some dependencies compile C, and Rust links with cc.
if missing cc; then needed+=(gcc libc6-dev); fi
if missing mariadbd; then needed+=(mariadb-server-core); fi
if missing mariadb; then needed+=(mariadb-client-core); fi
# Fetches the chart library that the report embeds.
if missing npm; then needed+=(npm); fi
if [ "$1" = test ]; then
    if missing ip; then for_tests+=(iproute2); fi
    if missing chromium; then for_tests+=(chromium); fi
    if missing openssl; then for_tests+=(openssl); fi
    if missing sysbench; then for_tests+=(sysbench); fi
    if missing mariadb-slap; then for_tests+=(mariadb-client); fi
    if missing fio; then for_tests+=(fio); fi
    if missing pidstat; then for_tests+=(sysstat); fi
    if missing mariadb-backup; then for_tests+=(mariadb-backup); fi
fi

packages=("${needed[@]}" "${for_tests[@]}")
if [ ${#packages[@]} -eq 0 ]; then
    exit 0
fi
echo "installing ${packages[*]}" >&2
if ! install_packages "${packages[@]}"; then
    if [ ${#needed[@]} -gt 0 ]; then
        exit 4
    fi
    echo 'warning: tests that need these packages will be skipped' >&2
fi
