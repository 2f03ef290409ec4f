#!/bin/sh
# Entry point of the image: never runs bdpbench as root.
#
# A bind mount that the engine has just created belongs to root, and an ordinary user could not write
# to it. So: if /results belongs to a user, become that user; if it belongs to root, hand it to
# the image's own user; then drop every privilege. `docker run --user` is respected as it is.
set -eu

if [ "$(id -u)" -eq 0 ]; then
  owner=$(stat -c %u /results)
  group=$(stat -c %g /results)
  if [ "$owner" -eq 0 ]; then
    owner=$(id -u bdpbench)
    group=$(id -g bdpbench)
    chown "$owner:$group" /results
  fi
  exec setpriv --reuid "$owner" --regid "$group" --clear-groups --no-new-privs "$0" "$@"
fi

HOME=$(mktemp -d)
export HOME
exec python -P -m bdpbench "$@"
