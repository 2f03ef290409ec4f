"""Checks that ns-2's variants write the same bytes for every output of a tier.

Run `PYTHONPATH=pipeline:. python tests/benchmarks/identity.py [STUDY] [--tier TIER]` after
`./bdpbench ns2 build --variant stock`. Finished runs of the fast build are taken by the SHA-256 in
their `run.json`; missing ones are simulated into the results folder. Each is repeated with the
stock build in a separate folder, and runs that stream their trace with the fast build, too.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.benchmarks.calls import ROOT, Sample, run

from bdpbench.contracts.paths import results_dir, run_folder, runs_folder, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.contracts.runs import OUTPUT_FOLDER, read_run
from bdpbench.simulation.build import current_build_id, require_build
from bdpbench.studies.config import load_config
from bdpbench.studies.load import load_study
from bdpbench.studies.runs import expand_tier


def repeated(planned: PlannedRun, variant: str) -> Sample:
    """A run with any build."""
    binary = require_build(current_build_id(variant)).binary
    command = [str(binary), str(tcl_dir() / planned["script"]), *planned["argv"]]
    return run(command, below=OUTPUT_FOLDER)


def finished(planned: PlannedRun) -> Sample:
    """A finished run of the fast build; a streamed one is repeated, as its trace was not kept."""
    if planned["identity"]["streams"]:
        return repeated(planned, "fast")
    runs = runs_folder(results_dir(load_config().results))
    record = read_run(run_folder(runs, planned["run_id"]))
    assert record is not None, planned["run_id"]
    outputs = {Path(name).name: about["sha256"] for name, about in record["outputs"].items()}
    return Sample(record["cpu_s"] or float("nan"), 0, outputs)


def main() -> None:
    """Simulate what is missing, compare, and print the table; exit status 1 if anything differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", nargs="?", default="sharma2006")
    parser.add_argument("--tier", default="quick")
    given, jobs = parser.parse_args(), len(os.sched_getaffinity(0))
    command = [str(ROOT / "bdpbench"), "run", given.study, "--tier", given.tier]
    subprocess.run([*command, "--backend", "native"], check=True, stdout=sys.stderr)
    runs = expand_tier(load_study(given.study), given.tier)
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0] * 5)
    wrong = []
    with ThreadPoolExecutor(jobs) as pool:
        for planned, fast, stock in zip(
            runs,
            pool.map(finished, runs),
            pool.map(lambda each: repeated(each, "stock"), runs),
            strict=True,
        ):
            ours, theirs = fast.outputs, stock.outputs
            names = {*ours, *theirs}
            different = sorted(name for name in names if ours.get(name) != theirs.get(name))
            wrong += [f"NOT THE SAME: {planned['label']}: {', '.join(different)}"] * bool(different)
            row = (1, len(names), len(names) - len(different), stock.cpu_s, fast.cpu_s)
            for name in (planned["scenario"], "**all**"):
                sums[name] = [a + b for a, b in zip(sums[name], row, strict=True)]
    print("| scenario | runs | outputs | same | stock | fast |\n|---|---:|---:|---:|---:|---:|")
    for name, (count, outputs, same, *times) in sorted(
        sums.items(), key=lambda each: each[0][:2] == "**"
    ):
        cells = [
            name,
            *(f"{each:.0f}" for each in (count, outputs, same)),
            *(f"{each:.1f} s" for each in times),
        ]
        print("| " + " | ".join(cells) + " |")
    print(*wrong, sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
