#!/usr/bin/env bash
# A step of .ci/run: proves `./bdpbench run --profile slurm` on a Slurm of our own (prove.py). As
# root, it installs Debian's slurm-wlm and munge if necessary; if they are not available, it says
# that it is skipped.
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! { command -v slurmctld && command -v slurmd && command -v munged; } >/dev/null &&
  [ "$(id -u)" -eq 0 ]; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    slurmctld slurmd slurm-client munge >/dev/null || true
fi
home=${BDPBENCH_HOME:-.bdpbench}
PYTHONPATH=pipeline:. "${BDPBENCH_VENV:-$home/venv}/bin/python" tests/cluster/prove.py "$@"
