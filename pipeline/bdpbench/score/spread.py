"""``spread.yaml``: how far a value moves when something that the study leaves open is varied.

A printed value inside the spread of equally good runs or readings is neither a match nor a plain
miss, and the report says so. No verdict depends on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, RootModel, model_validator

from bdpbench.contracts.plan import Scalar
from bdpbench.contracts.scorecard import ScoredNumber, ScoredSpread
from bdpbench.contracts.yaml_files import Location, YamlFile
from bdpbench.score.lookup import Lookup, Measured
from bdpbench.score.origin import matches, unknown_pattern
from bdpbench.score.published import PublishedNumber
from bdpbench.studies.study import known_or_suggest

SPREAD_NAME = "spread.yaml"

_Text = Annotated[str, Field(min_length=1)]


class VariedRuns(BaseModel):
    """Runs of this study in which something is varied.

    Attributes:
        scenario, select: which runs; they have the metric and the subject of the number.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    scenario: _Text
    select: dict[str, Scalar] = Field(default_factory=dict)


class SpreadEntry(BaseModel):
    """What was varied for some numbers, and the resulting range.

    Attributes:
        of: ids of rows of ``published.csv``; ``*`` stands for any characters.
        varied: what was varied, in words.
        metric: another metric of the same run, or of ``runs``.
        runs: runs whose values, together with that of the number itself, are the spread.
        least, most: the ends of the spread, in the unit of the numbers, from runs that are not
            kept.
        source: where least and most come from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)

    of: list[_Text] = Field(min_length=1)
    varied: _Text
    metric: str | None = None
    runs: VariedRuns | None = None
    least: float | None = Field(None, allow_inf_nan=False)
    most: float | None = Field(None, allow_inf_nan=False)
    source: str = ""

    @model_validator(mode="after")
    def _has_one_spread(self) -> Self:
        given = self.least is not None and self.most is not None
        measured = self.metric is not None or self.runs is not None
        if given == measured or (self.least is None) != (self.most is None):
            raise ValueError("give either metric or runs or both, or least and most")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError("least is above most")
        if given != bool(self.source):
            raise ValueError("least and most need their source, and nothing else has one")
        return self


class _File(RootModel[list[SpreadEntry]]):
    pass


@dataclass(frozen=True)
class Spreads:
    """The entries of a study and the file that they come from; empty if it has no file."""

    entries: Sequence[SpreadEntry] = ()
    source: YamlFile | None = None

    def asked_of(self, number: PublishedNumber) -> Iterator[tuple[Location, PublishedNumber]]:
        """What the entries of a number ask for, as rows, each with its place in the file.

        The runs that an entry varies are any number; without such runs it is the number's own run.
        """
        for index, entry in enumerate(self.entries):
            if entry.least is None and _is_of(entry, number.id):
                yield (index, "runs" if entry.runs else "metric"), _asked(entry, number)

    def of(self, row: ScoredNumber, number: PublishedNumber, lookup: Lookup) -> list[ScoredSpread]:
        """The spreads of a scored row.

        Args:
            row: the scored row.
            number: the same row in ``published.csv``.
            lookup: the metrics of the runs.

        Raises:
            BdpbenchError: for a selector that is ambiguous, or that names what the study does not
                have.
        """
        own = row["measured"]
        if own is None:
            return []
        return [
            _scored(row, entry, ends)
            for entry in self.entries
            if _is_of(entry, row["id"])
            if len((ends := _ends(entry, own, number, lookup)).values) > 1
        ]


def _is_of(entry: SpreadEntry, row_id: str) -> bool:
    return any(matches(each, row_id) for each in entry.of)


def _asked(entry: SpreadEntry, number: PublishedNumber) -> PublishedNumber:
    """A number's row, asking for the metric and the runs of an entry."""
    asked = replace(number, metric=entry.metric or number.metric)
    if entry.runs is None:
        return asked
    select = {name: str(value) for name, value in entry.runs.select.items()}
    return replace(asked, scenario=entry.runs.scenario, select=select)


@dataclass(frozen=True)
class _Ends:
    """The values that a spread reaches over, and where they come from, in words."""

    values: Sequence[float]
    source: str = ""


def _ends(entry: SpreadEntry, own: float, number: PublishedNumber, lookup: Lookup) -> _Ends:
    if entry.least is not None and entry.most is not None:
        return _Ends([entry.least, entry.most], entry.source)
    where = f"{SPREAD_NAME}, {number.id}"
    asked = _asked(entry, number)
    if entry.runs is None:
        found = lookup.one(asked, where)
        return _Ends([own] if found is None or found.value is None else [own, found.value])
    rows = lookup.all(asked, where)
    return _Ends([own, *_known(rows)], _told(rows, entry.runs.scenario))


def _known(rows: Sequence[Measured]) -> list[float]:
    return [each.value for each in rows if each.value is not None]


def _told(rows: Sequence[Measured], scenario: str) -> str:
    """How many runs a spread is made of, and how many of them have no value."""
    without = len(rows) - len(_known(rows))
    runs = "1 run" if len(rows) == 1 else f"{len(rows)} runs"
    return f"{runs} of {scenario}" + (f", {without} of them without a value" if without else "")


def _scored(row: ScoredNumber, entry: SpreadEntry, ends: _Ends) -> ScoredSpread:
    least, most = min(ends.values), max(ends.values)
    return {
        "varied": entry.varied,
        "least": least,
        "most": most,
        "source": ends.source,
        "holds_print": row["lower"] <= most and least <= row["upper"],
    }


def load_spreads(path: Path, ids: Collection[str], metrics: Mapping[str, object]) -> Spreads:
    """Read and check ``spread.yaml``; a study without the file has none.

    Args:
        path: path of the file.
        ids: ids of the rows of ``published.csv``.
        metrics: ids of all metrics.

    Raises:
        BdpbenchError: naming file, line and key of what is wrong.
    """
    if not path.is_file():
        return Spreads()
    source = YamlFile(path)
    entries = source.validate(_File).root
    for index, entry in enumerate(entries):
        wrong = unknown_pattern(entry.of, ids)
        if wrong:
            raise source.error((index, "of"), wrong[0], hint=wrong[1])
        if entry.metric is not None:
            unknown = known_or_suggest(entry.metric, metrics, "metric")
            if unknown:
                raise source.error((index, "metric"), unknown[0], hint=unknown[1])
    return Spreads(tuple(entries), source)
