"""Each example of the gallery is simulated and measured, and shows what its README says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.forks import Forks
from tests.make import measure_run

from bdpbench.contracts.paths import config_dir, repository_root, tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.metrics import definitions_for
from bdpbench.simulation.build import libraries_dir
from bdpbench.simulation.libraries import compile_folder
from bdpbench.studies.load import folders_of, load_study
from bdpbench.studies.runs import expand_tier
from bdpbench.trace import read_output

EXAMPLES = config_dir() / "studies" / "examples"
NAMES = sorted(path.parent.name for path in EXAMPLES.glob("*/study.yaml"))

Values = dict[tuple[str, str], float]
Measured = Callable[[str], dict[str, Values]]


def tables_of(run: PlannedRun, folder: Path) -> dict[str, pl.LazyFrame]:
    """The outputs of a run as tables."""
    frames: dict[str, list[pl.LazyFrame]] = defaultdict(list)
    for output in run["outputs"]:
        frames[output["table"]].append(
            read_output(
                folder / output["file"],
                output["table"],
                flow=output.get("flow"),
                link=output.get("link"),
                names=output.get("names", ()),
            )
        )
    return {table: pl.concat(each) for table, each in frames.items()}


# Starts a script as if in a process of its own with BDPBENCH_TCL and BDPBENCH_LIBRARIES in its
# environment.
START = """
set env(BDPBENCH_TCL) {{{tcl}}}
foreach protocol [lsort [glob -nocomplain -directory {{{protocols}}} *.tcl]] {{source $protocol}}
set argv [lassign $argv argv0]
source $argv0
"""


# Half of the duration is enough to show the effect of these examples.
HALVED = {
    "cubic_bbr",
    "lossy_path",
    "many_rtts",
    "own_metric",
    "packmime",
    "parking_lot",
    "red_droptail",
}

# What the checks below ask for. Further runs of a scenario are measured for this and its summary.
ASKED_FOR = {
    "asymmetry",
    "finished_objects",
    "goodput",
    "half_full_share",
    "jain_index",
    "link_loss_rate",
    "mean_queueing_delay",
    "mean_throughput",
    "p95_flow_completion_time",
}


def lasting(run: PlannedRun, duration_s: float) -> list[str]:
    """Arguments of a run, with another duration."""
    given = dict(zip(run["argv"][::2], run["argv"][1::2], strict=True))
    given["-duration_s"] = f"{duration_s:g}"
    return [word for pair in given.items() for word in pair]


@pytest.fixture(scope="module")
def measured(
    forks: Callable[[Path], Forks], ns_binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> Measured:
    """Simulate all runs of an example and measure them.

    Returns: scenario and label → metric and subject → value.
    """
    start = tmp_path_factory.mktemp("start") / "start.tcl"
    start.write_text(START.format(tcl=tcl_dir(), protocols=libraries_dir()))

    def simulate(name: str) -> dict[str, Values]:
        study = load_study(EXAMPLES / name)
        definitions = definitions_for(study.folder)
        for folder in folders_of(study):
            compile_folder(folder)
        measured_fully: set[str] = set()
        found = {}
        for run in expand_tier(study, "quick"):
            folder = tmp_path_factory.mktemp(name)
            (folder / "out").mkdir()
            duration_s = float(run["parameters"]["duration_s"]) / (2 if name in HALVED else 1)
            arguments = lasting(run, duration_s)
            command = [str(start), str(tcl_dir() / run["script"]), *arguments]
            done = forks(ns_binary).completed(command, folder)
            assert done.returncode == 0, done.stderr
            values = measure_run(
                {**run["parameters"], "duration_s": duration_s},
                tables_of(run, folder / "out"),
                run_id=run["run_id"],
                scenario=run["scenario"],
                definitions={
                    metric: each
                    for metric, each in definitions.items()
                    if run["scenario"] not in measured_fully
                    or metric in ASKED_FOR.union(study.scenarios[run["scenario"]].summary)
                },
            )
            measured_fully.add(run["scenario"])
            rows = values.select("metric", "subject", "value").rows()
            label = f"{run['scenario']} {run['label']}"
            found[label] = {(metric, subject): value for metric, subject, value in rows}
        return found

    return simulate


def of(runs: dict[str, Values], metric: str, subject: str = "run") -> list[float]:
    """Values of a metric for all runs, in the order of the study."""
    return [values[metric, subject] for values in runs.values()]


def check_parking_lot(runs: dict[str, Values]) -> None:
    for values in runs.values():
        goodputs = [values["goodput", f"flow:{flow}"] for flow in range(4)]
        assert goodputs[0] == min(goodputs)


def check_red_droptail(runs: dict[str, Values]) -> None:
    delays = of(runs, "mean_queueing_delay", "link:bottleneck")
    assert delays[0] > 1.5 * max(delays[1:])


def check_bufferbloat(runs: dict[str, Values]) -> None:
    tail, pie, codel, fq_codel = of(runs, "mean_queueing_delay", "link:bottleneck")
    assert tail > 200
    assert pie == pytest.approx(15, rel=0.2)
    assert fq_codel < codel < 6
    times_s = of(runs, "p95_flow_completion_time")
    assert times_s == sorted(times_s, reverse=True)
    assert min(of(runs, "utilization", "link:bottleneck")) > 99


def check_cubic_bbr(runs: dict[str, Values]) -> None:
    def waits(protocol: str, queue: str) -> float:
        run = runs[f"each {protocol}, {queue}, 30 s"]
        return run["mean_queueing_delay", "link:bottleneck"]

    def asymmetry(first: str, second: str, queue: str) -> float:
        return runs[f"together {first} and {second}, {queue}, 30 s"]["asymmetry", "run"]

    # The buffer of four BDP holds 160 ms, and two flows of BBR two of their BDP.
    assert 100 < waits("CUBIC", "DropTail") < 160
    assert waits("BBR", "DropTail") < 80
    for queue in ("RED", "PIE", "CoDel", "FQ-CoDel"):
        assert max(waits("CUBIC", queue), waits("BBR", queue)) < 25
    for queue in ("RED", "PIE", "CoDel"):
        assert asymmetry("CUBIC", "BBR", queue) < -0.2
        assert asymmetry("BBR", "CUBIC", queue) > 0.2
    assert abs(asymmetry("CUBIC", "BBR", "FQ-CoDel")) < 0.1
    assert abs(asymmetry("BBR", "CUBIC", "FQ-CoDel")) < 0.1


def check_ecn(runs: dict[str, Values]) -> None:
    off, on = of(runs, "link_loss_rate", "link:bottleneck")
    assert on < off / 2
    off, on = of(runs, "p95_flow_completion_time")
    assert on < off


def check_cubic_rtt(runs: dict[str, Values]) -> None:
    first, *_, last = (
        values["goodput", "flow:0"] / values["goodput", "flow:2"] for values in runs.values()
    )
    assert last > first


def check_lossy_path(runs: dict[str, Values]) -> None:
    goodputs = {label: values["goodput", "flow:0"] for label, values in runs.items()}
    for protocol in ("Reno", "SACK"):
        shares = [
            goodputs[f"single {protocol}, loss {p}, 30 s"]
            for p in ("0.001", "0.003", "0.01", "0.03")
        ]
        assert shares == sorted(shares, reverse=True)
        assert goodputs[f"rows {protocol}, loss 0.001, 30 s"] > shares[-1]


def check_web_background(runs: dict[str, Values]) -> None:
    few, many = of(runs, "finished_objects")
    assert many > 2 * few > 20
    few, many = of(runs, "goodput", "flow:0")
    assert many < few


def check_packmime(runs: dict[str, Values]) -> None:
    few, many = of(runs, "finished_objects")
    # 10 and 40 connections per second for 15 s, each with at least one object.
    assert few > 0.8 * 10 * 15
    assert 3 * few < many < 5 * few
    few, many = of(runs, "goodput", "flow:0")
    assert many < 0.9 * few


def check_rate_change(runs: dict[str, Values]) -> None:
    for values in runs.values():
        # The second half has 7.5 s at 10 Mbit/s and 15 s at 20 Mbit/s: 16.7 Mbit/s of wire bytes.
        assert 11 < values["goodput", "flow:0"] < 16.7


def check_many_rtts(runs: dict[str, Values]) -> None:
    assert len(set(of(runs, "jain_index"))) == 6
    for values in runs.values():
        assert values["goodput", "flow:0"] > values["goodput", "flow:9"]


def check_own_script(runs: dict[str, Values]) -> None:
    wide, narrow, narrowest = of(runs, "mean_throughput", "flow:0")
    # 100 kbit/s carry 312 ACKs of 40 bytes per second. Each acknowledges more than one packet,
    # since other ACKs were lost on the way back.
    assert narrowest < narrow < wide
    assert 100e3 / 320 * 8320 / 1e6 < narrowest < 0.8 * wide


def check_own_metric(runs: dict[str, Values]) -> None:
    shares = of(runs, "half_full_share", "link:bottleneck")
    assert len(shares) == 8
    assert all(0 < share < 100 for share in shares)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_shows_what_it_says(measured: Measured, name: str) -> None:
    runs = measured(name)
    study = load_study(EXAMPLES / name)
    metrics = {metric for values in runs.values() for metric, _ in values}
    for scenario in study.scenarios.values():
        assert set(scenario.summary) <= metrics
    check: Any = globals()[f"check_{name}"]
    check(runs)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_told_with_a_picture(name: str) -> None:
    text = (EXAMPLES / name / "README.md").read_text()
    assert f"./bdpbench run config/studies/examples/{name}" in text
    assert (repository_root() / "docs" / "examples" / f"{name}.png").is_file()
    assert f"examples/{name}/" in (repository_root() / "docs" / "scenarios.md").read_text()


def test_there_are_thirteen() -> None:
    assert len(NAMES) == 13
