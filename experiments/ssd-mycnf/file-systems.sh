#!/usr/bin/env bash
#
# Makes an XFS and an ext4 file system in image files and mounts them, or removes them again; as root:
#
#   experiments/ssd-mycnf/file-systems.sh make SIZE      SIZE as 4G; both images lie in IMAGES
#   experiments/ssd-mycnf/file-systems.sh remove
#
# IMAGES (/var/tmp) names the directory of the images, MOUNTS (/mnt) where dbdyno-xfs and dbdyno-ext4 are mounted.
set -euo pipefail

images=${IMAGES:-/var/tmp}
mounts=${MOUNTS:-/mnt}

make_one() {
    local kind=$1 size=$2 image=$images/dbdyno-$1.img directory=$mounts/dbdyno-$1
    if [ -e "$image" ] || [ -e "$directory" ]; then
        echo "error: $image or $directory exists already" >&2
        echo "hint: $0 remove" >&2
        exit 2
    fi
    # Laid out beforehand: an image with holes would be looked for blocks while it is measured.
    fallocate -l "$size" "$image"
    case $kind in
        xfs) mkfs.xfs -q "$image" ;;
        ext4) mkfs.ext4 -q -F "$image" ;;
    esac
    mkdir "$directory"
    # Direct I/O of the loop device: or the page cache of the file system below would answer for the disk.
    local device
    device=$(losetup --find --show --direct-io=on "$image")
    mount "$device" "$directory"
    chmod 1777 "$directory"
}

remove_one() {
    local image=$images/dbdyno-$1.img directory=$mounts/dbdyno-$1 device
    if mountpoint -q "$directory"; then
        device=$(findmnt -n -o SOURCE "$directory")
        umount "$directory"
        losetup --detach "$device"
    fi
    if [ -d "$directory" ]; then rmdir "$directory"; fi
    rm -f "$image"
}

case ${1:-} in
    make)
        for kind in xfs ext4; do
            if ! command -v "mkfs.$kind" >/dev/null; then
                echo "error: mkfs.$kind is not installed" >&2
                echo 'hint: apt-get install xfsprogs e2fsprogs' >&2
                exit 2
            fi
        done
        for kind in xfs ext4; do make_one "$kind" "${2:?SIZE is missing, such as 4G}"; done
        ;;
    remove) for kind in xfs ext4; do remove_one "$kind"; done ;;
    *)
        echo "usage: $0 make SIZE | remove" >&2
        exit 2
        ;;
esac
