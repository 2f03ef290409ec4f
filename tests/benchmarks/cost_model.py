"""How well the cost model predicts finished runs, and new constants fitted to them.

`PYTHONPATH=pipeline python tests/benchmarks/cost_model.py [RESULTS...] [--build ID]` prints
predicted / measured CPU time for each scenario of each study, and the constants to put into
`pipeline/bdpbench/studies/cost.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bdpbench.contracts.paths import results_dir, run_folders, runs_folder
from bdpbench.contracts.plan import Output, Parameters, PlannedRun
from bdpbench.contracts.runs import RUN_NAME
from bdpbench.simulation.build import current_build_id
from bdpbench.studies.config import load_config
from bdpbench.studies.cost import COSTS, Costs, Work, expected_work, utilization
from bdpbench.studies.flows import script_flows
from bdpbench.studies.load import load_study, study_keys
from bdpbench.studies.plan import tiers_of
from bdpbench.studies.runs import expand_tier
from bdpbench.studies.study import Study
from bdpbench.studies.values import Sender, Values

# The times of shorter runs say more about noise on the machine than about the model.
SHORTEST_S = 0.3
# If fewer packets pass between two samples, sampling takes most of the time.
SLOW = 15
ROUNDS = 10


@dataclass(frozen=True)
class Finished:
    """A finished run: what it belongs to, what it did, and its CPU time, s."""

    study: str
    scenario: str
    parameters: Parameters
    flows: Sequence[Sender]
    outputs: Sequence[Output]
    cpu_s: float
    report: str

    @property
    def work(self) -> Work:
        """The work that the model expects of it."""
        return expected_work(self.parameters, self.flows, self.outputs)

    @property
    def use(self) -> float:
        """The utilization that the model expects."""
        return utilization(self.parameters, self.flows)

    @property
    def passed(self) -> float:
        """Packets that passed the bottleneck, from the run's report or else from the model."""
        told = re.findall(r"^flow\.\d+\.total_bytes (\d+)", self.report, re.MULTILINE)
        wire_bytes = self.parameters["packet_bytes"] + 50  # headers
        return sum(map(int, told)) / wire_bytes if told else self.work.packets


def main() -> None:
    """Print how well the model predicts with its present constants and with the fitted ones."""
    options = _options()
    runs = [run for folder in options.results for run in finished_runs(folder, options.build)]
    if not runs:
        sys.exit(f"no finished run of build {options.build}; there are: {_builds(options.results)}")
    print(f"{len(runs)} runs of build {options.build}\n\nwith the constants of cost.py:")
    print_table(runs, COSTS)
    fitted = fit(runs)
    print("\nfitted:")
    print_table(runs, fitted)
    print_short_buffers(runs)
    print("\nto put into cost.py:")
    print(f"COSTS = {_source(fitted)}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = [results_dir(load_config().results)]
    parser.add_argument("results", nargs="*", type=Path, default=default)
    parser.add_argument("--build", default=current_build_id(), help="ns-2 build of the runs")
    return parser.parse_args()


def _records(results: Path) -> list[dict[str, Any]]:
    return [
        json.loads((folder / RUN_NAME).read_text())
        for folder in run_folders(runs_folder(results))
        if (folder / RUN_NAME).is_file()
    ]


def _builds(folders: Sequence[Path]) -> str:
    count = Counter(each["ns2"]["build_id"] for folder in folders for each in _records(folder))
    return ", ".join(f"{build} ({runs} runs)" for build, runs in count.most_common()) or "none"


def finished_runs(results: Path, build: str) -> list[Finished]:
    """Finished runs of one build with known CPU time, from all studies of the checkout."""
    planned = {
        run["run_id"]: (study, run)
        for study in map(load_study, study_keys())
        for tier in tiers_of(study)
        for run in expand_tier(study, tier)
    }
    return [
        _finished(*planned[each["run_id"]], each)
        for each in _records(results)
        if each["run_id"] in planned
        and each["ns2"]["build_id"] == build
        and (each["cpu_s"] or 0) >= SHORTEST_S
    ]


def _finished(study: Study, run: PlannedRun, record: Mapping[str, Any]) -> Finished:
    key, parameters = run["scenario"], run["parameters"]
    values = Values(study, key, parameters)
    flows = script_flows(values, values.class_defaults())
    cpu_s, report = record["cpu_s"], record["ns2_report"]
    return Finished(study.key, key, parameters, flows, run["outputs"], cpu_s, report)


# ---------------------------------------------------------------- fitting


def fit(runs: Sequence[Finished]) -> Costs:
    """Fit each constant as the median over the runs in which it matters, keeping the others fixed.

    The cost of a sample shows in runs with few packets, that of a trace line in traced runs, and
    that of a packet in all others. A few rounds are enough to converge. A constant that no run
    reveals is kept.
    """
    traced = [run for run in runs if run.work.lines]
    slow = [run for run in runs if run not in traced and run.passed < SLOW * run.work.samples]
    others = [run for run in runs if run not in slow and run not in traced]
    costs = COSTS
    for _ in range(ROUNDS):
        costs = replace(costs, packet_s=_median(others, costs, "packet_s", costs.packet_s))
        costs = replace(costs, sample_s=_median(slow, costs, "sample_s", costs.sample_s))
        costs = replace(costs, line_s=_median(traced, costs, "line_s", costs.line_s))
    return costs


def _median(runs: Sequence[Finished], costs: Costs, name: str, present: float) -> float:
    """The value of the constant ``name`` that explains the CPU time that the others do not.

    It is the median weighted by work: half of all work took less. Small runs thus count little. All
    studies weigh the same.
    """
    rest = replace(costs, **{name: 0.0})
    alone = replace(Costs(0.0, 0.0, 0.0, 0.0, 0.0), **{name: 1.0})
    of_study: dict[str, float] = defaultdict(float)
    found = []
    for run in runs:
        work = replace(run.work, packets=run.passed)
        weight = work.cpu_s(alone)
        of_study[run.study] += weight
        found.append(((run.cpu_s - work.cpu_s(rest)) / weight, run.study, weight))
    half = len(of_study) / 2
    for value, study, weight in sorted(found):
        half -= weight / of_study[study]
        if half <= 0:
            return max(value, 0.0)
    return present


def _source(costs: Costs) -> str:
    return (
        f"Costs(startup_s={costs.startup_s:.2g}, flow_s={costs.flow_s:.2g}, "
        f"packet_s={costs.packet_s:.3g}, "
        f"line_s={costs.line_s:.3g}, sample_s={costs.sample_s:.3g})"
    )


# ---------------------------------------------------------------- telling


def print_table(runs: Sequence[Finished], costs: Costs) -> None:
    """Predicted / measured by scenario and by study."""
    print(f"{'study':14s} {'scenario':26s} {'runs':>5s} {'median':>7s} {'10 %':>6s} {'90 %':>6s}")
    for study in dict.fromkeys(run.study for run in runs):
        of_study = [run for run in runs if run.study == study]
        for scenario in dict.fromkeys(run.scenario for run in of_study):
            of_scenario = [run for run in of_study if run.scenario == scenario]
            _print_row(study, scenario, of_scenario, costs)
        _print_row(study, "all", of_study, costs)


def _print_row(study: str, scenario: str, runs: Sequence[Finished], costs: Costs) -> None:
    ratios = sorted(run.work.cpu_s(costs) / run.cpu_s for run in runs)
    low, high = (ratios[round(q * (len(ratios) - 1))] for q in (0.1, 0.9))
    median = statistics.median(ratios)
    print(f"{study:14s} {scenario:26s} {len(runs):5d} {median:7.2f} {low:6.2f} {high:6.2f}")


def print_short_buffers(runs: Sequence[Finished]) -> None:
    """Utilization of single flows with buffers below 3 % of the BDP, measured and modelled."""
    print(
        "\nutilization in short buffers: measured, the model's, and the half-use share of the BDP"
    )
    for run in runs:
        given = run.parameters
        share = given.get("buffer_pkts", 0) / given.get("bdp_pkts", 1)
        told = re.search(r"^flow\.0\.utilization (\S+)", run.report, re.MULTILINE)
        if "protocol" in given and share < 0.03 and told:
            measured = float(told.group(1)) / 100
            half = share * (1 / measured - 1) ** 0.5
            print(
                f"  {given['protocol']:10s} buffer {share:.4f}: {measured:.3f} "
                f"{run.use:.3f} {half:.4f}"
            )


if __name__ == "__main__":
    main()
