#!/usr/bin/env bash
# A step of .ci/run: proves that a study runs on Slurm, with the same bytes as on this machine, and that
# Ctrl-C cancels its jobs.
#
# Starts a Slurm with one node on this machine, with all its files in a temporary folder, and ends it.
# As root, it installs Debian's packages if necessary; if they are not available, it says that it is
# skipped. Needs `./bdpbench ns2 build`.
set -euo pipefail
cd "$(dirname "$0")/../.."

programs=(munged slurmctld slurmd sbatch squeue scancel srun)
lacking() {
  local each
  for each in "${programs[@]}"; do command -v "$each" >/dev/null || echo "$each"; done
}
[ -z "$(lacking)" ] || [ "$(id -u)" -ne 0 ] || DEBIAN_FRONTEND=noninteractive apt-get install \
  -y -qq --no-install-recommends slurmctld slurmd slurm-client munge >/dev/null || true
if [ -n "$(lacking)" ]; then
  echo "cluster: SKIPPED:" $(lacking) "missing (Debian: slurm-wlm munge)"
  exit 0
fi

work=$(mktemp -d /tmp/bdpb-XXXX) # short: the path of a socket has at most a hundred characters
daemons=()
finish() {
  local status=$? each
  for each in "${daemons[@]}"; do kill "$each" 2>/dev/null || true; done
  for each in "${daemons[@]}"; do wait "$each" 2>/dev/null || true; done
  [ $status -eq 0 ] || tail -n 20 "$work"/*.log "$work"/said* >&2
  rm -rf "$work"
  exit $status
}
trap finish EXIT
fail() { echo "cluster: $1" >&2 && exit 1; }
wait_for() { # WHAT COMMAND...
  local what=$1 tries=0
  shift
  until "$@" >/dev/null 2>&1; do
    [ $((tries += 1)) -le 600 ] || fail "waited in vain for $what"
    sleep 0.5
  done
}

# ---------------------------------------------------------------- the cluster

mkdir -p "$work"/{munge,state,spool,bin}
head -c 128 /dev/urandom >"$work/munge/key"
chmod 400 "$work/munge/key"
chmod 711 "$work" "$work/munge"
read -r controller node < <(python3 -c '
import socket
both = [socket.socket() for _ in range(2)]
for each in both: each.bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in both))')
cat >"$work/slurm.conf" <<CONF
ClusterName=bdpbench
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$controller
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CredType=cred/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
# No cgroups, no accounting: a container has neither.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
# The node has the processors and memory that stand here, whatever the machine has.
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MailProg=/bin/true
NodeName=n0 NodeHostname=localhost NodeAddr=127.0.0.1 Port=$node CPUs=2 RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=1440 State=UP
CONF
export SLURM_CONF=$work/slurm.conf
# The plugin's job step removes SLURM_CONF from the environment of srun.
printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$SLURM_CONF" "$(command -v srun)" >"$work/bin/srun"
chmod +x "$work/bin/srun"
export PATH=$work/bin:$PATH

started() { # NAME COMMAND...
  local name=$1
  shift
  "$@" >"$work/$name.log" 2>&1 &
  daemons+=($!)
}
started munged munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" \
  --pid-file="$work/munge/pid" --log-file="$work/munge/log" --seed-file="$work/munge/seed"
wait_for munged test -S "$work/munge/socket"
started slurmctld slurmctld -D
wait_for slurmctld squeue
started slurmd slurmd -D -N n0
wait_for "the node" sh -c '[ "$(sinfo --noheader -o %t)" = idle ]'

# ---------------------------------------------------------------- the study

python=${BDPBENCH_VENV:-${BDPBENCH_HOME:-.bdpbench}/venv}/bin/python
"$python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
  --target "$work/plugin" -r pipeline/requirements-slurm.lock
export PYTHONPATH=$PWD/pipeline:$work/plugin BDPBENCH_CONFIG=$work/config
mkdir -p "$work/config/studies"
cp -r tests/data/dumbbell "$work/config/studies/"
sed 's/^study: .*/study: dumbbell/' config/config.yaml >"$work/config/config.yaml"
run() { # RESULTS OPTION...
  BDPBENCH_RESULTS=$work/$1 "$python" -P -m bdpbench run "${@:2}" >"$work/said-$1" 2>&1
}

run here --backend native
run there --backend native --profile slurm
[ -n "$(squeue --noheader --states=completed)" ] || fail "no job was run"
for results in here there; do
  (cd "$work/$results" && sha256sum dumbbell/quick/metrics.csv runs/*/*/out/*) >"$work/$results.sums"
done
cmp "$work/here.sums" "$work/there.sums" || fail "other bytes than on this machine"
echo "cluster: a study has the same bytes there as here"

sed -i 's/duration_s: 20/duration_s: 20000/' "$work/config/studies/dumbbell/study.yaml"
# A background process of a script would ignore Ctrl-C.
"$python" - "$work" <<'PYTHON'
import os, signal, subprocess, sys, time
work = sys.argv[1]
signal.signal(signal.SIGINT, signal.default_int_handler)
def jobs(state):
    command = ["squeue", "--noheader", f"--states={state}"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
with open(f"{work}/said-interrupted", "w") as said:
    call = subprocess.Popen(
        [sys.executable, "-P", "-m", "bdpbench", "run", "--backend", "native", "--profile", "slurm"],
        env={**os.environ, "BDPBENCH_RESULTS": f"{work}/interrupted"}, stdout=said, stderr=said)
    while not jobs("running"):
        assert call.poll() is None, "the call ended before it was interrupted"
        time.sleep(0.5)
    call.send_signal(signal.SIGINT)
    assert call.wait(300) == 1, "another exit code"
deadline = time.monotonic() + 60
while jobs("pending,running,completing"):
    assert time.monotonic() < deadline, "jobs were left in the queue"
    time.sleep(0.5)
PYTHON
grep -q "interrupted; what was finished is kept" "$work/said-interrupted" || fail "it says something else"
echo "cluster: Ctrl-C cancels what was submitted"
