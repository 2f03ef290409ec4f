"""``plan.json``: which runs a tier of a study has, and what the pages say about them.

A batch is a plan of the runs that one process handles. Its files are in
``<study>/<tier>/batches/``, which a call empties first: ``jobs.json`` is for the scheduler,
``<name>.json`` is the plan of a batch, ``<name>.log`` the output of its process, and
``<name>.told`` has a line for each run that begins or ends. Snakemake marks what is done by
``<name>.done``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NotRequired, cast, get_args

from typing_extensions import TypedDict

from bdpbench.contracts.documents import reader
from bdpbench.contracts.files import sha256_of, write_text_atomically
from bdpbench.contracts.paths import resolved

PLAN_VERSION = 2

AGENT, MODULE_AGENT, QUEUE = "TCP/Protocol", "TCP/Linux/Module", "Discipline"
"""ns-2's classes, without ``Agent/`` and ``Queue/``, of protocols, modules of Linux and queues that
are folders."""

Scalar = int | float | str
"""Value of a parameter: a number in the unit of its name, or a word."""

Parameters = dict[str, Scalar]
"""Parameters of one run: name → value."""


def format_value(value: Scalar) -> str:
    """A parameter as ns-2 gets it: integers without a decimal point, floats as Python prints them.

    >>> format_value(30.0), format_value(0.01), format_value("HS")
    ('30', '0.01', 'HS')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


class Output(TypedDict):
    """A file that a script writes under ``out/``, and the table that it becomes.

    ``stream`` names the packet trace that goes through a pipe and is reduced to this file;
    ``names`` are the variables that follow cwnd in a cwnd file, in order.
    """

    file: str
    table: str
    flow: NotRequired[int]
    link: NotRequired[str]
    stream: NotRequired[str]
    names: NotRequired[list[str]]


class Identity(TypedDict):
    """Everything that a run id is a hash of (``studies.identity`` describes each part).

    ``argv``: arguments of the script; ``tcl``: digest of the versions of the Tcl files that it
    sources; ``ns2``: digest of the behaviour of ns-2 towards this run's agents; ``streams``: names
    of the traces that ns-2 writes into pipes.
    """

    argv: list[str]
    tcl: str
    ns2: str
    streams: list[str]


@dataclass(frozen=True)
class Declared:
    """A class, variable or congestion control that ns-2 has to have.

    Attributes:
        kind: a sender's or receiver's class, a variable of a sender, a congestion control of
            TCP/Linux, a parameter of one, or a variable with a class default.
        ns2_class: without "Agent/", except for class defaults; for a parameter, its congestion
            control.
        name: of the variable, the congestion control or its parameter; "" for a class.
        location: where study.yaml names it.
    """

    kind: Literal["agent", "sink", "variable", "linux", "parameter", "default"]
    ns2_class: str
    name: str
    location: tuple[str | int | float, ...]


@dataclass(frozen=True)
class AgentUse:
    """A sender of a run, as far as it decides which code of ns-2 runs.

    Attributes:
        agent: ns-2's class without ``Agent/``, e.g. ``TCP/Sack1``.
        window_option: its ``windowOption_``; None for ns-2's default.
        linux: congestion control of ``TCP/Linux``; None for every other agent.
    """

    agent: str
    window_option: int | None = None
    linux: str | None = None


class PlannedRun(TypedDict):
    """One resolved set of parameters.

    ``run_id`` stands for the bytes that ns-2 writes (``studies.identity``); ``scenario``, ``label``
    and ``parameters`` are for readers and metrics. ``script`` is a path from ``tcl/``, also of a
    script in the study's folder. ``protocols`` lists the key of each protocol of the flows once;
    ``estimated_cpu_s`` is the estimated CPU time of the simulator, s. ``alike`` has further
    values of a parameter that give the same run, such as shares of the BDP that round to the same
    number of packets.
    """

    run_id: str
    scenario: str
    label: str
    script: str
    argv: list[str]
    parameters: Parameters
    outputs: list[Output]
    protocols: list[str]
    estimated_cpu_s: float
    identity: Identity
    alike: NotRequired[dict[str, list[Scalar]]]


def values_of(run: PlannedRun, name: str) -> list[Scalar]:
    """All values of a parameter that a run stands for; empty if the run does not have it."""
    if name not in run["parameters"]:
        return []
    return [run["parameters"][name], *run.get("alike", {}).get(name, [])]


class ProtocolText(TypedDict):
    """Label and colour (#rrggbb) of a protocol; its folder, from the checkout, if it has one."""

    label: str
    colour: str
    folder: NotRequired[str]


class ScenarioText(TypedDict):
    """The texts of a scenario; its description ends with that of its topology.

    ``longest_s`` is its longest duration in any tier, s; ``swept`` are the parameters that the
    study varies, from which others may be derived; ``question`` is what it is to answer, by
    the metrics of ``answers``;
    ``time_series`` is false if reports show only values of its runs; ``tradeoffs`` are pairs of
    metrics that they draw against each other.
    """

    title: str
    section: str
    figures: list[str]
    description: str
    summary: list[str]
    script: str
    longest_s: float
    swept: NotRequired[list[str]]
    question: NotRequired[str]
    answers: NotRequired[list[str]]
    time_series: NotRequired[bool]
    tradeoffs: NotRequired[list[list[str]]]


class ParameterText(TypedDict):
    """Description of a parameter.

    ``nominal``: why ns-2 does not get it, "" if it does; ``labels``: value → name, where values
    have names, such as those of queues.
    """

    unit: str
    description: str
    nominal: str
    labels: NotRequired[dict[str, str]]


class Plan(TypedDict):
    """A tier of a study, resolved: the document that every stage after planning reads.

    ``folder`` is that of the study, from the checkout, and ``queue_folders`` are those of its
    queues. ``evaluation_sha256`` covers everything that turns tables into a report. A batch is also
    a plan, of the runs that one process handles (see below).
    """

    schema_version: int
    study: str
    folder: str
    title: str
    tier: str
    ns2_build_id: str
    protocols: dict[str, ProtocolText]
    queue_folders: NotRequired[dict[str, str]]
    scenarios: dict[str, ScenarioText]
    parameters: dict[str, ParameterText]
    runs: list[PlannedRun]
    evaluation_sha256: str


def distinct(runs: Iterable[PlannedRun]) -> list[PlannedRun]:
    """Runs, each once, since scenarios may share a run: what is simulated, counted and paid for."""
    return list({run["run_id"]: run for run in runs}.values())


def study_folder(plan: Plan) -> Path:
    """The folder of a plan's study."""
    return resolved(plan["folder"])


read_plan = reader(Plan, "a plan of `bdpbench plan`", PLAN_VERSION)
"""Reads ``plan.json``, or the plan of a batch."""


def write_plan_document(path: Path, plan: Plan) -> None:
    """Write a plan, one line for each run.

    A file with the same content is left alone, so that results made from it do not look outdated.
    """
    if not path.is_file() or sha256_of(path) != plan_sha256(plan):
        write_text_atomically(path, _text(plan))


def plan_sha256(plan: Plan) -> str:
    """SHA-256 of the document that ``write_plan_document`` writes."""
    return hashlib.sha256(_text(plan).encode()).hexdigest()


def _text(plan: Plan) -> str:
    encode = json.JSONEncoder(allow_nan=False).encode
    keys = [f" {encode(key)}: {encode(value)},\n" for key, value in plan.items() if key != "runs"]
    runs = ",".join(f"\n  {encode(run)}" for run in plan["runs"])
    return "".join(["{\n", *keys, f' "runs": [{runs}\n ]\n}}\n'])


# ---------------------------------------------------------------- batches

BATCHES_FOLDER = "batches"
JOBS_NAME = "jobs.json"
JOBS_VERSION = 4
STOP_NAME = "stop"
"""A batch with a failed run creates this file, and batches that have not begun then do not
begin."""

RunEvent = Literal["begun", "finished", "failed"]
_EVENTS = get_args(RunEvent)


class Job(TypedDict):
    """What a scheduler has to know about a batch.

    ``cpu_s``: expected CPU time on this machine, s. ``runtime_min`` and ``mem_mb`` are requested
    from a cluster, with a margin.
    """

    runs: int
    cpu_s: float
    runtime_min: int
    mem_mb: int


class Jobs(TypedDict):
    """Content of ``jobs.json``: the batches of a call, longest first.

    ``folder``: the study's, from the checkout; ``planned``: number of runs in the plan, including
    finished ones; ``backend``: where ns-2 runs; ``keep_going``: whether others are simulated if a
    run fails.
    """

    schema_version: int
    study: str
    folder: str
    tier: str
    ns2_build_id: str
    planned: int
    backend: str
    keep_going: bool
    jobs: dict[str, Job]


def batch_path(folder: Path, number: int) -> Path:
    """Path of the plan of a batch, by its number, in the folder of batches."""
    return folder / f"{number:04d}.json"


read_jobs = reader(Jobs, "the jobs of `bdpbench plan`", JOBS_VERSION, JOBS_NAME)
"""Reads ``jobs.json`` of a folder of batches."""


def tell(told: Path, event: RunEvent, run_id: str) -> None:
    """Append a line to the progress file of a batch."""
    with told.open("a", encoding="ascii") as stream:
        stream.write(f"{event} {run_id}\n")


def events_in(text: str) -> Iterator[tuple[RunEvent, str]]:
    """The complete lines that a batch has reported: event and run id."""
    for line in text.splitlines(keepends=True):
        event, _, run_id = line.rstrip("\n").partition(" ")
        if line.endswith("\n") and event in _EVENTS:
            yield cast("RunEvent", event), run_id
