#!/usr/bin/env bash
# Proves that the two commands of the README work on a bare machine: makes a root with nothing but git,
# python3 and certificates for each distribution, and calls them in a fresh clone there, as root or as
# an ordinary user without sudo. The user's first call must name all packages at once; what it names is
# then installed by the command that it gives, as an administrator would, and the calls must succeed.
#
# Usage: prove.sh [--whole] [--keep FOLDER] [--ccache FOLDER] [SUITE/USER...]
#
# SUITE is a suite of Debian or Ubuntu, USER is root or user: bookworm/root, noble/user. Suites of Ubuntu
# are left out if their mirror does not answer.
# --whole: the whole quick tier and all tests, not a part of both.
# --keep FOLDER: keeps the roots, and what apt and pip download, for the next call.
# --ccache FOLDER: ccache's cache of this machine, for roots of its own suite: files already compiled
#   here from the same source, by the same compiler and with the same options are not compiled again.
#
# Nothing else of this machine gets in but its registries: mirrors, pip's configuration and certificates.
# Needs root. Everything is mounted in namespaces, and gone when their last process has ended.
set -euo pipefail
cd "$(dirname "$0")/../.."

die() { printf 'bare: FAILED: %s\n' "$*" >&2; exit 1; }
say() { printf 'bare: %s\n' "$*"; }

whole=no keep='' ccache='' cases=()
while [ $# -gt 0 ]; do
  case $1 in
    --whole) whole=yes ;;
    --keep) keep=${2:?--keep needs a folder} && shift ;;
    --ccache) ccache=${2:?--ccache needs a folder} && shift ;;
    -*) die "unknown option $1" ;;
    *) cases+=("$1") ;;
  esac
  shift
done
[ ${#cases[@]} -gt 0 ] || cases=(bookworm/root bookworm/user trixie/root noble/user)

if ! command -v debootstrap >/dev/null || ! unshare --mount --pid --fork true 2>/dev/null; then
  say "SKIPPED: it needs debootstrap, and root that may mount"
  exit 0
fi
python=.bdpbench/venv/bin/python
[ -x $python ] || python=python3
work=$(mktemp -d)
# unshare ignores what ends other programs. With its child all that runs in the namespace ends.
inside=
trap 'kill -KILL $(cat "/proc/$inside/task/$inside/children" 2>/dev/null) 2>/dev/null || true; wait; rm -rf "$work"' EXIT
trap 'exit 143' INT TERM HUP
store=${keep:-$work}
mkdir -p "$store"

# Part of the quick tier; of the tests, those that need something which is not in Debian's base.
run=(run) test=(test)
if [ $whole = no ]; then
  run+=(--scenario standard_tcp_low_bdp)
  test+=(tests/app/test_evaluate_report.py tests/app/test_interface.py tests/app/test_progress.py
    tests/browser/test_first_screen.py tests/browser/test_other_pages.py tests/cli/test_wrapper.py
    tests/ns2/test_counters.py tests/ns2/test_trace_lines.py tests/pipeline/archive
    tests/pipeline/recover tests/pipeline/trace/test_coverage.py tests/test_forks.py)
fi

mirror_of_debian() {
  grep -rhoE 'https?://[^ ]+/debian/?( |$)' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null | head -n 1
}

# is_own SUITE: whether it is the suite of this machine, with the same compiler.
is_own() { (source /etc/os-release && [ "${VERSION_CODENAME:-}" = "$1" ]); }

# make_root SUITE: a root in $store/SUITE, with this machine's way to registries.
make_root() {
  local suite=$1 root=$store/$1 included=ca-certificates,git,python3
  [ ! -e "$root/.complete" ] || return 0
  rm -rf "$root"
  [ ! -d "$ccache" ] || ! is_own "$suite" || included+=,ccache
  local options=(--variant=minbase "--include=$included")
  case $suite in
    bookworm | trixie) options+=("$suite" "$root" $(mirror_of_debian)) ;;
    *) # a suite of Ubuntu; debootstrap knows its mirror
      options+=(--components=main,universe "$suite" "$root" '' /usr/share/debootstrap/scripts/gutsy)
      [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || options=(--no-check-gpg "${options[@]}")
      ;;
  esac
  say "making a bare $suite"
  debootstrap "${options[@]}" >"$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log"; return 1; }
  cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  cp /etc/resolv.conf "$root/etc/"
  apt-config dump | grep -E '^Acquire::(Check-|https?::|ftp::)' >"$root/etc/apt/apt.conf.d/00registries" || true
  # Packages need not survive a crash of this machine.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  {
    echo '[global]'
    "$python" -m pip config list |
      sed -nE "s/^(global|:env:)\.(cert|index-url|extra-index-url|trusted-host|proxy|default-timeout)='(.*)'$/\2 = \3/p" |
      sort -u -t = -k 1,1
  } >"$root/etc/pip.conf"
  chroot "$root" useradd --create-home user
  if [[ $included = *ccache ]]; then
    cp -r "$ccache" "$root/ccache"
    chmod -R a+rwX "$root/ccache"
  fi
  touch "$root/.complete"
}

# within CASE USER LINE: runs a line of bash in the case's own layer over the root of its suite.
within() {
  local layer=$work/layers/$1 base=$store/${1%/*}
  mkdir -p "$layer"/{upper,work,root} "$base.archives/partial" "$store/pip-$2"
  [ "$2" = root ] || chown 1000:1000 "$store/pip-$2"
  # shellcheck disable=SC2016  # for the inner bash
  unshare --mount --pid --fork bash -euc '
    layer=$1 base=$2 user=$3 pip=$4 root=$1/root
    mount -t overlay overlay -o "lowerdir=$base,upperdir=$layer/upper,workdir=$layer/work" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount --bind "$base.archives" "$root/var/cache/apt/archives"
    home=$(awk -F: -v user="$user" "\$1 == user { print \$6 }" "$root/etc/passwd")
    mkdir -p "$root$home/.cache/pip"
    chown --reference="$root$home" "$root$home/.cache"
    mount --bind "$pip" "$root$home/.cache/pip"
    cached=()
    if [ -d "$root/ccache" ]; then # Debian links compilers there when they are installed
      cached=(CCACHE_DIR=/ccache CCACHE_BASEDIR=/tmp CCACHE_SLOPPINESS=locale)
    fi
    # What runs in the background ignores signals; nor may that get in.
    exec chroot --userspec="$user:$user" "$root" env -i --default-signal=INT,QUIT,HUP \
      HOME="$home" USER="$user" TERM=dumb "${cached[@]}" \
      PATH=${cached:+/usr/lib/ccache:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euc "cd ~ && $5"
  ' bash "$layer" "$base" "$2" "$store/pip-$2" "$3" <&0 &
  inside=$!
  wait "$inside"
}

# timed CASE USER LINE: `within`, and says how long it took.
timed() {
  local TIMEFORMAT="bare: $1: $3: %0R s, %U + %S CPU s" status=0
  time within "$@" || status=$?
  return "$status"
}

# prove CASE: from the clone to the end of the tests.
prove() {
  # What no package makes possible. Ubuntu has none of Chromium.
  # LaTeX is not installed for two tests, as it takes hundreds of MB, and ns-3.37 is in Debian 12 alone.
  local case=$1 user=${1#*/} packages expected='copy of the thesis|a profile|root writes everywhere|pdflatex|no ns-3'
  case $case in bookworm/* | trixie/*) ;; *) expected+='|no Chromium' ;; esac
  if ! make_root "${case%/*}"; then
    case $case in bookworm/* | trixie/*) die "no root of $case" ;; esac
    say "SKIPPED: debootstrap gets no ${case%/*} here"
    return
  fi
  git clone -q --no-hardlinks . "$work/clone"
  within "$case" "$user" "cat >clone.tar && tar -xf clone.tar && rm clone.tar" < <(tar -C "$work" -c clone)
  rm -rf "$work/clone"
  if [ "$user" != root ]; then
    for command in "${run[0]}" "${test[0]}"; do
      ! within "$case" "$user" "clone/bdpbench $command" 2>"$work/said" || die "$case: nothing was missing"
      cat "$work/said"
      [ ! -e "$work/layers/$case/upper/home/user/clone/.bdpbench/venv" ] || die "$case: pip came first"
      packages=$(sed -n 's/^bdpbench:   hint: sudo //p' "$work/said")
      [ -n "$packages" ] || die "$case: no packages were named"
    done
    timed "$case" root "DEBIAN_FRONTEND=noninteractive $packages -y >/dev/null"
  fi
  timed "$case" "$user" "clone/bdpbench ${run[*]}" || die "$case: run"
  timed "$case" "$user" "clone/bdpbench ${test[*]}" >"$work/said" || { cat "$work/said"; die "$case: test"; }
  cat "$work/said"
  ! grep '^left out' "$work/said" | grep -vE "$expected" || die "$case: more tests than expected were left out"
  rm -rf "$work/layers/$case"
}


for case in "${cases[@]}"; do
  say "$case"
  prove "$case"
done
say passed
