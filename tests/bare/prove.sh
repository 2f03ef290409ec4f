#!/usr/bin/env bash
# Proves that the README works on bare machines: makes a root with nothing but git, python3 and
# certificates for each distribution, and calls all commands of the README there, in its order, in a fresh
# clone, as root or as an ordinary user without sudo. The first call gets all system packages that any
# of them needs. The user's must name them with one command, which is then called as an administrator
# would; no later call may need another package. Ends with a table of commands and machines.
#
# Usage: prove.sh [--part] [--table FILE] [--keep FOLDER] [--ccache FOLDER] [SUITE/USER...]
#
# SUITE is a suite of Debian or Ubuntu, USER is root or user: bookworm/root, noble/user (default: all six
# of bookworm, trixie and noble). Suites of Ubuntu are left out if their mirror does not answer.
# --part: some commands do less, and some are left out; the table says which (for each commit).
# --table FILE: writes the table there, too, as Markdown.
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

part=no table='' keep='' ccache='' cases=()
while [ $# -gt 0 ]; do
  case $1 in
    --part) part=yes ;;
    --table) table=$(realpath -m -- "${2:?--table needs a file}") && shift ;;
    --keep) keep=${2:?--keep needs a folder} && shift ;;
    --ccache) ccache=${2:?--ccache needs a folder} && shift ;;
    -*) die "unknown option $1" ;;
    *) cases+=("$1") ;;
  esac
  shift
done
[ ${#cases[@]} -gt 0 ] || cases=({bookworm,trixie,noble}/{root,user})

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
mkdir -p "$store/ccache" "$work/saved"
# A copy, which an ordinary user may write.
[ ! -d "$ccache" ] || { cp -r -u "$ccache/." "$store/ccache" && chmod -R a+rwX "$store/ccache"; }
mapfile -t steps < <(python3 tests/bare/readme.py README.md "$work/saved")
[ ${#steps[@]} -gt 5 ] || die "the README has only ${#steps[@]} commands"

# treat STEP: sets `call`, how a command of the README is called here, and `why` it is not called as it
# stands there; an empty call leaves it out.
treat() {
  call=$1 why=
  case $1 in *' --profile '*) call+=' -n' why='only planned: it needs a cluster, which tests/cluster has' ;; esac
  [ $part = yes ] || return 0
  case $1 in
    */bdpbench\ evaluate\ *) call+=' --study even2007' why='one study' ;;
    */bdpbench\ run) call+=' --scenario standard_tcp_low_bdp' why='one scenario' ;;
    */bdpbench\ test) # those that need something which is not in Debian's base
      call+=' tests/app/test_evaluate_report.py tests/app/test_interface.py tests/app/test_progress.py
        tests/browser/test_first_screen.py tests/browser/test_other_pages.py tests/cli/test_wrapper.py
        tests/ns2/test_counters.py tests/ns2/test_trace_lines.py tests/app/keep
        tests/pipeline/trace/test_coverage.py tests/studies/sharma2006/recover tests/test_forks.py'
      why='some tests'
      ;;
    */bdpbench\ archive\ *) call+=' --allow-partial' why='of one scenario' ;;
  esac
}

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
  rm -rf "$root"/var/lib/apt/lists/* # as in images
  chroot "$root" useradd --create-home user
  [[ $included != *ccache ]] || mkdir "$root/ccache"
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
      mount --bind "${base%/*}/ccache" "$root/ccache"
      cached=(CCACHE_DIR=/ccache CCACHE_BASEDIR=/tmp CCACHE_SLOPPINESS=locale CCACHE_UMASK=000)
    fi
    # What runs in the background ignores signals; nor may that get in.
    exec chroot --userspec="$user:$user" "$root" env -i --default-signal=INT,QUIT,HUP \
      HOME="$home" USER="$user" TERM=dumb "${cached[@]}" \
      PATH=${cached:+/usr/lib/ccache:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin bash -euc "cd ~ && $5"
  ' bash "$layer" "$base" "$2" "$store/pip-$2" "$3" <&0 &
  inside=$!
  wait "$inside"
}

# row CASE STEP STATUS [TIMES]: one cell of the table, with seconds and CPU seconds.
row() {
  printf '%s\t%s\t%s%s\n' "$1" "$2" "$3" "${4:+, $4}" >>"$work/rows"
  say "$1: $2: $3${4:+, $4}"
}

# timed CASE USER STEP LINE: runs a line with what it says in $work/said, and adds a row.
timed() {
  local TIMEFORMAT="%0R s (%U + %S CPU s)" status=0 spent
  { time within "$1" "$2" "$4" </dev/null >"$work/said" 2>&1 || status=$?; } 2>"$work/spent"
  spent=$(<"$work/spent")
  if [ "$status" -eq 0 ]; then row "$1" "$3" ok "$spent"; else row "$1" "$3" "FAILED with $status" "$spent"; fi
  return "$status"
}

# What a call says that gets packages, or asks for them.
PACKAGES='system packages are missing|apt-get installs these system packages|goes on without packages'

# ask CASE: the first call of an ordinary user must end with one command for all packages and nothing
# made; it is then called by root, which needs no sudo.
ask() {
  local case=$1 command
  ! within "$case" user "cd clone && ${steps[0]}" </dev/null >"$work/said" 2>&1 || die "$case: nothing was missing"
  cat "$work/said"
  [ ! -e "$work/layers/$case/upper/home/user/clone/.bdpbench/venv" ] || die "$case: pip came first"
  command=$(sed -n 's/^bdpbench:   hint: //p' "$work/said")
  [[ $command = "sudo apt-get update && sudo apt-get install --no-install-recommends "* ]] ||
    die "$case: no command for packages: $command"
  timed "$case" root "apt-get, by an administrator" "export DEBIAN_FRONTEND=noninteractive; ${command//sudo /} -y" ||
    { cat "$work/said"; die "$case: $command"; }
}

# prove CASE: all commands of the README; returns whether all of them worked.
prove() {
  # What no package makes possible. Ubuntu has none of Chromium.
  # LaTeX is not installed for two tests, as it takes hundreds of MB, and ns-3.37 is in Debian 12 alone.
  local case=$1 user=${1#*/} expected='copy of the thesis|a profile|root writes everywhere|pdflatex|no ns-3'
  local failed=0 first=yes step call why
  case $case in bookworm/* | trixie/*) ;; *) expected+='|no Chromium' ;; esac
  if ! make_root "${case%/*}"; then
    case $case in bookworm/* | trixie/*) die "no root of $case" ;; esac
    say "SKIPPED: debootstrap gets no ${case%/*} here"
    return
  fi
  git clone -q --no-hardlinks . "$work/clone" || return
  within "$case" "$user" "cat >clone.tar && tar -xf clone.tar && rm clone.tar" < <(tar -C "$work" -c clone saved) || return
  rm -rf "$work/clone"
  [ "$user" = root ] || ask "$case"
  for step in "${steps[@]}"; do
    treat "$step"
    case $call in
      '') row "$case" "$step" "$why" && continue ;;
      save\ *) call="mkdir -p $(dirname "${step#* }") && cp ~/saved/${step#* } ${step#* }" ;;
    esac
    if ! timed "$case" "$user" "$step${why:+ ($why)}" "cd clone && ${call//$'\n'/ }"; then
      failed=1
      cat "$work/said"
    elif [[ $step = */bdpbench\ test ]]; then
      tail -n 20 "$work/said"
      ! grep '^left out' "$work/said" | grep -vE "$expected" || { say "FAILED: more tests than expected were left out" && failed=1; }
    fi
    # root's first call gets them.
    if [ "$first $user" != "yes root" ] && grep -E "$PACKAGES" "$work/said"; then
      say "FAILED: $step needs more packages than the first call named" && failed=1
    fi
    first=no
  done
  rm -rf "$work/layers/$case"
  return $failed
}

# A row for each command, in the order of the README, and a column for each machine.
print_table() {
  awk -F '\t' '
    !($1 in column) { column[$1] = ++columns; name[columns] = $1 }
    !($2 in line) { line[$2] = ++lines; text[lines] = $2 }
    { cell[line[$2], column[$1]] = $3 }
    END {
      printf "| command |"; for (c = 1; c <= columns; c++) printf " %s |", name[c]
      printf "\n|---|"; for (c = 1; c <= columns; c++) printf "---|"
      for (l = 1; l <= lines; l++) {
        printf "\n| `%s` |", text[l]
        for (c = 1; c <= columns; c++) printf " %s |", cell[l, c]
      }
      print ""
    }' "$work/rows"
}

failures=()
for case in "${cases[@]}"; do
  say "$case"
  prove "$case" || failures+=("$case")
done
[ ! -e "$work/rows" ] || print_table | tee ${table:+"$table"}
[ ${#failures[@]} -eq 0 ] || die "${failures[*]}"
say passed
