"""Files that `publish` and `archive` store beside the report of a tier."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from bdpbench.contracts.plan import Parameters
from bdpbench.contracts.runs import (
    BuildFacts,
    Identity,
    Ns2Record,
    OutputFile,
    ScriptRecord,
    TakenOver,
)

REPORT_NAME = "report.html"
REPORT_FOLDER = "report-data"
"""The folder beside the report of very many runs."""

SUMMARY_NAME = "README.md"
KEPT_RUNS_NAME = "runs.json"
PROVENANCE_NAME = "provenance.json"
KEPT_VERSION = 2


class Place(TypedDict):
    """Where a run stands in a study: scenarios may share a run."""

    scenario: str
    label: str


class KeptRun(TypedDict):
    """A finished run without the facts of its build."""

    run_id: str
    places: list[Place]
    identity: Identity
    parameters: Parameters
    units: dict[str, str]
    script: ScriptRecord
    argv: list[str]
    ns2: Ns2Record
    started: str
    wall_s: float
    cpu_s: float | None
    max_rss_kib: int | None
    exit_status: int
    outputs: dict[str, OutputFile]
    ns2_report: str
    taken_over: NotRequired[TakenOver]


class KeptRuns(TypedDict):
    """Content of ``runs.json``."""

    schema_version: int
    runs: list[KeptRun]


class Version(TypedDict):
    """Version and commit of bdpbench; the commit is "" if git cannot tell."""

    version: str
    commit: str


class Addition(TypedDict):
    """Scenarios that were added to what had been published, and the bdpbench that measured them."""

    scenarios: list[str]
    measured_by: Version


class TakenOverCounts(TypedDict):
    """Runs simulated under an older id, by which builds, and which of them were simulated again.

    ``runs`` counts those that were not simulated again; ``sample`` has the ids of those that were,
    and gave equal bytes; ``ns2_build_ids`` are the builds that simulated the runs under their older
    ids.
    """

    runs: int
    sample: list[str]
    ns2_build_ids: list[str]


class RunCounts(TypedDict):
    """Numbers of runs of a tier; when the first simulation began and the last ended (ISO 8601)."""

    finished: int
    missing: int
    first_started: str
    last_ended: str
    taken_over: NotRequired[TakenOverCounts]


class Provenance(TypedDict):
    """Content of ``provenance.json``; ``configuration``: file → SHA-256.

    ``bdpbench`` judged the values and made the report; ``measured_by`` measured them, if that was a
    different one, except for the scenarios in ``added``.
    """

    schema_version: int
    study: str
    title: str
    tier: str
    bdpbench: Version
    measured_by: NotRequired[Version]
    added: NotRequired[list[Addition]]
    ns2_build_id: str
    builds: list[BuildFacts]
    configuration: dict[str, str]
    runs: RunCounts
