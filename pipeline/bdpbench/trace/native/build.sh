#!/usr/bin/env bash
# Compiles the parser of wired traces into FOLDER, unless it is there; prints the library's path.
#
# The file name holds a hash of the source and of this script, so a library is never stale.
# Usage: build.sh FOLDER
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
id=$(cat "$here/build.sh" "$here/wired_lines.c" | sha256sum | cut -c1-16)
library=$folder/wired_lines-$id.so

if [ ! -e "$library" ]; then
  mkdir -p "$folder"
  temporary=$(mktemp "$folder/.wired_lines.XXXXXX")
  trap 'rm -f "$temporary"' EXIT
  "${CC:-cc}" -std=gnu99 -O3 -Wall -Wextra -shared -fPIC -o "$temporary" "$here/wired_lines.c"
  chmod 755 "$temporary"
  mv "$temporary" "$library"
fi
printf '%s\n' "$library"
