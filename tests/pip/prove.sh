#!/usr/bin/env bash
# Proves what docs/python.md says of pip: the wheel, and the source distribution, installed into an empty
# environment with packages that pip chooses, work from an empty folder without the clone, and have the
# same files. ns-2 is the one that is built in this clone.
#
# Usage: tests/pip/prove.sh
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH BDPBENCH_HOME BDPBENCH_RESULTS BDPBENCH_CONFIG BDPBENCH_ROOT BDPBENCH_VENV

python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet hatchling
(cd "$root" && "$work/tools/bin/python" -m hatchling build -d "$work/dist") 2>/dev/null
cp -r "$root/config/studies/examples/ecn" "$work/ecn"
mkdir "$work/cache" "$work/empty"
ln -s "$root/.bdpbench" "$work/cache/bdpbench"
export XDG_CACHE_HOME=$work/cache

python3 -m venv "$work/venv"
pip=$work/venv/bin/pip bdpbench=$work/venv/bin/bdpbench
files() { # the installed files of bdpbench, without what pip and Python add
  (cd "$work"/venv/lib/python3*/site-packages && find bdpbench -type f ! -name '*.pyc' -print0 |
    sort -z | xargs -0 sha256sum)
}
cd "$work/empty"
wheel=$(echo "$work"/dist/*.whl)
"$pip" install --quiet --no-compile "$wheel[pandas]"
"$pip" check
files >"$work/of-wheel"
"$bdpbench" list sharma2006 >/dev/null
! "$bdpbench" report "$work/ecn" 2>"$work/said"
grep -q 'hint: `bdpbench run ecn --tier quick` simulates them' "$work/said"
"$bdpbench" run "$work/ecn" --backend native
"$bdpbench" report "$work/ecn" --export figures --format svg
"$work/venv/bin/python" - "$work/ecn" <<'EOF'
import sys

import bdpbench

tier = bdpbench.study(sys.argv[1]).tier("quick")
assert tier.runs()["finished"].all()
assert len(tier.values("utilization", by=["label"]).to_pandas()) > 0
assert "/site-packages/" in bdpbench.__file__
EOF
! "$bdpbench" test 2>"$work/said"
grep -q 'was installed with pip' "$work/said"
files | diff "$work/of-wheel" -

"$pip" uninstall --quiet --yes bdpbench
"$pip" install --quiet --no-deps "$work"/dist/*.tar.gz
files | diff "$work/of-wheel" -
"$bdpbench" list "$work/ecn" >/dev/null
du -h "$work"/dist/* | cut -f1 | paste -sd ' ' | sed 's/^/wheel and source distribution work, of /'
