"""One of two results to compare: an archive, or a folder of results."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NotRequired, TypeAlias, TypedDict, cast

import polars as pl

from bdpbench.archive.verify import verify_archive
from bdpbench.contracts.plan import PLAN_NAME, PLAN_VERSION, Parameters
from bdpbench.contracts.reports import (
    KEPT_RUNS_NAME,
    KEPT_VERSION,
    PROVENANCE_NAME,
    KeptRun,
    check_reported,
    read_kept_runs,
)
from bdpbench.contracts.runs import METRICS_NAME, BuildFacts
from bdpbench.contracts.scorecard import SCORECARD_NAME, SCORECARD_VERSION
from bdpbench.errors import BdpbenchError

_COLUMNS = {
    "run_id": pl.String,
    "scenario": pl.String,
    "metric": pl.String,
    "subject": pl.String,
    "value": pl.Float64,
    "unit": pl.String,
    "definition": pl.String,
}


_VERSIONS = {
    SCORECARD_NAME: SCORECARD_VERSION,
    PLAN_NAME: PLAN_VERSION,
    PROVENANCE_NAME: KEPT_VERSION,
}


class _Part(TypedDict):
    """The compared part of a run that has to show a printed number."""

    id: str
    scenario: str
    subject: str
    run_ids: list[str]


class _Number(TypedDict):
    """The compared part of a number of any scorecard."""

    id: str
    scenario: str
    metric: str
    subject: str
    lower: float
    upper: float
    run_ids: list[str]
    parts: NotRequired[list[_Part]]


class _Scorecard(TypedDict):
    """The compared part of any scorecard."""

    study: str
    tier: str
    numbers: list[_Number]


class _PlannedRun(TypedDict):
    """The compared part of a run of any plan."""

    run_id: str
    scenario: str
    label: str
    parameters: Parameters


class _Plan(TypedDict):
    """The compared part of any plan."""

    ns2_build_id: str
    runs: list[_PlannedRun]


class _Version(TypedDict):
    version: str
    commit: str


class _Provenance(TypedDict):
    """The compared part of any ``provenance.json``."""

    bdpbench: _Version
    ns2_build_id: str
    builds: list[BuildFacts]
    configuration: dict[str, str]


_Read: TypeAlias = Callable[[str], "bytes | None"]
"""Reads a file of a result by its name; None if there is no such file."""


class Key(NamedTuple):
    """Identity of a value, independent of the ns-2 build and the script of its run."""

    scenario: str
    run: str
    metric: str
    subject: str


@dataclass(frozen=True)
class Value:
    """A metric of a run; ``value`` is None if the metric was never reached."""

    value: float | None
    unit: str
    definition: str
    run_id: str


@dataclass(frozen=True)
class Bounds:
    """The bounds of a published number that the metric is compared with."""

    number: str
    lower: float
    upper: float


@dataclass(frozen=True)
class Side:
    """Results in the form in which they are compared.

    Attributes:
        name: the file or folder.
        values: values of every metric.
        bounds: bounds of the published numbers that were measured.
        parameters: (scenario, run) → parameters of the run.
        facts: name → version, build or checksum that results depend on.
        told: whether ``facts`` are complete; results without ``provenance.json`` have few.
    """

    name: str
    values: Mapping[Key, Value]
    bounds: Mapping[Key, Bounds]
    parameters: Mapping[tuple[str, str], Parameters]
    facts: Mapping[str, str]
    told: bool = True


def read_sides(first: Path, second: Path) -> tuple[Side, Side]:
    """Read two results; runs are matched by their labels, or by ids if one result has no labels.

    Raises:
        BdpbenchError: when one is damaged or not a result, or when they are of different studies.
    """
    sources = [_Source(first), _Source(second)]
    studies = {source.scorecard["study"] for source in sources}
    if len(studies) > 1:
        raise BdpbenchError(
            f"are of different studies ({' and '.join(sorted(studies))})",
            where=f"{first} and {second}",
        )
    labelled = all(source.runs for source in sources)
    a, b = (source.side(labelled=labelled) for source in sources)
    return a, b


def read_metrics_of(path: Path) -> pl.DataFrame:
    """All metrics of an archive or a folder of results, as in ``metrics.parquet``.

    Raises:
        BdpbenchError: when there is no such table, or it is damaged.
    """
    return _metrics(*_opened(path))


def read_runs_of(path: Path) -> list[KeptRun]:
    """All runs of an archive or a published folder.

    Raises:
        BdpbenchError: when there is no such table, or it is damaged.
    """
    found = _runs(*_opened(path))
    if found is None:
        raise BdpbenchError(
            f"has no {KEPT_RUNS_NAME}",
            where=str(path),
            hint="name an archive or a folder of reports/published/",
        )
    return found


def _runs(path: Path, read: _Read) -> list[KeptRun] | None:
    content = read(KEPT_RUNS_NAME)
    return None if content is None else read_kept_runs(content, path / KEPT_RUNS_NAME)


def _metrics(path: Path, read: _Read) -> pl.DataFrame:
    content = read(METRICS_NAME)
    if content is None:
        raise BdpbenchError(
            f"has no {METRICS_NAME}",
            where=str(path),
            hint="name an archive, a folder of reports/published/, or results/STUDY/TIER",
        )
    try:
        metrics = pl.read_parquet(io.BytesIO(content))
        return metrics.with_columns(pl.col(name).cast(kind) for name, kind in _COLUMNS.items())
    except pl.exceptions.PolarsError as error:
        raise BdpbenchError(
            f"is not a table of metrics ({error})", where=f"{path}: {METRICS_NAME}"
        ) from None


class _Source:
    """Files of an archive or of a folder, ."""

    def __init__(self, path: Path) -> None:
        self._path, self._read = _opened(path)
        scorecard = self._json(SCORECARD_NAME)
        if scorecard is None:
            raise BdpbenchError(
                f"is not a result: it has no {SCORECARD_NAME}",
                where=str(self._path),
                hint="name an archive, a folder of reports/published/, or results/STUDY/TIER",
            )
        if not isinstance(scorecard.get("study"), str):
            raise BdpbenchError("is not a scorecard", where=f"{self._path}: {SCORECARD_NAME}")
        self.scorecard = cast("_Scorecard", scorecard)
        self._plan = cast("_Plan | None", self._json(PLAN_NAME))
        self._provenance = cast("_Provenance | None", self._json(PROVENANCE_NAME))
        self._kept = _runs(self._path, self._read)
        with self._whole():
            self.runs = self._labels()

    def side(self, *, labelled: bool) -> Side:
        """What is compared; runs are identified by labels if ``labelled``, else by ids."""
        with self._whole():
            names = self._names() if labelled else {}
            facts = self._facts()
            bounds = self._bounds(names)
        columns = list(_COLUMNS)
        values = {
            _key(names, run_id, scenario, metric, subject): Value(value, unit, definition, run_id)
            for run_id, scenario, metric, subject, value, unit, definition in (
                _metrics(self._path, self._read).select(columns).iter_rows()
            )
        }
        return Side(
            name=str(self._path),
            values=values,
            bounds=bounds,
            parameters={
                (scenario, names[scenario, run_id]): parameters
                for (scenario, run_id), (_, parameters) in self.runs.items()
            }
            if names
            else {},
            facts={name: each for name, each in facts.items() if each},
            told=self._provenance is not None,
        )

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Report a file that lacks a key of its version like any other damaged file."""
        try:
            yield
        except (KeyError, TypeError, AttributeError) as error:
            raise BdpbenchError(
                f"is damaged: one of its JSON files is not as bdpbench writes it ({error!r})",
                where=str(self._path),
            ) from None

    def _labels(self) -> dict[tuple[str, str], tuple[str, Parameters]]:
        """(Scenario, run id) → label and parameters; empty if the results do not contain them."""
        if self._kept is not None:
            return {
                (place["scenario"], run["run_id"]): (place["label"], run["parameters"])
                for run in self._kept
                for place in run["places"]
            }
        return {
            (run["scenario"], run["run_id"]): (run["label"], run["parameters"])
            for run in (self._plan["runs"] if self._plan else [])
        }

    def _names(self) -> _Names:
        counts = Counter((scenario, label) for (scenario, _), (label, _) in self.runs.items())
        return {
            (scenario, run_id): label
            if counts[scenario, label] == 1
            else f"{label} {json.dumps(parameters, sort_keys=True)}"
            for (scenario, run_id), (label, parameters) in self.runs.items()
        }

    def _bounds(self, names: _Names) -> dict[Key, Bounds]:
        return {
            _key(names, run_id, row["scenario"], number["metric"], row["subject"]): Bounds(
                row["id"], number["lower"], number["upper"]
            )
            for number in self.scorecard["numbers"]
            for row in number.get("parts", [number])
            for run_id in row["run_ids"]
        }

    def _facts(self) -> dict[str, str]:
        facts = {"study": self.scorecard["study"], "tier": self.scorecard["tier"]}
        kept = self._provenance
        if kept is None:
            return facts | {"ns-2 build": self._plan["ns2_build_id"] if self._plan else ""}
        facts |= {
            "bdpbench": kept["bdpbench"]["version"],
            "commit": kept["bdpbench"]["commit"],
            "ns-2 build": kept["ns2_build_id"],
        }
        for build in kept["builds"]:
            facts |= _facts_of_build(build)
        checksums = kept["configuration"]
        return facts | {f"SHA-256 of {name}": each for name, each in checksums.items()}

    def _json(self, name: str) -> dict[str, object] | None:
        """Content of a file of a supported version; None if there is no such file."""
        content = self._read(name)
        if content is None:
            return None
        try:
            found = json.loads(content)
        except ValueError as error:
            raise BdpbenchError(
                f"is not valid JSON ({error})", where=f"{self._path}: {name}"
            ) from None
        if not isinstance(found, dict) or found.get("schema_version") != _VERSIONS[name]:
            raise BdpbenchError(
                "is of a version that this bdpbench does not read", where=f"{self._path}: {name}"
            )
        return found


_Names: TypeAlias = "Mapping[tuple[str, str], str]"
"""(Scenario, run id) → label, with all parameters if two runs have the same label."""


def _key(names: _Names, run_id: str, scenario: str, metric: str, subject: str) -> Key:
    return Key(scenario, names.get((scenario, run_id), run_id), metric, subject)


def _facts_of_build(build: BuildFacts) -> dict[str, str]:
    facts = {
        "ns-2 compiler": build.get("compiler", ""),
        "ns-2 flags": build.get("cxx_flags", ""),
        "Tcl": build.get("tcl", ""),
    }
    parts = [
        *build.get("patches", []),
        *build.get("laws", []),
        *build.get("agents", []),
        *build.get("speed", []),
        *build.get("training", []),
    ]
    return facts | {f"ns2/{each['name']}": each["sha256"] for each in parts}


def _opened(path: Path) -> tuple[Path, _Read]:
    """A reader of the files of a result, which returns None for a file that does not exist."""
    if path.is_dir():
        folder = _tier_folder(path)
        return folder, lambda name: _bytes_of(folder / name)
    found = verify_archive(path)
    if found.problems:
        raise BdpbenchError(
            f"is not whole: {found.problems[0]}",
            where=str(path),
            hint="`./bdpbench verify` names everything that is wrong",
        )

    def read(name: str) -> bytes | None:
        with zipfile.ZipFile(path) as archive:
            return archive.read(name) if name in archive.namelist() else None

    return path, read


def _bytes_of(path: Path) -> bytes | None:
    check_reported(path)
    return path.read_bytes() if path.is_file() else None


def _tier_folder(path: Path) -> Path:
    """The folder itself, or the only tier in it."""
    if (path / SCORECARD_NAME).is_file():
        return path
    tiers = sorted(each.parent for each in path.glob(f"*/{SCORECARD_NAME}"))
    if len(tiers) > 1:
        raise BdpbenchError("holds several results", where=str(path), hint=f"name one: {tiers[0]}")
    return tiers[0] if tiers else path
