"""One of two results that are compared: an archive, or a folder of results."""

from __future__ import annotations

import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from bdpbench.archive.verify import verify_archive
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


class Key(NamedTuple):
    """What a value is of, whatever ns-2 or script it was measured with."""

    scenario: str
    run: str
    metric: str
    subject: str


@dataclass(frozen=True)
class Value:
    """A metric of a run; ``value`` is None where it was never reached."""

    value: float | None
    unit: str
    definition: str
    run_id: str


@dataclass(frozen=True)
class Bounds:
    """A published number that the metric is held to."""

    number: str
    lower: float
    upper: float


@dataclass(frozen=True)
class Side:
    """Results as they are compared.

    Attributes:
        name: the file or folder.
        values: every metric.
        bounds: those of the published numbers, as far as they were measured.
        parameters: (scenario, run) → parameters of the run.
        facts: name → version, build or checksum that results depend on.
        told: whether ``facts`` are all there are to tell; older results tell but a few.
    """

    name: str
    values: Mapping[Key, Value]
    bounds: Mapping[Key, Bounds]
    parameters: Mapping[tuple[str, str], Mapping[str, Any]]
    facts: Mapping[str, str]
    told: bool = True


def read_sides(first: Path, second: Path) -> tuple[Side, Side]:
    """Read two results; runs are told by their labels, or by their ids where one has no labels.

    Raises:
        BdpbenchError: when one is damaged, is no result, or both are of different studies.
    """
    sources = [_Source(first), _Source(second)]
    studies = {str(source.scorecard["study"]) for source in sources}
    if len(studies) > 1:
        raise BdpbenchError(
            f"are of different studies ({' and '.join(sorted(studies))})",
            where=f"{first} and {second}",
        )
    labelled = all(source.runs for source in sources)
    a, b = (source.side(labelled=labelled) for source in sources)
    return a, b


class _Source:
    """Files of an archive or of a folder."""

    def __init__(self, path: Path) -> None:
        self._path, self._read = _opened(path)
        self.scorecard = self._json("scorecard.json")
        if not isinstance(self.scorecard.get("study"), str):
            raise BdpbenchError("is no scorecard", where=f"{self._path}: scorecard.json")
        self._plan = self._optional("plan.json")
        self._provenance = self._optional("provenance.json")
        self.runs = self._labels()

    def side(self, *, labelled: bool) -> Side:
        """What is compared."""
        names = self._names() if labelled else {}
        frame = self._metrics()
        values = {
            self._key(row, names): Value(
                row["value"], row["unit"], row["definition"], row["run_id"]
            )
            for row in frame.iter_rows(named=True)
        }
        return Side(
            name=str(self._path),
            values=values,
            bounds=self._bounds(names),
            parameters={
                (scenario, names[scenario, run_id]): parameters
                for (scenario, run_id), (_, parameters) in self.runs.items()
            }
            if names
            else {},
            facts={name: each for name, each in self._facts().items() if each},
            told=self._provenance is not None,
        )

    @staticmethod
    def _key(row: Mapping[str, Any], names: Mapping[tuple[str, str], str]) -> Key:
        place = (row["scenario"], row["run_id"])
        return Key(row["scenario"], names.get(place, row["run_id"]), row["metric"], row["subject"])

    def _labels(self) -> dict[tuple[str, str], tuple[str, dict[str, Any]]]:
        """(Scenario, run id) → label and parameters; empty where the results do not tell."""
        kept = self._optional("runs.json")
        if kept is not None:
            return {
                (place["scenario"], run["run_id"]): (place["label"], run["parameters"])
                for run in kept["runs"]
                for place in run["places"]
            }
        planned = (self._plan or {}).get("runs", [])
        return {
            (run["scenario"], run["run_id"]): (run["label"], run["parameters"]) for run in planned
        }

    def _names(self) -> dict[tuple[str, str], str]:
        """(Scenario, run id) → label, with all parameters where two runs have the same."""
        counts = Counter((scenario, label) for (scenario, _), (label, _) in self.runs.items())
        return {
            (scenario, run_id): label
            if counts[scenario, label] == 1
            else f"{label} {json.dumps(parameters, sort_keys=True)}"
            for (scenario, run_id), (label, parameters) in self.runs.items()
        }

    def _bounds(self, names: Mapping[tuple[str, str], str]) -> dict[Key, Bounds]:
        return {
            self._key({**number, "run_id": run_id}, names): Bounds(
                number["id"], number["lower"], number["upper"]
            )
            for number in self.scorecard["numbers"]
            for run_id in number["run_ids"]
        }

    def _facts(self) -> dict[str, str]:
        kept, plan = self._provenance or {}, self._plan or {}
        version = kept.get("bdpbench", {})
        facts = {
            "study": self.scorecard["study"],
            "tier": self.scorecard["tier"],
            "bdpbench": version.get("version", ""),
            "commit": version.get("commit", ""),
            "ns-2 build": kept.get("ns2_build_id") or plan.get("ns2_build_id", ""),
        }
        for build in kept.get("builds", []):
            facts |= _facts_of_build(build)
        checksums = kept.get("configuration", {})
        return facts | {f"SHA-256 of {name}": each for name, each in checksums.items()}

    def _metrics(self) -> pl.DataFrame:
        for name, read in (("metrics.parquet", pl.read_parquet), ("metrics.csv", _read_csv)):
            content = self._read(name)
            if content is None:
                continue
            try:
                return read(io.BytesIO(content)).select(
                    pl.col(column).cast(kind) for column, kind in _COLUMNS.items()
                )
            except pl.exceptions.PolarsError as error:
                raise BdpbenchError(
                    f"is not a table of metrics ({error})", where=f"{self._path}: {name}"
                ) from None
        raise BdpbenchError("has neither metrics.parquet nor metrics.csv", where=str(self._path))

    def _json(self, name: str) -> dict[str, Any]:
        found = self._optional(name)
        if found is None:
            raise BdpbenchError(
                f"is no result: it has no {name}",
                where=str(self._path),
                hint="name an archive, a folder of reports/published/, or results/STUDY/TIER",
            )
        return found

    def _optional(self, name: str) -> dict[str, Any] | None:
        content = self._read(name)
        if content is None:
            return None
        try:
            found = json.loads(content)
        except ValueError as error:
            raise BdpbenchError(
                f"is not valid JSON ({error})", where=f"{self._path}: {name}"
            ) from None
        if not isinstance(found, dict) or found.get("schema_version") != 1:
            raise BdpbenchError(
                "is of a version that this bdpbench does not read", where=f"{self._path}: {name}"
            )
        return found


def _read_csv(stream: io.BytesIO) -> pl.DataFrame:
    return pl.read_csv(stream, schema_overrides=_COLUMNS)


def _facts_of_build(build: Mapping[str, Any]) -> dict[str, str]:
    facts = {
        "ns-2 compiler": str(build.get("compiler", "")),
        "ns-2 flags": str(build.get("cxx_flags", "")),
        "Tcl": str(build.get("tcl", "")),
    }
    for kind in ("patches", "laws", "agents", "speed"):
        for each in build.get(kind, []):
            facts[f"ns2/{each['name']}"] = each["sha256"]
    return facts


def _opened(path: Path) -> tuple[Path, Callable[[str], bytes | None]]:
    """Where results lie, and how a file of them is read; None for one that is not there."""
    if path.is_dir():
        folder = _tier_folder(path)
        return (
            folder,
            lambda name: (folder / name).read_bytes() if (folder / name).is_file() else None,
        )
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


def _tier_folder(path: Path) -> Path:
    """The folder itself, or the only tier in it."""
    if (path / "scorecard.json").is_file():
        return path
    tiers = sorted(each.parent for each in path.glob("*/scorecard.json"))
    if len(tiers) > 1:
        raise BdpbenchError("holds several results", where=str(path), hint=f"name one: {tiers[0]}")
    return tiers[0] if tiers else path
