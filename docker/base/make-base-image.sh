#!/bin/sh
# Makes a base image of Debian and its Python with debootstrap: no registry is needed, so that it
# also serves where there is none (air-gapped machines, CI).
#
#   make-base-image.sh [ENGINE [IMAGE [SUITE [MIRROR]]]]
set -eu

engine=${1:-podman}
image=${2:-localhost/kerascost-base}
suite=${3:-bookworm}
mirror=${4:-http://deb.debian.org/debian}

for program in debootstrap "$engine"; do
    command -v "$program" >/dev/null || {
        echo "$program: not found; install it (apt-get install debootstrap podman)" >&2
        exit 2
    }
done
if [ "$(id -u)" != 0 ]; then
    echo "debootstrap makes device files: run this as root (sudo make base-image)" >&2
    exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "Making $image: Debian $suite with Python, by debootstrap (half a minute) ..."
if ! debootstrap --variant=minbase --include=ca-certificates,python3,python3-venv \
    "$suite" "$work/root" "$mirror" >"$work/log" 2>&1; then
    tail -n 3 "$work/log" >&2
    echo "debootstrap failed; its last lines are above" >&2
    exit 1
fi
# What a package manager leaves behind, and what tells one machine from another.
rm -rf "$work"/root/var/cache/apt/archives/*.deb "$work"/root/var/lib/apt/lists/* \
    "$work"/root/var/log/* "$work"/root/etc/hostname "$work"/root/etc/resolv.conf
tar --sort=name --numeric-owner -C "$work/root" -c . |
    "$engine" import --change "CMD [\"python3\"]" - "$image"
