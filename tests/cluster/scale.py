"""Cost of a large study: made-up runs without duration, through all stages, on simulated nodes.

    PYTHONPATH=pipeline:. python tests/cluster/scale.py 1000 3000
    PYTHONPATH=pipeline:. python tests/cluster/scale.py 52800        # hours of two cores

Planning, batches, Slurm with several nodes, records, tables, values, metrics and the report are
real. ns-2 is replaced by a script that copies the outputs of one real run, so that only bdpbench
is measured. For each size, a table gives time, memory and files of each step, and the largest
folders are listed. If there are several sizes, the last table gives the exponent p by which each
figure grew from the first size to the last, as (runs)^p: 1 means in proportion to the runs.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.orchestration import make_study
from tests.cluster.slurm import Slurm, missing_programs

from bdpbench.contracts.paths import home_dir
from bdpbench.simulation.build import build_prefix, current_build_id

ROOT = Path(__file__).resolve().parents[2]
STUDY, TIER = "tiny", "quick"
_FOLDERS = 6
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
class Step:
    """The cost of a step, and the files after it.

    Attributes:
        cpu_s: of bdpbench, without Slurm and Snakemake; None for a part of a call.
        peak_mb: of one process; None for a part of a call.
        files: in the results folder afterwards; None if they were not counted.
    """

    name: str
    wall_s: float
    cpu_s: float | None = None
    peak_mb: float | None = None
    files: int | None = None


@dataclass(frozen=True)
class Took:
    """The cost of a study of so many runs.

    Attributes:
        folders: the largest folders of the results and their numbers of entries, largest first.
        results_mb, light_mb: size of the results folder, and of the one without outputs.
    """

    runs: int
    batches: int
    steps: list[Step]
    folders: list[tuple[str, int]]
    results_mb: float
    light_mb: float


@dataclass(frozen=True)
class Called:
    """A call: events with the times of their reports, s; CPU time, s; peak memory, MB."""

    events: list[tuple[float, dict[str, Any]]]
    wall_s: float
    cpu_s: float
    peak_mb: float

    def when(self, event: str, *, last: bool = False) -> float:
        """The first, or last, time at which an event was reported, s."""
        times = [at_s for at_s, each in self.events if each["event"] == event]
        return times[-1 if last else 0]


def call(environment: dict[str, str], *arguments: str) -> Called:
    """Call bdpbench; raises an error if it fails."""
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
    """Take a study of so many runs through all stages, on a cluster of so many nodes."""
    environment = {**os.environ, **make_study(folder, runs)}
    _quicken(folder)
    environment["BDPBENCH_HOME"] = str(_home(folder, environment))
    results, light = folder / "results", folder / "light"
    with Slurm(folder / "slurm", nodes=nodes) as slurm:
        environment |= {name: slurm.environment()[name] for name in ("PATH", "SLURM_CONF")}
        steps = [_step("plan", call(environment, "plan", STUDY), results)]
        whole = call(environment, "run", "--json", "--profile", "slurm", "--jobs", str(nodes))
    steps += _steps_of_run(whole, results)
    batches = len(list(_batches(results).glob("*.done")))
    again = call(environment, "run", "--json", "--backend", "native")
    steps.append(_step("run again, nothing to do", again, results))
    taken = call(environment, "merge", str(light), str(results), "--without-outputs")
    steps.append(_step("merge --without-outputs", taken, light))
    elsewhere = {**environment, "BDPBENCH_RESULTS": str(light)}
    steps.append(_step("report of that", call(elsewhere, "report", STUDY), light))
    return Took(runs, batches, steps, _largest(results), _size_mb(results), _size_mb(light))


def _step(name: str, called: Called, results: Path) -> Step:
    return Step(name, called.wall_s, called.cpu_s, called.peak_mb, _count(results))


def _steps_of_run(whole: Called, results: Path) -> list[Step]:
    """The call that does everything, and its parts; the CPU time of jobs is what batches report."""
    queued_s, ended_s = _queued_s(whole), whole.when("run_ended", last=True)
    done = [json.loads(each.read_text()) for each in _batches(results).glob("*.done")]
    return [
        _step("run, without its jobs", whole, results),
        Step("… until a job is queued", queued_s),
        Step("… jobs", ended_s - queued_s, sum(each["own_cpu_s"] for each in done)),
        Step("… report", whole.wall_s - ended_s),
    ]


def _queued_s(called: Called) -> float:
    """When Slurm was first seen with a job, s."""
    queues = [(at_s, each) for at_s, each in called.events if each["event"] == "queue"]
    return next(at_s for at_s, each in queues if each["waiting"] or each["running"])


def _batches(results: Path) -> Path:
    return results / STUDY / TIER / "batches"


def _quicken(folder: Path) -> None:
    """Use jobs of one minute, so that all nodes get some, and poll the cluster often."""
    path = folder / "config" / "config.yaml"
    text = path.read_text().partition("slurm:")[0]
    path.write_text(f"{text}slurm: {json.dumps({'poll_s': 5, 'batch_min': 1})}\n")


def _home(folder: Path, environment: dict[str, str]) -> Path:
    """A home folder whose ns-2 is a script that copies the files of one real run."""
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


def _count(results: Path) -> int:
    """Number of files below a folder."""
    return sum(len(names) for _, _, names in os.walk(results))


def _largest(results: Path) -> list[tuple[str, int]]:
    """The folders with the most entries, relative to the results folder."""
    found = [
        (str(Path(place).relative_to(results)), len(folders) + len(names))
        for place, folders, names in os.walk(results)
    ]
    return sorted(found, key=lambda each: -each[1])[:_FOLDERS]


def _size_mb(results: Path) -> float:
    return sum(path.stat().st_size for path in results.rglob("*") if path.is_file()) / 1e6


def told(took: Took) -> str:
    """The cost of one size as a Markdown table, and its largest folders."""
    rows = [
        [each.name, *map(_text, (each.wall_s, each.cpu_s, each.peak_mb, each.files))]
        for each in took.steps
    ]
    folders = ", ".join(f"{place} {entries:,}" for place, entries in took.folders)
    return (
        f"{took.runs:,} runs in {took.batches:,} batches, {took.results_mb:,.1f} MB, without "
        f"outputs {took.light_mb:,.1f} MB\n\n"
        + _table(["step", "time s", "CPU s", "peak MB", "files"], rows)
        + f"\n\nlargest folders, entries: {folders}"
    )


def growth(first: Took, last: Took) -> str:
    """Growth of each step's figures, the p of (runs)^p, and the time of one more run."""
    more = last.runs - first.runs
    rows = []
    for before, after in zip(first.steps, last.steps, strict=True):
        powers = [
            _power(getattr(before, name), getattr(after, name), last.runs / first.runs)
            for name in ("wall_s", "cpu_s", "peak_mb", "files")
        ]
        rows.append([before.name, *powers, f"{(after.wall_s - before.wall_s) / more * 1e3:.1f}"])
    head = ["step", "time", "CPU", "peak", "files", "ms for one more run"]
    return f"from {first.runs:,} to {last.runs:,} runs\n\n{_table(head, rows)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _text(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def _power(before: float | None, after: float | None, times: float) -> str:
    if not before or not after or before < 0 or after < 0:
        return ""
    return f"{math.log(after / before) / math.log(times):.2f}"


def main() -> int:
    """Measure the sizes on the command line, the smallest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=int, nargs="+", help="numbers of runs, multiples of ten")
    parser.add_argument("--nodes", type=int, default=4, help="number of simulated nodes")
    options = parser.parse_args()
    if missing := missing_programs():
        print(f"missing: {', '.join(missing)} (Debian: slurm-wlm munge)", file=sys.stderr)
        return 1
    rows = []
    for runs in sorted(options.runs):
        with tempfile.TemporaryDirectory(prefix="bdpb-", dir="/tmp") as folder:
            rows.append(measure(runs, Path(folder), options.nodes))
        print(f"{told(rows[-1])}\n", flush=True)
    if len(rows) > 1:
        print(growth(rows[0], rows[-1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
