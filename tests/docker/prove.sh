#!/usr/bin/env bash
# Proves with a real engine that bdpbench runs in Docker: calls all commands of docs/docker.md, word by word,
# and compares every output file with that of the native run. A study outside the checkout whose protocols and queue are folders is run on this machine,
# by ns-2 in a container, and by the whole tool in one.
#
# --after FILE: waits for the lock on FILE after building the image and before comparing results.
# --ccache FILE: waits for the lock on FILE before making the base image, and puts ccache's cache
#   (CCACHE_DIR) into it, so that files already compiled here from the same source, by the same
#   compiler and with the same options are not compiled again.
#
# If no engine answers, starts one (as root, on Linux); if the base image cannot be pulled, makes
# one with debootstrap. If neither is possible, says so and skips.
set -euo pipefail
cd "$(dirname "$0")/../.."

after='' ccache=''
while [ $# -gt 0 ]; do
  case $1 in
    --after) after=${2:?--after needs a file} ;;
    --ccache) ccache=${2:?--ccache needs a file} ;;
    *) printf 'docker: unknown option %s\n' "$1" >&2 && exit 2 ;;
  esac
  shift 2
done

work=$(mktemp -d)
engine=
cleanup() {
  local status=$?
  if [ -n "$engine" ]; then
    kill "$engine" 2>/dev/null || true
    wait "$engine" 2>/dev/null || true
    umount "$work"/exec/netns/* 2>/dev/null || true # the engine leaves its namespace mounted
  fi
  rm -rf "$work" || true
  exit "$status"
}
trap cleanup EXIT
die() { printf 'docker: FAILED: %s\n' "$*" >&2; exit 1; }
say() { printf 'docker: %s\n' "$*"; }

answers() { docker version >/dev/null 2>&1; }

start_engine() {
  [ "$(id -u)" -eq 0 ] || return 1
  command -v dockerd >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io >/dev/null; } || return 1
  local driver
  for driver in overlay2 vfs; do # vfs works anywhere, and copies all files for each layer
    dockerd --iptables=false --bridge=none --storage-driver="$driver" --data-root "$work/docker" \
      --exec-root "$work/exec" --pidfile "$work/docker.pid" >"$work/dockerd.log" 2>&1 &
    engine=$!
    for _ in $(seq 60); do
      answers && return
      kill -0 "$engine" 2>/dev/null || break
      sleep 1
    done
    kill "$engine" 2>/dev/null || true
    wait "$engine" 2>/dev/null || true
    engine=
  done
  return 1
}

# Makes a base image from the machine's own package mirror, with its certificates.
make_base() {
  command -v debootstrap >/dev/null || apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  local mirror
  mirror=$(grep -rhoE 'https?://[^ ]+' /etc/apt/sources.list /etc/apt/sources.list.d 2>/dev/null |
    grep -E '/debian/?$' | head -n 1)
  debootstrap --variant=minbase --include=ca-certificates${ccache:+,ccache} bookworm "$work/base" "$mirror" \
    >"$work/debootstrap.log" 2>&1 || { tail -n 5 "$work/debootstrap.log" >&2; return 1; }
  cp /etc/ssl/certs/ca-certificates.crt "$work/base/etc/ssl/certs/ca-certificates.crt"
  local changes=()
  if [ -n "$ccache" ]; then
    flock "$ccache" true # its holder also releases it by ending
    [ ! -d "$CCACHE_DIR" ] || cp -r "$CCACHE_DIR" "$work/base/ccache"
    # Debian links compilers into the first folder when they are installed.
    changes=(--change "ENV PATH=/usr/lib/ccache:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
      --change "ENV CCACHE_DIR=/ccache CCACHE_BASEDIR=/tmp CCACHE_SLOPPINESS=locale")
  fi
  tar -C "$work/base" -c . | docker import "${changes[@]}" - debian:bookworm-slim >/dev/null
  rm -rf "$work/base"
}

if ! answers && ! start_engine; then
  say "SKIPPED: no engine answers and none can be started here"
  exit 0
fi
options=()
[ -z "$engine" ] || options=(--network=host)
base=$(sed -n 's/^ARG BASE=//p' Dockerfile)
if ! docker image inspect "$base" >/dev/null 2>&1 && ! docker pull -q "$base" >/dev/null 2>&1; then
  say "making the base image with debootstrap"
  make_base || die "no base image"
  options+=(--build-arg=BASE=debian:bookworm-slim)
fi

# A copy of the checkout, in which the blocks of docs/docker.md are called word by word. It shares the
# environment and the builds of this one.
page=$work/clone
mkdir "$page"
git ls-files -z | tar --null -T - -c | tar -x -C "$page"
words=$(IFS=,; echo "${options[*]}")
sed -i "s|build_options: \[\]|build_options: [$words]|" "$page/config/config.yaml"
export BDPBENCH_HOME=$PWD/.bdpbench
docker() { case $1 in build) command docker build -q "${options[@]}" "${@:2}" ;; *) command docker "$@" ;; esac; }
block() { # NUMBER: calls the commands of that block
  local commands
  commands=$(awk -v wanted="$1" '/^```sh$/ { number++; on = number == wanted; next } /^```$/ { on = 0 } on' docs/docker.md)
  [ -n "$commands" ] || die "docs/docker.md has no block $1"
  say "$commands"
  (cd "$page" && eval "${commands//$'\n'/ && }") || die "block $1 of docs/docker.md"
}

# The place of a run within the folder of all runs, ab/ab12…: the last two names of its path.
place_of() { echo "$(basename "$(dirname "$1")")/$(basename "$1")"; }
same_as_native() { # compares the runs of the copy with those of this checkout, and forgets them
  local run native compared=0
  [ -s "$page/results/sharma2006/quick/report.html" ] || die "no report"
  for run in "$page"/results/runs/*/*/; do
    native=results/runs/$(place_of "$run")
    [ -f "$native/run.json" ] || continue
    diff -rq "$run/out" "$native/out" || die "$(basename "$run") differs from the native run"
    compared=$((compared + 1))
  done
  [ ! -d results/runs ] || [ "$compared" -gt 0 ] || die "no run was compared"
  say "$compared runs have the same bytes as the native ones"
  rm -r "$page/results"
}

block 1
[ -z "$after" ] || flock "$after" true
[ "$(find "$page/results" -uid 0 | wc -l)" -eq 0 ] || die "files that belong to root"
same_as_native
block 2
[ -s "$page/results/mystudy/quick/report.html" ] || die "no report of a study"
block 3
grep -q '"backend": "docker"' "$page"/results/runs/*/*/run.json || die "run.json names no docker"
grep -q '"image_id": "sha256:' "$page"/results/runs/*/*/run.json || die "run.json names no image"
same_as_native
block 4
same_as_native
rm -rf "$page/studies"

isolated=(--rm --network none --read-only --tmpfs /tmp)
say "protocols and a queue that are folders: a law, a module of Linux, a discipline"
own=$work/own
mkdir -p "$own/study" "$own/theirs"
cp -r config/protocols/aimd "$own/mine"
cp -r config/queues/ecn_threshold "$own/queue"
tar -C "$own/theirs" -xJf "$(bash ns2/build.sh --print-source)" --strip-components=4 --wildcards \
  '*/tcp/linux/src/tcp_scalable.c'
cat >"$own/theirs/protocol.yaml" <<'EOF'
key: Theirs
label: Theirs
colour: "#004488"
name: Scalable TCP
summary: A module of Linux, unchanged.
EOF
cat >"$own/study/study.yaml" <<'EOF'
schema_version: 1
key: study
title: Protocols and a queue of one's own
protocols: {Mine: {folder: ../mine, settings: {cut_: 0.3}}, Theirs: {folder: ../theirs}}
queues: {Own: {folder: ../queue, settings: {drop_front_: 1}}}
topologies:
  path:
    parameters:
      bottleneck_mbps: 10
      bottleneck_delay_ms: 10
      access_mbps: 100
      rtt_ms: 40
      buffer_bdp: 1
      protocol: Mine
      queue: Own
scenarios:
  alone:
    title: Alone
    topology: path
    flows: [{}]
    sweep: {protocol: [Mine, Theirs]}
    tiers: {quick: [{duration_s: 10}]}
EOF
for backend in native docker; do
  BDPBENCH_CONFIG=$page/config BDPBENCH_RESULTS=$work/own-$backend \
    ./bdpbench run --backend "$backend" "$own/study" || die "a folder with --backend $backend"
done
docker run "${isolated[@]}" -v "$work/own-image:/results" -v "$own:/own:ro" bdpbench run /own/study ||
  die "a folder in the image"
for run in "$work"/own-native/runs/*/*/; do
  run=$(place_of "$run")
  for where in docker image; do
    diff -r "$work/own-native/runs/$run/out" "$work/own-$where/runs/$run/out" ||
      die "a folder: $where differs"
  done
done
say "passed"
