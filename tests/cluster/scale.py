"""What a large study takes: made-up runs of no duration, through all stages, on pretended nodes.

    PYTHONPATH=pipeline:. python tests/cluster/scale.py 1000 5000
    PYTHONPATH=pipeline:. python tests/cluster/scale.py 52800        # an hour or two of two cores

Planning, batches, Slurm with several nodes, records, tables, values, metrics and the report are the
real ones. In the place of ns-2 there is a script that copies what the real one has written for one
run, so that what is measured is bdpbench. Each size is told as a row; where there are several,
another row has the exponent p of (runs)^p by which each figure grew from the first to the last.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tests.benchmarks.orchestration import make_study
from tests.cluster.slurm import Slurm, missing_programs

from bdpbench.contracts.paths import home_dir
from bdpbench.simulation.build import build_prefix, current_build_id

ROOT = Path(__file__).resolve().parents[2]
STUDY, TIER = "tiny", "quick"
_SHARED = ("cache", "plugins", "trace")
_FAKE = """\
#!/bin/sh
# Stands for ns-2: of a run it gives the files of one that the real one has simulated, and lets
# that answer all else that ns-2 is asked.
case " $* " in
  *" -datadir "*) ;;
  *) exec {binary} "$@" ;;
esac
while [ "$1" != -datadir ]; do shift; done
exec cp {outputs}/* "$2"/
"""


@dataclass(frozen=True)
class Took:
    """What a study of so many runs took.

    Times in s: of planning alone, until the first job was queued, until the last run had ended,
    from there to the report, and of a second call that finds nothing to do. ``call_cpu_s``: CPU
    time of the call without its jobs; ``jobs_cpu_s``: of the jobs beside Slurm and Snakemake.
    """

    runs: int
    batches: int
    plan_s: float
    queued_s: float
    ended_s: float
    report_s: float
    again_s: float
    call_cpu_s: float
    jobs_cpu_s: float
    plan_mb: float
    call_mb: float
    again_mb: float
    files: int
    largest_folder: int
    results_mb: float


@dataclass(frozen=True)
class Called:
    """A call: events with the times at which they were told, s; CPU time, s; peak memory, MB."""

    events: list[tuple[float, dict[str, Any]]]
    wall_s: float
    cpu_s: float
    peak_mb: float

    def when(self, event: str, *, last: bool = False) -> float:
        """When an event was told first, or last, s."""
        times = [at_s for at_s, each in self.events if each["event"] == event]
        return times[-1 if last else 0]


def call(environment: dict[str, str], *arguments: str) -> Called:
    """A call of bdpbench; raises where it fails."""
    began_s = time.monotonic()
    with tempfile.TemporaryFile("w+") as errors:
        child = subprocess.Popen(
            [sys.executable, "-m", "bdpbench", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert child.stdout is not None
        events = [
            (time.monotonic() - began_s, json.loads(line))
            for line in child.stdout
            if line.startswith("{")
        ]
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            errors.seek(0)
            raise RuntimeError(f"{arguments} failed: {errors.read()[-2000:]}")
    cpu_s = used.ru_utime + used.ru_stime
    return Called(events, time.monotonic() - began_s, cpu_s, used.ru_maxrss / 1e3)


def measure(runs: int, folder: Path, nodes: int) -> Took:
    """Take a study of so many runs through everything, on a cluster of so many nodes."""
    environment = make_study(folder, runs)
    _quicken(folder)
    environment["BDPBENCH_HOME"] = str(_home(folder, environment))
    with Slurm(folder / "slurm", nodes=nodes) as slurm:
        environment |= {name: slurm.environment()[name] for name in ("PATH", "SLURM_CONF")}
        planned = call(environment, "plan", STUDY)
        whole = call(environment, "run", "--json", "--profile", "slurm", "--jobs", str(nodes))
    results = folder / "results"
    done = [json.loads(each.read_text()) for each in _batches(results).glob("*.done")]
    # This call empties the folder of batches.
    again = call(environment, "run", "--json", "--backend", "native")
    ended_s = whole.when("run_ended", last=True)
    files, largest = _count(results)
    return Took(
        runs=runs,
        batches=len(done),
        plan_s=planned.wall_s,
        queued_s=_queued_s(whole),
        ended_s=ended_s,
        report_s=whole.wall_s - ended_s,
        again_s=again.wall_s,
        call_cpu_s=whole.cpu_s,
        jobs_cpu_s=sum(each["own_cpu_s"] for each in done),
        plan_mb=planned.peak_mb,
        call_mb=whole.peak_mb,
        again_mb=again.peak_mb,
        files=files,
        largest_folder=largest,
        results_mb=sum(each.stat().st_size for each in results.rglob("*") if each.is_file()) / 1e6,
    )


def _queued_s(called: Called) -> float:
    """When Slurm was first seen to have a job, s."""
    queues = [(at_s, each) for at_s, each in called.events if each["event"] == "queue"]
    return next(at_s for at_s, each in queues if each["waiting"] or each["running"])


def _batches(results: Path) -> Path:
    return results / STUDY / TIER / "batches"


def _quicken(folder: Path) -> None:
    """Jobs of a minute, so that all nodes have some, and a cluster that may be asked often."""
    path = folder / "config" / "config.yaml"
    text = path.read_text().partition("slurm:")[0]
    path.write_text(f"{text}slurm: {json.dumps({'poll_s': 5, 'batch_min': 1})}\n")


def _home(folder: Path, environment: dict[str, str]) -> Path:
    """A home folder in which ns-2 is a script that copies the files of one real run."""
    home, build_id = folder / "home", current_build_id()
    real = build_prefix() / build_id
    template = folder / "template"
    make_study(template, 10)
    one = {**environment, "BDPBENCH_RESULTS": str(folder / "template" / "results")}
    one["BDPBENCH_CONFIG"] = str(template / "config")
    call(one, "run", "--json", "--backend", "native")
    outputs = next((template / "results" / "runs").rglob("run.json")).parent / "out"
    made = home / "ns2" / build_id
    made.mkdir(parents=True)
    for path in real.iterdir():
        if path.name != "ns":
            (made / path.name).symlink_to(path)
    (made / "ns").write_text(_FAKE.format(outputs=outputs, binary=real / "ns"))
    (made / "ns").chmod(0o755)
    for name in _SHARED:
        if (home_dir() / name).is_dir():
            shutil.copytree(home_dir() / name, home / name, symlinks=True)
    return home


def _count(results: Path) -> tuple[int, int]:
    """Files below a folder, and entries of the folder that has the most."""
    files, largest = 0, 0
    for _, folders, names in os.walk(results):
        files += len(names)
        largest = max(largest, len(folders) + len(names))
    return files, largest


def table(rows: Sequence[Took]) -> str:
    """The figures as a Markdown table, and by which power of the runs each has grown."""
    names = [each.name for each in fields(Took)]
    lines = [names, ["---:"] * len(names)]
    lines += [[_text(getattr(row, name)) for name in names] for row in rows]
    if len(rows) > 1:
        lines.append([_power(rows[0], rows[-1], name) for name in names])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _text(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def _power(first: Took, last: Took, name: str) -> str:
    before, after = getattr(first, name), getattr(last, name)
    if name == "runs" or before <= 0 or after <= 0:
        return "power"
    return f"{math.log(after / before) / math.log(last.runs / first.runs):.2f}"


def main() -> int:
    """Measure the sizes that are asked for, the smallest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="+", help="how many runs, multiples of ten")
    parser.add_argument("--nodes", type=int, default=4, help="how many nodes are pretended")
    options = parser.parse_args()
    if missing := missing_programs():
        print(f"missing: {', '.join(missing)} (Debian: slurm-wlm munge)", file=sys.stderr)
        return 1
    rows = []
    for runs in sorted(options.runs):
        with tempfile.TemporaryDirectory(prefix="bdpb-", dir="/tmp") as folder:
            rows.append(measure(runs, Path(folder), options.nodes))
        print(f"{table(rows)}\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
