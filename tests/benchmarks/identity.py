"""Checks that ns-2's variants write the same bytes for every output of a tier.

Run `PYTHONPATH=pipeline python tests/benchmarks/identity.py` after `./bdpbench ns2 build --variant
stock`. Finished runs of the fast build are taken by the SHA-256 in their `run.json`; missing ones
are simulated into the results folder. Each is repeated with the stock build in a separate
folder, and runs that stream their trace with the fast build, too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from bdpbench.contracts.files import sha256_of
from bdpbench.contracts.paths import results_dir, run_folder, runs_folder, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import OUTPUT_FOLDER
from bdpbench.simulation.build import current_build_id, require_build
from bdpbench.simulation.simulate import read_run
from bdpbench.studies.config import load_config
from bdpbench.studies.load import load_study
from bdpbench.studies.plan import Selection
from bdpbench.studies.runs import expand_tier

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Compared:
    """One run: number of outputs, those that differ, and both CPU times, s."""

    run: PlannedRun
    outputs: int
    different: tuple[str, ...]
    repeated_cpu_s: float
    fast_cpu_s: float


def main() -> None:
    """Simulate what is missing, compare, and print the table; exit status 1 if anything differs."""
    options = _options()
    runs = _runs(options)
    _simulate_missing(options)
    binary = require_build(current_build_id("stock")).binary
    with ThreadPoolExecutor(options.jobs) as pool:
        compared = list(pool.map(lambda run: _compare(run, binary), runs))
    print("\n".join(markdown(compared)))
    sys.exit(1 if any(each.different for each in compared) else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", nargs="?", default="sharma2006")
    parser.add_argument("--tier", default="quick")
    parser.add_argument("--scenario", dest="scenarios", action="append", default=[])
    parser.add_argument("-j", "--jobs", type=int, default=len(os.sched_getaffinity(0)))
    return parser.parse_args()


def _runs(options: argparse.Namespace) -> list[PlannedRun]:
    study = load_study(options.study)
    selection = Selection(scenarios=tuple(options.scenarios)).in_study(study)
    runs = expand_tier(study, options.tier)
    return [run for run in runs if selection.wants(run)]


def _run_folder(run: PlannedRun) -> Path:
    return run_folder(runs_folder(results_dir(load_config().results)), run["run_id"])


def _simulate_missing(options: argparse.Namespace) -> None:
    chosen = [part for name in options.scenarios for part in ("--scenario", name)]
    command = [str(ROOT / "bdpbench"), "run", options.study, "--tier", options.tier]
    command += ["--backend", "native", "--jobs", str(options.jobs), *chosen]
    subprocess.run(command, check=True, stdout=sys.stderr)


def _compare(run: PlannedRun, binary: Path) -> Compared:
    """Repeat a finished run with another build."""
    fast, fast_cpu_s = _finished(run)
    found, cpu_s = _repeat(run, binary)
    different = sorted(name for name in {*fast, *found} if fast.get(name) != found.get(name))
    print(f"{run['scenario']}: {run['label']}: {different or 'same'}", file=sys.stderr, flush=True)
    return Compared(run, len(found), tuple(different), cpu_s, fast_cpu_s)


def _finished(run: PlannedRun) -> tuple[dict[str, str], float]:
    """Output → SHA-256 of a finished run, and its CPU time, s.

    A trace that the run streamed was not kept, so such a run is repeated, too.
    """
    if run["identity"]["streams"]:
        return _repeat(run, require_build(current_build_id("fast")).binary)
    record = read_run(_run_folder(run))
    assert record is not None, run["run_id"]
    outputs = {Path(name).name: about["sha256"] for name, about in record["outputs"].items()}
    return outputs, record["cpu_s"] or float("nan")


def _repeat(run: PlannedRun, binary: Path) -> tuple[dict[str, str], float]:
    """Output → SHA-256 of a run with any build, and its CPU time, s."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / OUTPUT_FOLDER).mkdir()
        command = [str(binary), str(tcl_dir() / run["script"]), *run["argv"]]
        with (folder / "ns.log").open("w") as log:
            child = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
            _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{binary} failed on {run['label']}:\n{(folder / 'ns.log').read_text()}")
        found = {path.name: sha256_of(path) for path in (folder / OUTPUT_FOLDER).iterdir()}
    return found, used.ru_utime + used.ru_stime


def markdown(compared: Sequence[Compared]) -> list[str]:
    """A row for each scenario, the totals, and each run that differs."""
    scenarios = dict.fromkeys(each.run["scenario"] for each in compared)
    lines = [
        "| scenario | runs | outputs | same | stock | fast |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [_row(name, [e for e in compared if e.run["scenario"] == name]) for name in scenarios]
    lines.append(_row("**all**", compared))
    lines += [
        f"NOT THE SAME: {each.run['scenario']}: {each.run['label']}: {', '.join(each.different)}"
        for each in compared
        if each.different
    ]
    return lines


def _row(name: str, compared: Sequence[Compared]) -> str:
    outputs = sum(each.outputs for each in compared)
    same = outputs - sum(len(each.different) for each in compared)
    repeated, fast = (sum(getattr(e, f"{v}_cpu_s") for e in compared) for v in ("repeated", "fast"))
    return f"| {name} | {len(compared)} | {outputs} | {same} | {repeated:.1f} s | {fast:.1f} s |"


if __name__ == "__main__":
    main()
