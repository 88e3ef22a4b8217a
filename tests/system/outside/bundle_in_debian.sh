#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Verifies a bundle in an empty Debian 12: debootstrap makes one in FOLDER (unless it is there), the commit of this
# tree is cloned into it, and ./exp installs, builds and verifies with nothing from outside but packages. By hand, as
# root, with debootstrap installed; it takes the time of a first build.
#
#   exp run experiments/quickstart.toml && exp bundle quickstart -o quickstart.tar.zst
#   tests/system/outside/bundle_in_debian.sh quickstart.tar.zst /var/tmp/bookworm
set -euo pipefail

bundle=$(readlink -f "${1:?the file of a bundle}")
root=${2:?the folder of the Debian that is made}
mirror=${3:-http://deb.debian.org/debian}
tree=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../..")

if [ ! -e "$root/usr/bin/git" ]; then
  debootstrap --variant=minbase --include=ca-certificates,git bookworm "$root" "$mirror"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp -r /etc/ssl/certs/. "$root/etc/ssl/certs/"
rm -rf "$root/root/encore" "$root/root/check"
git clone -q "$tree" "$root/root/encore"
mkdir "$root/root/check"
cp "$bundle" "$root/root/check/"

for place in proc dev; do mountpoint -q "$root/$place" || mount --rbind "/$place" "$root/$place"; done
trap 'for place in proc dev; do umount -l "$root/$place"; done' EXIT
chroot "$root" env -i HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin LANG=C.UTF-8 ${ENCORE_JOBS:+ENCORE_JOBS="$ENCORE_JOBS"} \
  bash -c "cd /root/check && /root/encore/exp -y verify '$(basename "$bundle")'"
