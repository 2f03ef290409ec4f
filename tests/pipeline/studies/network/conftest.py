"""Scenarios as users write them, planned and simulated by the real ns-2."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
from tests.forks import Forks

from bdpbench.contracts.paths import tcl_dir
from bdpbench.contracts.plan import PlannedRun
from bdpbench.studies.identity import Identities
from bdpbench.studies.load import read_study
from bdpbench.studies.runs import expand_tier
from bdpbench.trace import read_output
from bdpbench.trace.reader import read_facts

PROTOCOLS = {
    "Reno": {"label": "Reno", "colour": "#336699", "agent": "TCP/Reno", "sink": "TCPSink"},
    "Sack": {
        "label": "SACK",
        "colour": "#993366",
        "agent": "TCP/Sack1",
        "sink": "TCPSink/Sack1",
        "record": ["ssthresh_"],
    },
    "Cubic": {
        "label": "CUBIC",
        "colour": "#339966",
        "agent": "TCP/Linux",
        "sink": "TCPSink/Sack1",
        "linux": "cubic",
    },
}
PARAMETERS: dict[str, object] = {
    "bottleneck_mbps": 8,
    "bottleneck_delay_ms": 8,
    "access_mbps": 100,
    "access_delay_ms": 1,
    "receiver_delay_ms": 1,
    "buffer_pkts": 20,
    "packet_bytes": 1000,
    "protocol": "Sack",
    "trace": "packets",
}
"""A path of 20 ms; a packet of 1,040 bytes takes 1.04 ms of its bottleneck."""

FIELDS = {
    "event": pl.String, "time_s": pl.Float64, "start": pl.Int64, "end": pl.Int64,
    "kind": pl.String, "size": pl.Int64, "flags": pl.String, "flow": pl.Int64,
    "source": pl.String, "destination": pl.String, "seq": pl.Int64, "uid": pl.Int64,
}  # fmt: skip
"""Of a line of a packet trace."""

Scenario = Mapping[str, Any]
Planned = Callable[..., list[PlannedRun]]


class Event(NamedTuple):
    """A line in ns-2's trace of the queue of a bottleneck."""

    event: str
    time_s: float
    link: tuple[int, int]
    kind: str
    size: int
    flags: str
    flow: int
    seq: int
    uid: int


@dataclass(frozen=True)
class Simulated:
    """A run and its outputs."""

    run: PlannedRun
    folder: Path

    @functools.cached_property
    def events(self) -> list[Event]:
        """The events of the packet trace."""
        rows = pl.read_csv(
            self.folder / "pckts.trq",
            separator=" ",
            has_header=False,
            quote_char=None,
            schema=FIELDS,
        ).drop("source", "destination")
        return [
            Event(event, time_s, (start, end), *rest)
            for event, time_s, start, end, *rest in zip(*rows.to_dict().values(), strict=True)
        ]

    def data(self, event: str = "+", flow: int = 0, link: tuple[int, int] = (0, 1)) -> list[Event]:
        """Events of the segments of a flow, except its first packet, which is empty."""
        return [
            each
            for each in self.events
            if (each.event, each.flow, each.link) == (event, flow, link)
            and each.kind not in ("ack",)
            and each.size > 40
        ]

    @functools.cached_property
    def facts(self) -> dict[tuple[str, str], float]:
        """Subject and name → value, from the report."""
        return {(row[0], row[1]): row[2] for row in read_facts(self.folder / "report.txt").rows()}

    def rows(self, file: str) -> list[list[str]]:
        """The lines of a file, split into words."""
        return [line.split() for line in (self.folder / file).read_text().splitlines()]

    def longest_queue(self, file: str = "queue.out") -> int:
        """The largest queue length in the samples."""
        return max(int(row[1]) for row in self.rows(file))


def study_of(scenario: Scenario) -> dict[str, Any]:
    """A study of one scenario, whose keys may include keys of the study and of its topology."""
    given = {**scenario}
    parameters = {**PARAMETERS, **given.pop("parameters", {})}
    topology = {"parameters": {k: v for k, v in parameters.items() if v is not None}}
    if "bottlenecks" in given:
        topology["bottlenecks"] = given.pop("bottlenecks")
    top = {key: given.pop(key) for key in ("queues", "defaults") if key in given}
    cubic = given.pop("cubic", {})
    protocols = {
        key: {**each, **cubic} if key == "Cubic" else each for key, each in PROTOCOLS.items()
    } | given.pop("protocols", {})
    declared = {name: {"description": "x", "type": "number"} for name in given.pop("declared", [])}
    duration_s = given.pop("duration_s", 3)
    one = {
        "title": "One",
        "topology": "path",
        "flows": [{}],
        "tiers": {"quick": [{"duration_s": duration_s}]},
        **given,
    }
    return {
        "schema_version": 1,
        "key": "mine",
        "title": "Mine",
        "protocols": protocols,
        "topologies": {"path": topology},
        "scenarios": {"one": one},
        **({"parameters": declared} if declared else {}),
        **top,
    }


def write_study(folder: Path, scenario: Scenario) -> Path:
    """Write the study of a scenario into ``mine`` in a folder; returns its file."""
    path = folder / "mine" / "study.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(study_of(scenario), indent=1))
    return path


@pytest.fixture(scope="session")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """Plan the runs of a scenario that is written to a study.yaml."""
    identities = Identities()  # of scripts and agents, which do not change

    def plan(**scenario: Any) -> list[PlannedRun]:
        path = write_study(tmp_path_factory.mktemp("study"), scenario)
        return expand_tier(read_study(path), "quick", identities)

    return plan


def _with(argv: list[str], arguments: Mapping[str, str | None]) -> list[str]:
    """Arguments with some of them replaced, added or left out."""
    removed = tuple(f"-{name}" for name in arguments)
    pairs = [
        pair for pair in zip(argv[::2], argv[1::2], strict=True) if not pair[0].startswith(removed)
    ]
    pairs += [(f"-{name}", value) for name, value in arguments.items() if value is not None]
    return [word for pair in pairs for word in pair]


@pytest.fixture(scope="session")
def simulated(
    forks: Callable[[Path], Forks],
    ns_binary: Path,
    planned: Planned,
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[..., Simulated]:
    """Plan and simulate the only run of a scenario; each run is simulated only once.

    ``argv`` has other arguments of the script than the planned ones, and None leaves out all
    that begin with a name.
    """

    @functools.cache
    def simulate(text: str) -> Simulated:
        scenario = json.loads(text)
        arguments = scenario.pop("argv", {})
        (run,) = planned(**scenario)
        folder = tmp_path_factory.mktemp("run")
        (folder / "out").mkdir()
        command = [str(tcl_dir() / run["script"]), *_with(run["argv"], arguments)]
        done = forks(ns_binary).completed(command, folder)
        assert done.returncode == 0, done.stderr
        for output in run["outputs"]:
            read_output(
                folder / "out" / output["file"],
                output["table"],
                flow=output.get("flow"),
                link=output.get("link"),
                names=output.get("names", ()),
            ).collect()
        return Simulated(run, folder / "out")

    return lambda **scenario: simulate(json.dumps(scenario, sort_keys=True))


@pytest.fixture
def asked(
    forks: Callable[[Path], Forks], ns_binary: Path, planned: Planned, tmp_path: Path
) -> Callable[..., list[str]]:
    """Build the network of a scenario's only run and, instead of running it, query it in Tcl."""

    def ask(question: str, **scenario: Any) -> list[str]:
        (run,) = planned(**scenario)
        driver = tmp_path / "driver.tcl"
        driver.write_text(
            f"Simulator instproc run {{}} {{\nset ns $self\n{question}\nexit 0\n}}\n"
            f'source "{tcl_dir() / run["script"]}"\n'
        )
        (tmp_path / "out").mkdir(exist_ok=True)
        done = forks(ns_binary).completed([str(driver), *run["argv"]], tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return ask
