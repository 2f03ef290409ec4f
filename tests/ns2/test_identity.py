"""Every script of every study writes the same bytes with the variants stock and fast.

The compared runs cover each kind of agent, each script and each argument of a script that a quick
tier has, and briefly all other scripts. What an argument does to a script does not depend on what
an agent does to packets, so not all pairs of them are needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.make import arguments
from tests.planned_runs import agents_of
from tests.studies.conftest import StudyFiles

from bdpbench.contracts.paths import config_dir, tcl_dir
from bdpbench.contracts.plan import PlannedRun

SameOutputs = Callable[..., Path]

KEYS = sorted(path.parent.name for path in (config_dir() / "studies").glob("*/study.yaml"))
# Simulated time after the start of the first flow. Sixty round trips contain losses if the buffer
# is small or a packet is dropped (the 20,000th in the 35th); a slow path needs more time for that.
ROUND_TRIPS, PACKETS = 60, 10_000
# Packets beyond those of sixty round trips at 622 Mbit/s and 100 ms cost more than they reveal.
# Ten simultaneous flows fill a buffer of 10,000 packets before half as many have passed.
MOST_PACKETS, MOST_PACKETS_OF_MANY = 450_000, 175_000
# A traced second of a fast path writes tens of megabytes.
TRACED_ROUND_TRIPS, TRACED_PACKETS, MOST_TRACED_PACKETS = 12, 600, 100_000
TRACED = Path(__file__).parent / "traced.tcl"
TRACES = {"all.tr", "all.nam", "queues.tr", "agents.tr"}


@cache
def unnumbered(name: str) -> str:
    """The key of an argument, which is the same for each link and flow."""
    return re.sub(r"\.\d+\.", ".", name)


def kinds_of(run: PlannedRun) -> set[tuple[str, ...]]:
    """The agent of each flow with its law, and each argument of its script, whatever its value."""
    names = {(run["script"], unnumbered(name)) for name in run["argv"][::2]}
    return agents_of(run) | names


def one_of_each_kind(runs: list[PlannedRun]) -> list[PlannedRun]:
    """Runs that cover all kinds of agents and all arguments, preferring those that are cheap."""
    found, seen = [], set[tuple[str, ...]]()
    for run in sorted(runs, key=lambda run: run["estimated_cpu_s"] / seconds(run)):
        if not (kinds := kinds_of(run)) <= seen:
            seen |= kinds
            found.append(run)
    return found


def seconds(run: PlannedRun) -> float:
    return float(run["parameters"]["duration_s"])


def command(run: PlannedRun, round_trips: int, packets: int, most_packets: int) -> list[str]:
    """The script of a run with its arguments, ended after so many round trips or packets.

    The longer of the two counts, but ``most_packets`` end the run in any case.
    """
    given, parameters = arguments(run), run["parameters"]
    starts_s = {name: float(each) for name, each in given.items() if name.endswith(".start_s")}
    first_s = min(starts_s.values(), default=0)
    rtt_s = float(parameters["rtt_ms"]) / 1000
    packet_s = 8e-6 * float(parameters["packet_bytes"]) / float(parameters["bottleneck_mbps"])
    enough_s = min(max(round_trips * rtt_s, packets * packet_s), most_packets * packet_s)
    # Move later starts to the middle.
    given |= {
        name: f"{min(start_s, first_s + enough_s / 2):g}" for name, start_s in starts_s.items()
    }
    # Move random starts into the first quarter.
    given |= {
        name: f"{min(float(within_s), enough_s / 4):g}"
        for name, within_s in given.items()
        if name.endswith(".within_s")
    }
    end_s = min(seconds(run), first_s + enough_s)
    given |= {"-duration_s": f"{end_s:g}", "-datadir": "."}
    pairs = (word for pair in given.items() for word in pair)
    return [str(tcl_dir() / run["script"]), *pairs]


@pytest.fixture(scope="module", params=KEYS)
def runs(request: pytest.FixtureRequest) -> list[PlannedRun]:
    """Runs of each kind in a study's quick tier, and one of each script that is not in it."""
    study = StudyFiles(request.param)
    found = one_of_each_kind(study.planned("quick"))
    scripts = {scenario.script for scenario in study.study.scenarios.values()}
    for tier in study.tiers:
        if left := scripts - {each["script"] for each in found}:
            others = [run for run in study.planned(tier) if run["script"] in left]
            kinds = {run["script"]: run for run in reversed(one_of_each_kind(others))}
            found += kinds.values()
    assert {run["script"] for run in found} == scripts
    return found


def test_every_output_of_a_run_is_the_same(
    runs: list[PlannedRun], same_outputs: SameOutputs
) -> None:
    for number, run in enumerate(runs):
        few = sum(name.endswith(".agent") for name in arguments(run)) <= 2
        most = MOST_PACKETS if few else MOST_PACKETS_OF_MANY
        folder = same_outputs(command(run, ROUND_TRIPS, PACKETS, most), str(number))
        made = {path.name for path in folder.iterdir()}
        assert {each.get("stream", each["file"]) for each in run["outputs"]} <= made


def test_every_trace_of_a_script_is_the_same(
    runs: list[PlannedRun], same_outputs: SameOutputs
) -> None:
    cheapest = {run["script"]: run for run in reversed(runs)}
    for number, (script, run) in enumerate(cheapest.items()):
        limits = (TRACED_ROUND_TRIPS, TRACED_PACKETS, MOST_TRACED_PACKETS)
        folder = same_outputs([str(TRACED), *command(run, *limits)], str(number))
        sizes = {name: (folder / name).stat().st_size for name in TRACES}
        assert sum(sizes.values()) > 100_000, (script, sizes)
        assert sizes["agents.tr"] > 1_000, (script, sizes)
