#!/usr/bin/env bash
# Compiles a source of the pipeline's C into FOLDER, unless that is there; prints the library's path.
#
# The file name holds a hash of the source and of this script, so a library is never stale. Products
# are not joined with sums: numbers shall be the same on every machine.
# Usage: build.sh FOLDER SOURCE
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
source=$2
name=$(basename "$source" .c)
id=$(cat "$here/build.sh" "$source" | sha256sum | cut -c1-16)
library=$folder/$name-$id.so

if [ ! -e "$library" ]; then
  mkdir -p "$folder"
  temporary=$(mktemp "$folder/.$name.XXXXXX")
  trap 'rm -f "$temporary"' EXIT
  "${CC:-cc}" -std=gnu11 -O3 -ffp-contract=off -Wall -Wextra -shared -fPIC -o "$temporary" "$source"
  chmod 755 "$temporary"
  line="$(sha256sum <"$temporary" | cut -c1-64)  ${library##*/}"
  # As contracts/kept.py writes lists.
  printf '#  %s\n%s\n' "$(sha256sum <<<"$line" | cut -c1-64)" "$line" >"${library%.so}.sha256"
  mv "$temporary" "$library"
fi
printf '%s\n' "$library"
