#!/usr/bin/env bash
# Usage: ns2/linux/fetch.sh FOLDER
#
# Gets the congestion control modules of the distribution's Linux from its source package, which apt checks
# as it does every package, into FOLDER/linux-VERSION. BDPBENCH_LINUX_SOURCE names an archive to take in its place.
set -euo pipefail
# shellcheck source=ns2/build.sh
source "$(dirname "${BASH_SOURCE[0]}")/../build.sh"

locked() { echo linux; }    # the source package that fetch_from_apt gets

WORK=$(mktemp -d "$(scratch_template)")
trap 'rm -rf -- "$WORK"' EXIT
mkdir -p "$WORK/download" "$WORK/tree" "$1"
if [[ -n ${BDPBENCH_LINUX_SOURCE:-} ]]; then
    cp -- "$BDPBENCH_LINUX_SOURCE" "$WORK/download/"
else
    fetch_from_apt '' >"$WORK/log" 2>&1 || true
fi
archive=$(find "$WORK/download" -name '*.tar.*')
if [[ -z $archive ]]; then
    tail -n 5 "$WORK/log" >&2
    exit 1
fi
tar -C "$WORK/tree" --no-same-owner --wildcards -xf "$archive" '*/net/ipv4/tcp_*.[ch]'
found=("$WORK"/tree/*)
to=$1/$(basename "${found[0]}")
mkdir -p "$to.new"
cp "${found[0]}"/net/ipv4/tcp_*.h "$to.new/" 2>/dev/null || true
# The kernel's own files beside the modules are not needed.
grep -lw module_init "${found[0]}"/net/ipv4/tcp_*.c | xargs -d '\n' grep -lw tcp_register_congestion_control |
    xargs -d '\n' cp -t "$to.new"
mv -T "$to.new" "$to"
