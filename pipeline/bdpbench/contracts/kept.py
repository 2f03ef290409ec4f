"""Files that `publish` and `archive` store beside the report of a tier."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict, cast

from bdpbench.contracts.plan import Parameters
from bdpbench.contracts.runs import (
    BuildFacts,
    Identity,
    Ns2Record,
    OutputFile,
    ScriptRecord,
    TakenOver,
)
from bdpbench.contracts.shapes import shaped
from bdpbench.errors import BdpbenchError

REPORT_NAME = "report.html"
REPORT_FOLDER = "report-data"
"""The folder beside the report of very many runs."""

SUMMARY_NAME = "README.md"
KEPT_RUNS_NAME = "runs.json"
PROVENANCE_NAME = "provenance.json"
KEPT_VERSION = 3


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


# ---------------------------------------------------------------- runs.json
#
# Runs of a scenario differ in a few arguments. So a run is written as what distinguishes it from an
# earlier run of the same form, which `like` names: of its arguments, parameters and lines of ns-2's
# report only those with other values, of everything else all but what both have.


def kept_runs_json(runs: Sequence[KeptRun]) -> bytes:
    """Content of ``runs.json``, one run a line; runs like an earlier one only as the difference."""
    first: dict[str, KeptRun] = {}
    lines = []
    for run in runs:
        like = first.setdefault(_form(run), run)
        written = dict(run) if like is run else _difference(run, like)
        lines.append(json.dumps(written, separators=(",", ":"), allow_nan=False))
    listed = ",\n".join(lines)
    return f'{{"schema_version":{KEPT_VERSION},"runs":[\n{listed}\n]}}\n'.encode()


def kept_runs_of(data: Mapping[str, object], path: Path) -> list[KeptRun]:
    """The runs of ``runs.json``, each whole.

    Raises:
        BdpbenchError: naming the file, and the run that is damaged.
    """
    whole: dict[str, KeptRun] = {}
    listed = data.get("runs")
    if not isinstance(listed, list):
        raise BdpbenchError("is damaged: runs is not a list", where=str(path))
    for index, run in enumerate(listed):
        where = Path(f"{path}: run {index}")
        try:
            like = whole[run["like"]] if "like" in run else None
            found = _whole(run, like) if like else run
        except (AttributeError, KeyError, TypeError, ValueError, IndexError):
            raise BdpbenchError(
                "is damaged: this is not how a run is written", where=str(where)
            ) from None
        checked = shaped(found, KeptRun, where, "a run of a published study")
        whole[checked["run_id"]] = checked
    return list(whole.values())


_ALWAYS = ("run_id", "places")


def _form(run: KeptRun) -> str:
    """What two runs must have in common for one to be written as a difference from the other."""
    keys = [list(_options(run["argv"])), list(run["parameters"]), list(run)]
    return json.dumps([run["script"], keys, run["ns2_report"].count("\n")])


def _options(argv: Sequence[str]) -> dict[str, str]:
    """Arguments of the form ``-key value`` by key; others by their position."""
    pairs = dict(zip(argv[::2], argv[1::2], strict=False))
    is_paired = len(pairs) * 2 == len(argv) and all(each.startswith("-") for each in pairs)
    return pairs if is_paired else {str(index): each for index, each in enumerate(argv)}


def _arguments(options: Mapping[str, str]) -> list[str]:
    is_paired = all(key.startswith("-") for key in options)
    pairs = ((key, value) if is_paired else (value,) for key, value in options.items())
    return [each for pair in pairs for each in pair]


def _lines(text: str) -> dict[str, str]:
    return {str(number): line for number, line in enumerate(text.split("\n"), 1)}


def _parts(run: KeptRun) -> dict[str, Mapping[str, Any]]:
    """The fields of which a difference has only some keys."""
    identity = run["identity"]
    return {
        "argv": _options(run["argv"]),
        "parameters": run["parameters"],
        "ns2_report": _lines(run["ns2_report"]),
        "identity": {
            **identity,
            "argv": None if identity["argv"] == run["argv"] else identity["argv"],
        },
    }


def _difference(run: KeptRun, like: KeptRun) -> dict[str, Any]:
    parts, of_like = _parts(run), _parts(like)
    changed = {
        name: {key: value for key, value in part.items() if value != of_like[name][key]}
        for name, part in parts.items()
    }
    others = {
        name: value
        for name, value in run.items()
        if name not in parts and (name in _ALWAYS or value != cast("Any", like)[name])
    }
    return {
        "like": like["run_id"],
        **others,
        **{name: each for name, each in changed.items() if each},
    }


def _whole(written: Mapping[str, Any], like: KeptRun) -> dict[str, Any]:
    parts = {name: _merged(part, written.get(name, {})) for name, part in _parts(like).items()}
    argv = _arguments(parts["argv"])
    own = parts["identity"]["argv"]
    return {
        **like,
        **{name: value for name, value in written.items() if name != "like"},
        "argv": argv,
        "parameters": parts["parameters"],
        "ns2_report": "\n".join(parts["ns2_report"].values()),
        "identity": {**parts["identity"], "argv": argv if own is None else own},
    }


def _merged(part: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    if not changed.keys() <= part.keys():
        raise KeyError(*changed.keys() - part.keys())
    return {**part, **changed}
